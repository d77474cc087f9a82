"""The compiler of structural tags, in which free text and structure alternate."""

from __future__ import annotations

from maskwright.automaton.value.whitespace import WhitespaceName
from maskwright.errors import Construct
from maskwright.grammar.schema.options import (
    AdditionalProperties,
    Escapes,
    Integers,
    Numbers,
    PropertyOrder,
)
from maskwright.grammar.schema.tree import Json
from maskwright.grammar.tags.parse import parse_tag
from maskwright.limits import DEFAULT_LIMITS, Limits, Work
from maskwright.mask.compile.arguments import compiler
from maskwright.mask.compile.parts import START, Parts
from maskwright.mask.grammar import Grammar
from maskwright.vocab import Vocabulary


@compiler
def compile_structural_tag(
    tag: Json,
    vocab: Vocabulary,
    *,
    whitespace: WhitespaceName = "flexible",
    property_order: PropertyOrder = "schema",
    integers: Integers = "any",
    escapes: Escapes = "any",
    additional_properties: AdditionalProperties = "allow",
    numbers: Numbers = "any",
    limits: Limits | None = None,
) -> Grammar:
    """Compile a structural tag (a dict, or JSON text); docs/tags-and-tools.md lists the formats.

    `whitespace`, `property_order`, `integers`, `numbers`, `escapes` and `additional_properties`
    apply to JSON values, as in `compile_json_schema`. Raises `StructuralTagError` with the JSON
    Pointer of an error in the tag, and the errors of the schemas, patterns and grammars in it.
    """
    parts = Parts(
        vocab,
        whitespace,
        property_order,
        integers,
        escapes,
        additional_properties,
        numbers,
        limits or DEFAULT_LIMITS,
    )
    with Work(parts.limits, Construct("the structural tag")):
        parts.rules[START] = parts.tag(parse_tag(tag))
        return parts.compiled()
