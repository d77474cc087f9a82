"""Upper bounds on the branches of a value once its unions are multiplied out.

They follow from the tree alone, so they cost little; `grammar.shape.unions` finds the branches that
there are, which may be far fewer.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import Final

from maskwright.grammar.schema.tree import AllOf, AnyOf, Contains, If, OneOf, Schema
from maskwright.limits import CHEAP, spend

OF_CONTAINS: Final = 4.0
"""Branches that one `contains` counts as: of these an array may only have few."""
_Branching = AllOf | AnyOf | OneOf | If | Contains
"""The assertions that can multiply the branches of a value."""


def most_branches(schemas: Iterable[Schema]) -> float:
    """An upper bound on the branches of a value of any of the schemas."""
    known: dict[Schema, float] = {}
    return max((_branches(schema, known) for schema in schemas), default=1.0)


def _branches(schema: Schema, known: dict[Schema, float]) -> float:
    found = known.get(schema)
    if found is None:
        spend(CHEAP)
        known[schema] = 1.0  # for a schema that refers to itself
        found = 1.0
        for assertion in schema.assertions:
            if isinstance(assertion, _Branching):
                found *= _of_assertion(assertion, known)
        known[schema] = found
    return found


def _of_assertion(assertion: _Branching, known: dict[Schema, float]) -> float:
    match assertion:
        case AllOf(parts=parts):
            return prod(_branches(part, known) for part in parts)
        case AnyOf(options=options) | OneOf(options=options):
            return max(1.0, sum(_branches(option, known) for option in options))
        case If(then=then, otherwise=otherwise):
            return _branches(then, known) + _branches(otherwise, known)
        case Contains():
            return OF_CONTAINS
