"""JSON objects as the server writes them, and JSON Schemas of a few kinds, in one line each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias, cast

Json: TypeAlias = dict[str, object]
Schemas: TypeAlias = Mapping[str, Json]

ANYTHING: Final[Json] = {}
NOTHING: Final[Json] = {"type": "null"}
COUNT: Final[Json] = {"type": "integer", "minimum": 0}
FLAG: Final[Json] = {"type": "boolean"}
TEXT: Final[Json] = {"type": "string"}


def ref(name: str) -> Json:
    """Refer to a schema of the document by its name."""
    return {"$ref": f"#/components/schemas/{name}"}


def text(about: str = "", **more: object) -> Json:
    return _described({"type": "string", **more}, about)


def integer(low: int | None, high: int | None = None, about: str = "", **more: object) -> Json:
    """Describe an integer; a bound of None is none."""
    return _described({"type": "integer", **_bounds(low, high), **more}, about)


def number(low: float | None, high: float | None = None, about: str = "", **more: object) -> Json:
    """Describe a number; a bound of None is none."""
    return _described({"type": "number", **_bounds(low, high), **more}, about)


def one_of(values: Iterable[object], about: str = "", **more: object) -> Json:
    return _described({"enum": list(values), **more}, about)


def constant(value: object, about: str = "") -> Json:
    return _described({"const": value}, about)


def array(items: Json, about: str = "", **more: object) -> Json:
    return _described({"type": "array", "items": items, **more}, about)


def either(*schemas: Json, about: str = "") -> Json:
    return _described({"anyOf": list(schemas)}, about)


def nullable(schema: Json) -> Json:
    """Allow null too, which counts as an absent field, beside the choices of `anyOf` if there are
    some. A default that is no scalar is left out."""
    inner = {**schema}
    outer = {name: inner.pop(name) for name in ("description", "default") if name in inner}
    if not isinstance(outer.get("default"), bool | int | float | str):
        outer.pop("default", None)
    choices = cast(list[Json], inner.get("anyOf", [inner])) if len(inner) < 2 else [inner]
    if not inner or NOTHING in choices:
        return {**inner, **outer}
    return {"anyOf": [*choices, NOTHING], **outer}


def each(schema: Json, *names: str) -> Schemas:
    """Give fields one schema."""
    return dict.fromkeys(names, schema)


def record(required: Schemas, optional: Schemas | None = None, about: str = "") -> Json:
    """Describe an object of an answer."""
    schema: Json = {"type": "object", "properties": {**required, **(optional or {})}}
    if required:
        schema["required"] = list(required)
    return _described(schema, about)


def _bounds(low: float | None, high: float | None) -> Json:
    bounds = {"minimum": low, "maximum": high}
    return {name: bound for name, bound in bounds.items() if bound is not None}


def _described(schema: Json, about: str) -> Json:
    return {**schema, "description": about} if about else schema
