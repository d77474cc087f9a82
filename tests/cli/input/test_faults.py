from __future__ import annotations

import json
from pathlib import Path

import pytest

from maskwright.cli.input.faults import error_data
from maskwright.errors import InputError
from tests.cli.conftest import Run

BROKEN = [
    # file, its text, the place, the reason, what the caret stands under
    ("a.json", '{"type": "object",\n "properties": {"a": }}\n', "2:22", "not valid JSON", "}}"),
    ("a.json", '{"type":\n "strin"}', "1:2", "unknown type 'strin'", '"type":'),
    (
        "a.json",
        '{"type": "object", "required": ["x"],\n "additionalProperties": false}',
        "1:33",
        "no JSON value matches the schema: 'x' is required, but additionalProperties forbids it",
        '"x"],',
    ),
    ("a.gbnf", 'root ::= "a"\n  | b c\nc ::= "c"\n', "2:5", "b is not defined", "b c"),
    ("a.lark", 'start: "a\n', "1:8", "", '"a'),
    ("a.regex", "ab(c\n", "1:3", "a group is not closed", "(c"),
]


@pytest.mark.parametrize(("name", "text", "place", "reason", "under"), BROKEN)
@pytest.mark.parametrize("command", ["check", "sample"])
def test_an_error_has_file_line_column_and_caret(
    run: Run,
    tmp_path: Path,
    command: str,
    name: str,
    text: str,
    place: str,
    reason: str,
    under: str,
) -> None:
    file = tmp_path / name
    file.write_text(text)
    found = run(command, file)
    assert (found.returncode, found.stdout) == (2, "")
    first, excerpt, caret = found.stderr.splitlines()
    assert first.startswith(f"maskwright: {file}:{place}: {reason}")
    assert excerpt[caret.index("^") :] == under
    answer = json.loads(run(command, file, "--json").stdout)["error"]
    assert [answer["line"], answer["column"]] == [int(number) for number in place.split(":")]
    assert first.endswith(answer["message"])


def test_an_error_without_a_place_is_reported_as_json_too(run: Run) -> None:
    found = run("match", "nowhere.json", "--text", "1", "--json")
    assert found.returncode == 2
    answer = json.loads(found.stdout)["error"]
    assert found.stderr == f"maskwright: {answer['message']}\n"
    assert error_data(InputError("no", param="seed")) == {
        "error": {"message": "no", "code": "invalid_value", "param": "seed"}
    }


def test_the_pointer_of_a_schema_is_reported(run: Run) -> None:
    found = run("check", '{"properties": {"a": {"minLength": -1}}}', "--json")
    assert json.loads(found.stdout)["error"]["pointer"] == "/properties/a/minLength"
