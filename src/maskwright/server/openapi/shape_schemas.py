"""The fields that may contain a shape, which is the form that the answer is made to have."""

from __future__ import annotations

from typing import Final

from maskwright.grammar.dialects.detect import DIALECTS
from maskwright.server.json import Json
from maskwright.server.openapi.builders import (
    ANYTHING,
    Schemas,
    array,
    constant,
    either,
    flag,
    given,
    one_of,
    record,
    ref,
    text,
)

SCHEMA_OR_TEXT: Final[Json] = either(
    ref("JsonSchema"), text(contentMediaType="application/json"), about="A schema, or its JSON text"
)
_TAG: Final[Json] = either(
    record({}), text(contentMediaType="application/json"), about="A structural tag, or its JSON."
)
_SOME_TEXT: Final[Json] = text(minLength=1)
_SYNTAX: Final[Json] = one_of(("auto", *DIALECTS))
_GRAMMAR: Final[Json] = either(
    _SOME_TEXT,
    given({"definition": _SOME_TEXT}, {"syntax": _SYNTAX}, closed=True),
    about="A grammar in Lark, GBNF or EBNF, or an object that names its syntax as well.",
)


def shape_fields() -> Schemas:
    """Return the schema of each field that may contain a shape. A request has one shape."""
    pattern = text("The answer matches this regular expression.", minLength=1)
    return {
        "ebnf": _GRAMMAR,
        "grammar": _GRAMMAR,
        "guided_choice": array(text(), "The answer is one of the strings.", minItems=1),
        "guided_grammar": _GRAMMAR,
        "guided_json": SCHEMA_OR_TEXT,
        "guided_regex": pattern,
        "json_schema": SCHEMA_OR_TEXT,
        "regex": pattern,
        "response_format": ref("ResponseFormat"),
        "structural_tag": _TAG,
        "structured_outputs": ref("StructuredOutputs"),
    }


def shape_schemas() -> Schemas:
    return {
        "JsonSchema": {
            "type": ["object", "boolean"],
            "description": "A JSON Schema. It is enforced, or refused at a JSON Pointer.",
        },
        "ResponseFormat": _response_format(),
        "StructuredOutputs": _structured_outputs(),
    }


def _response_format() -> Json:
    name = text(pattern="^[a-zA-Z0-9_-]{1,64}$")
    named = {"name": name, "description": text(), "strict": flag("Without effect.")}
    inner = given({}, {**named, "schema": SCHEMA_OR_TEXT}, closed=True)

    def kind(value: str, required: Schemas, optional: Schemas) -> Json:
        return given({"type": constant(value), **required}, optional, closed=True)

    patterns = ("regex", "pattern", "value")
    tag: Schemas = {"type": constant("structural_tag")}
    return either(
        kind("text", {}, {}),
        kind("json_object", {}, {"schema": SCHEMA_OR_TEXT}),
        kind("json_schema", {"json_schema": inner}, {}),
        kind("json_schema", {"schema": SCHEMA_OR_TEXT}, named),
        *(kind("regex", {name: _SOME_TEXT}, {}) for name in patterns),
        kind("grammar", {"grammar": _SOME_TEXT}, {"syntax": _SYNTAX}),
        record({**tag, "format": ANYTHING}),
        record({**tag, "structures": ANYTHING, "triggers": ANYTHING}),
        about="The shape of the answer: any text, JSON, a pattern, a grammar or a structural tag.",
    )


def _structured_outputs() -> Json:
    shapes: Schemas = {
        "json": SCHEMA_OR_TEXT,
        "regex": _SOME_TEXT,
        "choice": array(text(), minItems=1),
        "grammar": _GRAMMAR,
        "json_object": constant(True),
        "structural_tag": _TAG,
    }
    options: Schemas = {
        "disable_additional_properties": flag("Objects are closed.", default=False),
        "disable_any_whitespace": flag("JSON has no whitespace.", default=False),
        "disable_fallback": flag("Without effect."),
    }
    kinds = (given({name: schema}, options, closed=True) for name, schema in shapes.items())
    return either(*kinds, about="vLLM's field: exactly one shape, and options of JSON.")
