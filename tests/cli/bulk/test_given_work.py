"""What `batch --schema` may be: every shape that is a JSON Schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from maskwright.cli.bulk.given_work import extraction_of
from maskwright.cli.bulk.prompt_template import PromptTemplate
from maskwright.errors import InputError

TOOLS = [{"name": "now", "input_schema": {"type": "object", "additionalProperties": False}}]


def schema_of(argument: str) -> Any:
    """The schema that requests get."""
    work = extraction_of(Path("x.jsonl"), "jsonl", PromptTemplate(None, None), argument, {}, [])
    return work.options["response_format"]["json_schema"]["schema"]  # type: ignore[index]


def test_a_python_type_a_part_of_a_file_and_a_list_of_tools_are_schemas(tmp_path: Path) -> None:
    file = tmp_path / "api.yaml"
    file.write_text("openapi: 3.1.0\ncomponents: {schemas: {Age: {type: integer}}}\n")
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps(TOOLS))
    call = {"name": "now", "arguments": {}}
    for argument, good, bad in (
        ("datetime:date", "2020-01-01", 5),
        (f"{file}#/components/schemas/Age", 3, "3"),
        (str(tools), call, {**call, "name": "then"}),
        ('{"type": "null"}', None, 1),
        ("sentiment", {"label": "mixed", "score": 0}, {}),
    ):
        validator = jsonschema.Draft202012Validator(schema_of(argument))
        assert validator.is_valid(good)
        assert not validator.is_valid(bad)


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("no_such_module:Name", "--schema: no_such_module can't be imported"),
        ("[1]", "--schema"),
        ("/no/such.json", "No such file"),
    ],
)
def test_what_is_no_schema_is_refused(tmp_path: Path, argument: str, message: str) -> None:
    if argument == "[1]":
        (tmp_path / "list.json").write_text(argument)
        argument = str(tmp_path / "list.json")
    with pytest.raises(InputError, match=message):
        schema_of(argument)
