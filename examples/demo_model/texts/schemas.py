"""JSON Schemas in the ways that real clients write them."""

import random
from dataclasses import dataclass, field
from typing import TypeAlias

from examples.demo_model.texts.values import Json

Schema: TypeAlias = dict[str, Json]


@dataclass(slots=True)
class Style:
    """How one client writes schemas; ``definitions`` collects what it puts under ``$defs``."""

    kind: str
    described: bool
    closed: bool
    definitions: Schema = field(default_factory=dict)

    @classmethod
    def draw(cls, rng: random.Random, simple: bool) -> "Style":
        """A random style; a simple one has neither titles nor definitions."""
        kind = "minimal" if simple else rng.choice(("pydantic", "pydantic", "zod", "minimal"))
        return cls(kind, not simple and rng.random() < 0.12, rng.random() < 0.5)


@dataclass(frozen=True, slots=True)
class Property:
    """A property: key, schema of its value, whether it may be null, whether it may be missing."""

    key: str
    schema: Schema
    nullable: bool = False
    optional: bool = False


def title(key: str) -> str:
    """``start_date`` as pydantic titles it: ``Start Date``."""
    return key.replace("_", " ").title()


def type_name(key: str) -> str:
    """``start_date`` as a class name: ``StartDate``."""
    return title(key).replace(" ", "")


def _property(rng: random.Random, style: Style, prop: Property) -> Schema:
    inner: Schema = dict(prop.schema)
    if style.kind == "pydantic" and "enum" in inner and rng.random() < 0.4:
        name = type_name(prop.key)
        style.definitions[name] = {"enum": inner["enum"], "title": name, "type": "string"}
        inner = {"$ref": f"#/$defs/{name}"}
    if prop.nullable:
        if style.kind != "pydantic" and "enum" not in inner and "$ref" not in inner:
            inner["type"] = [inner["type"], "null"]
        else:
            inner = {"anyOf": [inner, {"type": "null"}]}
            if style.kind == "pydantic" and prop.optional:
                inner["default"] = None
    if style.described and "$ref" not in inner:
        inner["description"] = f"the {prop.key.replace('_', ' ')}"
    if style.kind == "pydantic" and "$ref" not in inner:
        if rng.random() < 0.5:
            return {**inner, "title": title(prop.key)}
        return {"title": title(prop.key), **inner}
    return inner


def object_schema(rng: random.Random, style: Style, name: str, props: list[Property]) -> Schema:
    """The schema of an object in the style, its properties in the order given."""
    properties: Schema = {p.key: _property(rng, style, p) for p in props}
    required: list[Json] = [p.key for p in props if not p.optional]
    closed: Schema = {"additionalProperties": False} if style.closed else {}
    match style.kind:
        case "pydantic":
            return {
                **closed,
                "properties": properties,
                "required": required,
                "title": type_name(name),
                "type": "object",
            }
        case "zod":
            return {
                "type": "object",
                "properties": properties,
                "required": required,
                "additionalProperties": False,
            }
        case _:
            listed: Schema = {"required": required}
            if len(required) == len(props) and rng.random() < 0.15:
                listed = {}
            return {"type": "object", "properties": properties, **listed, **closed}


def reference(style: Style, name: str, schema: Schema) -> Schema:
    """The schema itself, or for a pydantic style a reference to it under ``$defs``."""
    if style.kind != "pydantic":
        return schema
    style.definitions[type_name(name)] = schema
    return {"$ref": f"#/$defs/{type_name(name)}"}


def root(rng: random.Random, style: Style, schema: Schema) -> Schema:
    """The finished schema: definitions, and what a style writes at the root."""
    if style.definitions:
        return {"$defs": dict(style.definitions), **schema}
    if style.kind == "zod" and rng.random() < 0.3:
        return {**schema, "$schema": "http://json-schema.org/draft-07/schema#"}
    return schema
