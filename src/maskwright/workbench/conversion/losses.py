"""What a grammar can't say of a schema, and where it stands."""

from __future__ import annotations

from typing import NamedTuple

from maskwright.errors import UnsupportedSchemaError
from maskwright.grammar.schema.tree import Assertion, Properties, UniqueItems
from maskwright.grammar.shape.places import place_of
from maskwright.grammar.shape.shape import Conjunction, construct_of

_KEYWORDS: dict[type[Assertion], str] = {
    UniqueItems: "uniqueItems",
    Properties: "additionalProperties",
}


class ConversionLoss(NamedTuple):
    """Something that a grammar leaves open: it accepts more than the schema."""

    pointer: str
    message: str


class ConversionLosses:
    """Everything that a conversion has met so far, each once."""

    def __init__(self) -> None:
        self.found: dict[ConversionLoss, None] = {}

    def add(self, conjunction: Conjunction, kind: type[Assertion] | None, message: str) -> None:
        """Note a loss at the keyword of a kind of assertion about a value."""
        self.found[ConversionLoss(pointer_of_keyword(conjunction, kind), message)] = None

    def refuse(self) -> None:
        """Raise `UnsupportedSchemaError` if anything was lost."""
        if self.found:
            first, *others = self.found
            more = f"; and {len(others)} more like it" if others else ""
            raise UnsupportedSchemaError(first.message + more, pointer=first.pointer)


def pointer_of_keyword(conjunction: Conjunction, kind: type[Assertion] | None) -> str:
    """The JSON Pointer of the keyword that asserts something of a kind about a value; that of the
    value's schema if there is none."""
    place = None if kind is None else place_of(conjunction, lambda each: isinstance(each, kind))
    if kind is None or place is None:
        return construct_of(conjunction).pointer or ""
    return f"{place}/{_KEYWORDS[kind]}"
