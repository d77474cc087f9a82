"""The railroad diagrams of a JSON Schema: the structure of its values, keyword by keyword.

A schema is drawn as it is written. Every keyword that is no annotation is in the picture: as tracks
where it is structure, else as a remark.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from railroad import Comment, Skip, Stack

from maskwright.grammar.schema.tree import Json
from maskwright.workbench.diagram.charts import visible
from maskwright.workbench.diagram.tracks import Track, box, chain, fork, repeated
from maskwright.workbench.pointer import value_at

FEW: Final = 24
"""Listed values up to which each is drawn."""
ROOT: Final = "#"
_TYPES: Final = ("object", "array", "string", "number", "integer", "boolean", "null")
_ANNOTATIONS: Final = frozenset(
    (
        *("$schema", "$id", "$comment", "$defs", "definitions", "title", "description", "default"),
        *("examples", "example", "deprecated", "readOnly", "writeOnly", "$anchor"),
        *("contentEncoding", "contentMediaType", "contentSchema"),
    )
)
_DRAWN: Final = frozenset(
    (
        *("type", "enum", "const", "$ref", "allOf", "anyOf", "oneOf", "not", "if", "then", "else"),
        *("properties", "required", "patternProperties", "additionalProperties"),
        *("prefixItems", "items", "minItems", "maxItems"),
    )
)
_TEXTUAL: Final = ("minLength", "maxLength", "pattern", "format")
_NUMERIC: Final = ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf")
_SIGNS: Final = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}


def schema_tracks(schema: Json) -> dict[str, Track]:
    """A diagram for the root, `#`, and one for each schema within the document that is referred to,
    by the pointer of the reference."""
    return {reference: _track(resolved(schema, reference)) for reference in references(schema)}


def references(schema: Json) -> dict[str, list[str]]:
    """The references to which the root leads, itself first, each with those that stand in what it
    refers to."""
    found: dict[str, list[str]] = {}
    waiting = [ROOT]
    for reference in waiting:
        inner = _references_in(resolved(schema, reference))
        found[reference] = [each for each in inner if resolved(schema, each) is not None]
        waiting += [each for each in dict.fromkeys(found[reference]) if each not in waiting]
    return found


def _references_in(schema: Any) -> Iterator[str]:
    """The references to schemas within the document, in the order in which they stand; those in
    definitions only where something leads there."""
    if isinstance(schema, list):
        for each in schema:
            yield from _references_in(each)
    if isinstance(schema, dict):
        reference = schema.get("$ref")
        if isinstance(reference, str) and reference.startswith(ROOT):
            yield reference
        for keyword, value in schema.items():
            if keyword not in ("$defs", "definitions", "enum", "const", "default", "examples"):
                yield from _references_in(value)


def resolved(schema: Any, reference: str) -> Any:
    """The schema at a reference within the document; None if there is none."""
    return value_at(schema, reference.removeprefix(ROOT))


def _track(schema: Any) -> Track:
    if schema is False:
        return box("no value", "note")
    if not isinstance(schema, dict):
        return box("any value", "set")
    parts: list[Track] = []
    reference = schema.get("$ref")
    if isinstance(reference, str):
        parts.append(box(visible(reference), "name", reference))
    if "const" in schema:
        parts.append(_value(schema["const"]))
    elif "enum" in schema:
        parts.append(_listed(schema["enum"]))
    elif types := _types(schema):
        parts.append(fork([_of_type(kind, schema) for kind in types]))
    parts += _combinations(schema)
    parts += _remarks(schema)
    return chain(_joined(parts)) if parts else box("any value", "set")


def _joined(parts: list[Track]) -> list[Track]:
    """Demands that all hold for one value, with a remark between them; remarks stand alone."""
    demands = [part for part in parts if not (isinstance(part, Comment))]
    remarks = [part for part in parts if part not in demands]
    joined = [each for part in demands for each in (box("and also", "note"), part)]
    return [*joined[1:], *remarks]


def _types(schema: dict[str, Any]) -> list[str]:
    """The types to draw: those that are named, else the types that the keywords are about."""
    named = schema.get("type")
    if isinstance(named, str):
        return [named]
    if isinstance(named, list):
        return [str(each) for each in named]
    keywords = (
        ("object", ("properties", "patternProperties", "additionalProperties", "required")),
        ("array", ("prefixItems", "items")),
        ("string", _TEXTUAL),
        ("number", _NUMERIC),
    )
    return [kind for kind, some in keywords if any(keyword in schema for keyword in some)]


def _of_type(kind: str, schema: dict[str, Any]) -> Track:
    match kind:
        case "object":
            return _object(schema)
        case "array":
            return _array(schema)
        case "string":
            return box(" ".join(("string", *_string_bounds(schema))), "set")
        case "number" | "integer":
            return box(" ".join((kind, *_number_bounds(schema))), "set")
        case "boolean":
            return fork([_value(True), _value(False)])
        case "null":
            return _value(None)
        case _:
            return box(visible(kind), "set")


def _object(schema: dict[str, Any]) -> Track:
    required = schema.get("required", [])
    properties = schema.get("properties", {})
    rows: list[Track] = [box("{", "text")]
    for name, value in properties.items():
        member = _member(box(visible(json.dumps(name, ensure_ascii=False)), "text"), value)
        rows.append(member if name in required else fork([Skip(), member]))
    rows += [
        _member(box(visible(json.dumps(name, ensure_ascii=False)), "text"), True)
        for name in required
        if name not in properties
    ]
    for pattern, value in schema.get("patternProperties", {}).items():
        named = box(f"name like /{visible(pattern)}/", "set")
        rows.append(repeated(_member(named, value), 0, None))
    others = schema.get("additionalProperties", True)
    if others is not False:
        rows.append(repeated(_member(box("other name", "set"), others), 0, None))
    rows.append(box("}", "text"))
    return Stack(*rows)


def _member(name: Track, value: Any) -> Track:
    return chain([name, box(":", "text"), _track(value)])


def _array(schema: dict[str, Any]) -> Track:
    prefix = schema.get("prefixItems", [])
    items = schema.get("items", True)
    least, most = schema.get("minItems", 0), schema.get("maxItems")
    parts = [each for item in prefix for each in (box(",", "text"), _track(item))][1:]
    if items is not False:
        few = max(0, least - len(prefix))
        many = None if most is None else max(0, most - len(prefix))
        comma, item = box(",", "text"), _track(items)
        if prefix:
            parts.append(repeated(chain([comma, item]), few, many))
        else:
            parts.append(repeated(item, few, many, comma))
    return chain([box("[", "text"), *parts, box("]", "text")])


def _combinations(schema: dict[str, Any]) -> Iterator[Track]:
    for keyword in ("anyOf", "oneOf"):
        if isinstance(schema.get(keyword), list):
            yield fork([_track(option) for option in schema[keyword]])
    if isinstance(schema.get("allOf"), list):
        yield from (_track(part) for part in schema["allOf"])
    if "not" in schema:
        yield chain([box("not", "note"), _track(schema["not"])])
    if "if" in schema:
        yes = chain([box("if", "note"), _track(schema["if"]), box("then", "note")])
        yield fork(
            [
                chain([yes, _track(schema.get("then", True))]),
                chain([box("else", "note"), _track(schema.get("else", True))]),
            ]
        )


def _remarks(schema: dict[str, Any]) -> Iterator[Track]:
    """The keywords that are neither drawn as tracks nor in a box of their type."""
    shown = {*_TEXTUAL, *_NUMERIC} if _types(schema) else set[str]()
    for keyword, value in schema.items():
        if keyword not in _ANNOTATIONS | _DRAWN | shown:
            written = json.dumps(value, ensure_ascii=False)
            yield box(visible(f"{keyword}: {written}"), "note")


def _string_bounds(schema: dict[str, Any]) -> Iterator[str]:
    least, most = schema.get("minLength", 0), schema.get("maxLength")
    if least or most is not None:
        yield f"of {least} {'or more' if most is None else f'to {most}'} characters"
    if "pattern" in schema:
        yield f"like /{visible(str(schema['pattern']))}/"
    if "format" in schema:
        yield f"in format {visible(str(schema['format']))}"


def _number_bounds(schema: dict[str, Any]) -> Iterator[str]:
    for keyword, sign in _SIGNS.items():
        if keyword in schema:
            yield f"{sign} {schema[keyword]}"
    if "multipleOf" in schema:
        yield f"multiple of {schema['multipleOf']}"


def _listed(values: list[Any]) -> Track:
    options: list[Track] = [_value(value) for value in values[:FEW]]
    if len(values) > FEW:
        options.append(box(f"… {len(values) - FEW:,} more", "note"))
    return fork(options)


def _value(value: Any) -> Track:
    return box(visible(json.dumps(value, ensure_ascii=False)), "text")
