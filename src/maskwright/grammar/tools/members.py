"""Objects in tool formats that write declared members only, in the order of the schema."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product
from typing import Final

from msgspec import Struct

from maskwright.errors import UnsupportedSchemaError
from maskwright.grammar.regular.terms import EMPTY, complement, intersection
from maskwright.grammar.schema.tree import (
    Assertion,
    Contains,
    NotUniqueItems,
    Properties,
    PropertyCount,
    UniqueItems,
)
from maskwright.grammar.shape.shape import Conjunction, ObjectShape, construct_of, place_of
from maskwright.grammar.shape.shapes import Shapes

DECLARED_ONLY: Final = "members that the schema doesn't declare are left out"
"""The note on the `additionalProperties` of such an object."""

_MOST_LANGUAGES: Final = 8
"""Languages of names, up to which every combination is looked at."""


_OF_OTHERS: Final = ("additionalProperties", "patternProperties")
_TESTS: Final[Mapping[str, Callable[[Assertion], bool]]] = {
    "additionalProperties": lambda each: (
        isinstance(each, Properties) and each.covers_all and not each.additional.never
    ),
    "patternProperties": lambda each: isinstance(each, Properties) and bool(each.patterns),
    "minProperties": lambda each: isinstance(each, PropertyCount) and each.least > 0,
    "maxProperties": lambda each: isinstance(each, PropertyCount) and each.most is not None,
    "contains": lambda each: isinstance(each, Contains),
    "uniqueItems": lambda each: isinstance(each, UniqueItems | NotUniqueItems),
}
"""By keyword: whether an assertion comes from it, and says something."""


class DeclaredMembers(Struct):
    """Checks the objects of one tool. `written`: how the format writes arguments, for errors."""

    shapes: Shapes
    written: str
    narrowed: dict[str, None] = {}
    """The pointers of schemas that allow members which they don't declare: those are left out."""

    def check(self, shape: ObjectShape, value: Conjunction) -> None:
        """Note whether members are left out of the objects of `shape`, which satisfy `value`.

        Raises `UnsupportedSchemaError` for what depends on more than one member, and for a map: an
        object that declares no members, while a keyword allows some.
        """
        if shape.some:
            raise self.refusal(value, "a condition on some member")
        if shape.least > len(shape.required):
            raise self.refusal(value, "minProperties beyond the required ones", "minProperties")
        if shape.most is not None and shape.most < len(shape.names):
            raise self.refusal(
                value, "maxProperties below the number of properties", "maxProperties"
            )
        if not self._has_others(shape):
            return
        places = {keyword: place_of(value, _TESTS[keyword]) for keyword in _OF_OTHERS}
        asked = next((keyword for keyword, place in places.items() if place is not None), None)
        if asked is not None and not shape.names:
            raise self.refusal(value, "members that the schema doesn't list", asked)
        place = None if asked is None else places[asked]
        if value:  # a value that may be anything has no place of its own
            self.narrowed[place or construct_of(value).pointer or ""] = None

    def refusal(self, value: Conjunction, what: str, keyword: str = "") -> UnsupportedSchemaError:
        """Return the error that `what` can't be written, with the place of the keyword that asks
        for it of `value`."""
        place = place_of(value, _TESTS[keyword]) if keyword else None
        pointer = construct_of(value).pointer or "" if place is None else f"{place}/{keyword}"
        return self.refusal_at(pointer, what)

    def refusal_at(self, pointer: str, what: str) -> UnsupportedSchemaError:
        """Return the error that `what` can't be written."""
        return UnsupportedSchemaError(
            f"{what} can't be had in arguments that are written {self.written}; use a tool format "
            "with JSON arguments",
            pointer=pointer,
        )

    def _has_others(self, shape: ObjectShape) -> bool:
        """Whether there may be members that the shape doesn't list."""
        if shape.most is not None and shape.most <= len(shape.required):
            return False
        if len(shape.languages) > _MOST_LANGUAGES:
            return True
        for mask in product((False, True), repeat=len(shape.languages)):
            names = (
                each if inside else complement(each)
                for each, inside in zip(shape.languages, mask, strict=True)
            )
            if intersection(*names) is not EMPTY and self._has_values(shape.others(mask)):
                return True
        return False

    def _has_values(self, value: Conjunction) -> bool:
        """Whether a value has a type, at least; not every such value can be completed."""
        shape = self.shapes.normal_form(value)
        return bool(shape.arrays or shape.objects) or (
            shape.strings is not EMPTY or shape.scalars is not EMPTY
        )
