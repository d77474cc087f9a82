from __future__ import annotations

from pathlib import Path

import pytest

from maskwright.cli.inputs import read_text
from maskwright.cli.shapes import read_schema
from maskwright.errors import InputError


def test_a_schema_is_a_file_or_the_argument_itself(tmp_path: Path) -> None:
    file = tmp_path / "schema.json"
    file.write_text('{"type": "object", "properties": {"z": {}, "a": {}}}')
    for argument in (str(file), file.read_text(), f"  {file.read_text()}"):
        schema = read_schema(argument)
        assert isinstance(schema, dict)
        assert list(schema) == ["type", "properties"]
    assert read_schema("true") is True


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"type": }', "1:10: not valid JSON"),
        ('{"a": ' * 100_000, "nested too deep"),
    ],
)
def test_a_schema_that_is_no_json(text: str, told: str, tmp_path: Path) -> None:
    file = tmp_path / "schema.json"
    file.write_text(text)
    for argument in (text, str(file)):
        with pytest.raises(InputError) as caught:
            read_schema(argument)
        assert told in caught.value.message
    assert str(file) in caught.value.message


def test_a_file_whose_json_is_no_schema(tmp_path: Path) -> None:
    file = tmp_path / "schema.json"
    file.write_text("[1]")
    with pytest.raises(InputError, match="a schema is"):
        read_schema(str(file))


def test_a_file_that_is_not_utf8(tmp_path: Path) -> None:
    file = tmp_path / "schema.json"
    file.write_bytes(b'{"const": "\xff"}')
    with pytest.raises(InputError, match=r"schema\.json: not UTF-8 \(byte 11\)"):
        read_schema(str(file))


def test_a_missing_file_is_named() -> None:
    with pytest.raises(InputError, match=r"missing\.json: No such file"):
        read_text("missing.json")
