"""Schemas that stand within a document: a part of an API's description, the tools of a list.

What is made here has every value of the document that it needs where the document has it, so that
JSON Pointers in messages lead to the place in the file.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any, Final, cast

from maskwright.errors import InputError
from maskwright.grammar.schema.drafts import READ_BY_NAME
from maskwright.grammar.schema.tree import Json
from maskwright.workbench.pointer import reference_tokens

_KEYWORDS: Final = (READ_BY_NAME | {"const"}) - {"$schema", "$defs", "definitions"}
"""Keywords that say which values there are, of which nothing is left where a part is chosen."""
_DATA: Final = ("const", "enum", "default", "examples")
"""Keywords whose settings are values, not schemas."""
_PARAMETERS: Final = ("parameters", "input_schema", "inputSchema")
"""Under which names APIs have the schema of a tool's arguments."""


def chosen_part(document: Json, pointer: str, name: str) -> Json:
    """The schema at a pointer: the document without its own keywords, and a reference. Raises
    InputError for a pointer that leads nowhere, with one that is like it, and for one that leads
    into a keyword."""
    if not isinstance(document, dict):
        raise InputError(f"{name}: only an object has parts", param="schema")
    here: Any = document
    for step in reference_tokens(pointer):
        if isinstance(here, dict) and step in here:
            here = cast(dict[str, Any], here)[step]
        elif isinstance(here, list) and step.isdigit() and int(step) < len(cast(list[Any], here)):
            here = cast(list[Any], here)[int(step)]
        else:
            near = get_close_matches(pointer, _pointers(document), n=1, cutoff=0.5)
            hint = f"; did you mean {name}#{near[0]}?" if near else ""
            raise InputError(f"{name} has nothing at #{pointer}{hint}", param="schema")
    first = reference_tokens(pointer)[0]
    if first in _KEYWORDS:
        raise InputError(
            f"{name}#{pointer} is within a keyword; only definitions can be chosen", param="schema"
        )
    others = {key: value for key, value in document.items() if key not in _KEYWORDS}
    return {**others, "$ref": f"#{pointer}"}


def _pointers(document: Mapping[str, Any]) -> Iterator[str]:
    """The pointers of schemas where documents usually have them."""
    components = document.get("components")
    places: list[tuple[str, Any]] = [
        ("/$defs", document.get("$defs")),
        ("/definitions", document.get("definitions")),
    ]
    if isinstance(components, dict):
        held = cast(dict[str, Any], components).get("schemas")
        places.append(("/components/schemas", held))
    for place, held in places:
        if isinstance(held, dict):
            yield from (f"{place}/{key}" for key in cast(dict[str, Any], held))


def call_schema(document: Json) -> Json | None:
    """The schema of a call of one of a list of tools, `{"name": …, "arguments": …}`; None for a
    document that is no list of tools, as OpenAI's, Anthropic's or the protocol MCP have them."""
    inside = isinstance(document, dict) and set(document) == {"tools"}
    tools: Any = cast(dict[str, Any], document)["tools"] if inside else document
    if not isinstance(tools, list) or not tools:
        return None
    calls: list[Json] = []
    held: list[Any] = []
    for number, tool in enumerate(cast(list[Any], tools)):
        pointer = f"{'/tools' if inside else ''}/{number}"
        if not isinstance(tool, dict):
            return None
        copy = cast(dict[str, Any], json.loads(json.dumps(tool)))
        function = copy
        if isinstance(copy.get("function"), dict):
            function, pointer = copy["function"], f"{pointer}/function"
        if not isinstance(function.get("name"), str):
            return None
        calls.append(_call(function, pointer))
        held.append(copy)
    rest: dict[str, Json] = {"tools": held} if inside else {str(i): t for i, t in enumerate(held)}
    return {**({"anyOf": calls} if len(calls) > 1 else cast(dict[str, Json], calls[0])), **rest}


def _moved(schema: Any, place: str) -> Any:
    """A schema that was a document of its own, with its references where it is a part at a
    pointer."""
    if isinstance(schema, list):
        return [_moved(each, place) for each in cast(list[Any], schema)]
    if not isinstance(schema, dict):
        return schema
    moved: dict[str, Any] = {}
    for key, value in cast(dict[str, Any], schema).items():
        if key == "$ref" and isinstance(value, str) and value.startswith("#"):
            moved[key] = f"#{place}{value[1:]}"
        elif key not in ("$id", "$schema"):
            moved[key] = value if key in _DATA else _moved(value, place)
    return moved


def _call(function: dict[str, Any], pointer: str) -> Json:
    """The schema of the calls of one tool, whose arguments are those of its schema at a pointer.
    References within that mean its own root."""
    name = next((each for each in _PARAMETERS if each in function), None)
    arguments: Json = {"type": "object", "properties": {}, "additionalProperties": False}
    if name is not None and isinstance(function[name], dict):
        place = f"{pointer}/{name}"
        function[name] = _moved(function[name], place)
        arguments = {"$ref": f"#{place}"}
    return {
        "type": "object",
        "properties": {"name": {"const": function["name"]}, "arguments": arguments},
        "required": ["name", "arguments"],
        "additionalProperties": False,
    }
