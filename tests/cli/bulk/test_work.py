"""What `batch --schema` may be: every shape that is a JSON Schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from maskwright.cli.bulk.work import PromptTemplate, extraction_of
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


def test_fields_stand_in_their_places() -> None:
    template = PromptTemplate('{{ a }}: {"b": {{b}}} {c} {{a}}', system="S")
    assert template.messages({"a": "{{b}}", "b": {"x": ["ä"]}}) == [
        {"role": "system", "content": "S"},
        {"role": "user", "content": '{{b}}: {"b": {"x": ["ä"]}} {c} {{b}}'},
    ]


def test_without_a_template_the_usual_field_is_the_prompt() -> None:
    chat = [{"role": "user", "content": "x"}]
    assert PromptTemplate().messages({"text": "t", "messages": chat}) == chat
    assert PromptTemplate().messages({"text": "t", "prompt": "p"})[0] == {
        "role": "user",
        "content": "p",
    }
    assert PromptTemplate().messages({"text": "t"})[0] == {"role": "user", "content": "t"}


def test_a_field_that_is_missing_is_named() -> None:
    with pytest.raises(InputError, match="no field 'b'; it has a"):
        PromptTemplate("{{b}}").messages({"a": 1})
    with pytest.raises(InputError, match=r"no field 'lines' \(did you mean 'line'\?\); it has id"):
        PromptTemplate("{{lines}}").messages({"id": 1, "line": "x"})
    with pytest.raises(InputError, match=r"messages, prompt, text; it has none"):
        PromptTemplate().messages({})


def test_without_a_template_the_longest_field_is_proposed() -> None:
    fields: dict[str, object] = {"id": "1", "line": "Anna is 34.", "n": 10**20}
    with pytest.raises(InputError, match=r"--prompt-template .* such as '\{\{line\}\}'$"):
        PromptTemplate().messages(fields)
