"""The order in which a schema names its properties, as someone who reads it sees them."""

from __future__ import annotations

from collections.abc import Iterable

from maskwright.grammar.schema.tree import AllOf, AnyOf, Assertion, If, OneOf, Properties, Schema


def name_order(schemas: Iterable[Schema]) -> dict[str, int]:
    """The place of each declared name: by first appearance in the document, depth first.

    A subschema about the same value (in `allOf`, `anyOf`, `$ref`, `if`, …) counts where it stands
    among the keywords of its schema, so that what is written first comes first.
    """
    places: dict[str, int] = {}
    seen: set[Schema] = set()
    stack: list[Schema | Assertion] = []
    stack += reversed([*schemas])
    while stack:
        match stack.pop():
            case Schema() as schema:
                if schema not in seen:
                    seen.add(schema)
                    stack += reversed(schema.assertions)
            case Properties(named=named):
                for name in named:
                    places.setdefault(name, len(places))
            case AllOf(parts=parts) | AnyOf(options=parts) | OneOf(options=parts):
                stack += reversed(parts)
            case If(condition=condition, then=then, otherwise=otherwise):
                stack += (otherwise, then, condition)
            case _:
                pass
    return places
