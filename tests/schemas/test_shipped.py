"""The schemas that ship: what each accepts, by our matcher and by the package `jsonschema`."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from datetime import datetime
from itertools import product
from pathlib import Path
from typing import Any, get_args
from urllib.parse import urlsplit

import pytest
from jsonschema import Draft202012Validator, FormatChecker

from maskwright import Grammar, compile_json_schema
from maskwright.grammar.schema.options import PropertyOrder
from tests.matching import EVERY_BYTE, matches
from tests.schemas.examples import EXAMPLES, GONE, Examples

FOLDER = Path(__file__).parents[2] / "schemas"
SCHEMAS: dict[str, Any] = {
    path.stem: json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json"))
}
ORDERS: tuple[PropertyOrder, ...] = get_args(PropertyOrder)
FORMATS = FormatChecker(formats=["date", "email"])
OPEN = {("log_line", "/properties/fields"), ("function_call", "/properties/arguments")}
"""Objects with names of the writer's choice."""


@FORMATS.checks("date-time", raises=ValueError)
def is_moment(text: object) -> bool:
    """A date and time with an offset; `jsonschema` itself checks it only with further packages."""
    if not isinstance(text, str):
        return True
    moment = text.upper()  # RFC 3339 allows small letters
    return "T" in moment and datetime.fromisoformat(moment).tzinfo is not None


@FORMATS.checks("uri")
def is_uri(text: object) -> bool:
    return not isinstance(text, str) or bool(urlsplit(text).scheme)


def changed(examples: Examples) -> Iterator[tuple[str, Any]]:
    """Each change with what it makes of the first accepted instance."""
    for pointer, value in examples.refused:
        whole = copy.deepcopy(examples.accepted[0])
        *path, last = pointer.split("/")[1:]
        place = whole
        for step in path:
            place = place[int(step) if isinstance(place, list) else step]
        key = int(last) if isinstance(place, list) else last
        if value is GONE:
            del place[key]
        else:
            place[key] = value
        yield f"{pointer}: {'gone' if value is GONE else value!r}", whole


def backwards(value: Any) -> Any:
    """The same value with the properties of its objects in the opposite order."""
    if isinstance(value, dict):
        return {key: backwards(value[key]) for key in reversed(value)}
    return [backwards(item) for item in value] if isinstance(value, list) else value


def compiled(name: str, order: PropertyOrder) -> Grammar:
    return compile_json_schema(
        SCHEMAS[name], EVERY_BYTE, property_order=order, whitespace="flexible"
    )


def texts(value: Any) -> list[str]:
    return [json.dumps(value, ensure_ascii=False), json.dumps(value), json.dumps(value, indent=2)]


def test_there_is_a_row_for_each() -> None:
    assert set(SCHEMAS) == set(EXAMPLES)
    assert len(SCHEMAS) == 12
    for examples in EXAMPLES.values():
        assert len(examples.accepted) >= 2
        assert len(examples.refused) >= 6
    assert {path.name for path in FOLDER.iterdir()} == {f"{n}.json" for n in SCHEMAS} | {
        "README.md"
    }


@pytest.mark.parametrize("name", SCHEMAS)
def test_it_is_a_schema_that_describes_itself(name: str) -> None:
    schema = SCHEMAS[name]
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert list(schema)[:4] == ["$schema", "title", "description", "type"]
    assert schema["required"]
    assert all("title" in part for part in schema.get("$defs", {}).values())
    for pointer, part in objects(schema, ""):
        assert set(part.get("required", ())) <= set(part.get("properties", ()))
        assert (part.get("additionalProperties") is False) != ((name, pointer) in OPEN), pointer
    report = compiled(name, "schema").report
    assert report.warnings == ()
    kinds = {entry.keyword for entry in report.annotations}
    assert kinds <= {"$schema", "$defs", "title", "description"}, "everything else is enforced"


def objects(part: Any, pointer: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The places at which a schema speaks of objects."""
    if isinstance(part, dict):
        if part.get("type") == "object":
            yield pointer, part
        for key, value in part.items():
            yield from objects(value, f"{pointer}/{key}")
    elif isinstance(part, list):
        for number, value in enumerate(part):
            yield from objects(value, f"{pointer}/{number}")


@pytest.mark.parametrize(("name", "order"), [*product(SCHEMAS, ORDERS)])
def test_instances(name: str, order: PropertyOrder) -> None:
    grammar = compiled(name, order)
    validator = Draft202012Validator(SCHEMAS[name], format_checker=FORMATS)
    for value in EXAMPLES[name].accepted:
        assert list(validator.iter_errors(value)) == []
        assert [text for text in texts(value) if not matches(grammar, text)] == []
        turned = json.dumps(backwards(value))
        assert matches(grammar, turned) == (order == "any" or turned == json.dumps(value))
    for change, value in changed(EXAMPLES[name]):
        assert not validator.is_valid(value), change
        assert [text for text in texts(value) if matches(grammar, text)] == [], change
