"""The field `response_format`: what shape the answer takes.

`strict` never decides whether a schema is enforced (most clients that need the guarantee send
false, or nothing): it always is.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TypeAlias, cast

from maskwright.errors import InputError
from maskwright.server.fields import Fields, invalid, missing, shown

Schema: TypeAlias = dict[str, object] | bool

KINDS = ("text", "json_object", "json_schema")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True)
class FreeText:
    """No constraint."""


@dataclass(frozen=True, slots=True)
class JsonShape:
    """The whole answer is one instance of `schema`.

    `place` is the dotted path the schema came from. `shown` says whether the model is told of
    the schema: not for a bare json_object, which has none of its own.
    """

    schema: Schema
    place: str
    shown: bool = True

    def text(self) -> str:
        """Compact JSON with the properties in the client's order."""
        return json.dumps(self.schema, ensure_ascii=False, separators=(",", ":"))


ResponseFormat: TypeAlias = FreeText | JsonShape


def parse_response_format(body: Fields) -> ResponseFormat:
    """Absent means text. Raises InputError with the dotted path of the fault."""
    fields = body.object("response_format")
    if fields is None:
        return FreeText()
    match fields.string("type"):
        case None:
            raise missing(fields.at("type"))
        case "text":
            fields.only("type")
            return FreeText()
        case "json_object":
            fields.only("type", "schema")
            return _object(fields)
        case "json_schema":
            fields.only("type", "json_schema", "schema", "name", "description", "strict")
            return _schema(fields)
        case other:
            raise InputError(
                f"{fields.at('type')} {shown(other)} is not supported; use one of "
                f"{', '.join(map(repr, KINDS))}",
                param=fields.at("type"),
                code="unsupported_value",
            )


def _object(fields: Fields) -> JsonShape:
    if fields.has("schema"):
        return JsonShape(_read_schema(fields), fields.at("schema"))
    return JsonShape({"type": "object"}, fields.place, shown=False)


def _schema(fields: Fields) -> JsonShape:
    """`json_schema: {name, schema, strict}`, or the same fields one level up."""
    inner = fields.object("json_schema")
    if inner is None:
        if not fields.has("schema"):
            raise missing(fields.at("json_schema"))
        inner = fields
    else:
        fields.only("type", "json_schema")
        inner.only("name", "description", "schema", "strict")
    name = inner.string("name")
    if name is not None and not _NAME.fullmatch(name):
        raise invalid(inner.at("name"), "1 to 64 of a-z, A-Z, 0-9, '_' and '-'", name)
    inner.string("description")
    inner.boolean("strict")
    if not inner.has("schema"):
        return JsonShape(True, inner.place, shown=False)
    return JsonShape(_read_schema(inner), inner.at("schema"))


def _read_schema(fields: Fields) -> Schema:
    schema = fields.get("schema")
    if isinstance(schema, dict | bool):
        return cast(Schema, schema)
    raise invalid(fields.at("schema"), "a JSON Schema (an object, true or false)", schema)
