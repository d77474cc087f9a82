"""The shape of an answer. A request has one: different shapes in two fields are refused, equal ones
are accepted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from maskwright.errors import InputError
from maskwright.grammar.dialects.detect import Dialect


@dataclass(frozen=True, slots=True)
class FreeText:
    """No constraint."""


@dataclass(frozen=True, slots=True)
class JsonShape:
    """The whole answer is one instance of a schema. `text` is its JSON, compact and with the
    properties in the client's order.

    `place`: the dotted path of the schema. `shown`: whether the prompt contains the schema, which
    it does not if the client sent none.
    """

    text: str
    place: str
    shown: bool = True


@dataclass(frozen=True, slots=True)
class RegexShape:
    """The whole answer matches the pattern."""

    pattern: str
    place: str


@dataclass(frozen=True, slots=True)
class ChoiceShape:
    """The answer is one of the strings."""

    strings: tuple[str, ...]
    place: str


@dataclass(frozen=True, slots=True)
class GrammarShape:
    """The answer is a text of a grammar."""

    grammar: str
    dialect: Dialect | Literal["auto"]
    place: str


@dataclass(frozen=True, slots=True)
class TagShape:
    """The answer has the form of a structural tag. `text` is its JSON."""

    text: str
    place: str


ConstrainedShape: TypeAlias = JsonShape | RegexShape | ChoiceShape | GrammarShape | TagShape
Shape: TypeAlias = FreeText | ConstrainedShape


def the_shape(shapes: Sequence[ConstrainedShape]) -> Shape:
    """Return the shape that all fields ask for. Raises InputError if they differ."""
    for other in shapes[1:]:
        if _differ(other, shapes[0]):
            raise InputError(
                f"{shapes[0].place} and {other.place} ask for different shapes; send one",
                param=other.place,
                code="conflicting_constraints",
            )
    return shapes[0] if shapes else FreeText()


def _differ(one: ConstrainedShape, other: ConstrainedShape) -> bool:
    if isinstance(one, GrammarShape) and isinstance(other, GrammarShape):
        named = {one.dialect, other.dialect} - {"auto"}
        return one.grammar != other.grammar or len(named) > 1
    return _content(one) != _content(other)


def _content(shape: ConstrainedShape) -> tuple[object, ...]:
    match shape:
        case JsonShape(text=text):
            return JsonShape, text
        case RegexShape(pattern=pattern):
            return RegexShape, pattern
        case ChoiceShape(strings=strings):
            return ChoiceShape, strings
        case GrammarShape(grammar=grammar):
            return GrammarShape, grammar
        case TagShape(text=text):
            return TagShape, text
