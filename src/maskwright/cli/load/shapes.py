"""The shapes that load asks for, and whether answers have them: a check that needs no grammar, so
that it is independent of what generated the answers."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

ShapeName: TypeAlias = Literal["none", "schema", "regex"]


@dataclass(frozen=True, slots=True)
class AskedShape:
    """The `response_format` of a request (None for free text) and the check of its answer."""

    response_format: dict[str, object] | None
    holds: Callable[[str], bool]


FIELDS: dict[str, type] = {"name": str, "age": int, "member": bool}

SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 20},
        "age": {"type": "integer", "minimum": 0, "maximum": 120},
        "member": {"type": "boolean"},
    },
    "required": list(FIELDS),
    "additionalProperties": False,
}

PATTERN = "[A-Z]{2}-[0-9]{4}(-[a-z]{3})?"


def _is_person(text: str) -> bool:
    try:
        value: object = json.loads(text)
    except ValueError:
        return False
    if not isinstance(value, dict):
        return False
    person = cast(dict[str, object], value)
    return (
        list(person) == list(FIELDS)
        and all(type(person[name]) is kind for name, kind in FIELDS.items())
        and len(cast(str, person["name"])) <= 20
        and 0 <= cast(int, person["age"]) <= 120
    )


SHAPES: dict[ShapeName, AskedShape] = {
    "none": AskedShape(None, lambda _: True),
    "schema": AskedShape(
        {"type": "json_schema", "json_schema": {"name": "person", "schema": SCHEMA}}, _is_person
    ),
    "regex": AskedShape(
        {"type": "regex", "regex": PATTERN}, lambda text: re.fullmatch(PATTERN, text) is not None
    ),
}
