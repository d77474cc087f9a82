"""Two JSON Schemas compared part by part, from their roots downwards.

Schemas allow equal texts if their normal forms agree and the parts of these do in turn. Pairs of
parts that have been begun may be taken to agree, since texts are finite (coinduction). Where two
parts disagree, a constraint on the whole value is named; whether a value of one schema that
satisfies it is really missing in the other one is for matchers to judge.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from maskwright.automaton.satisfy.solver import Solver
from maskwright.automaton.value.whitespace import WHITESPACE
from maskwright.automaton.value.witness_text import rendered
from maskwright.errors import InputError, LimitError
from maskwright.grammar.schema.parse import ParseOptions, parse_schema
from maskwright.grammar.shape.shape import conjunction_of
from maskwright.limits import DEFAULT_LIMITS, MEASURED, spend
from maskwright.mask.compile.constructs import SchemaConstructs
from maskwright.workbench.difference.shape_pairs import (
    Constraint,
    PartPair,
    ShapePair,
    are_written_alike,
)

_Wrap: TypeAlias = Callable[[Constraint], Constraint]
"""From a constraint on a part to one on the whole value."""


class SchemaPairs:
    """The disagreements of two schemas whose instances are written in one way."""

    def __init__(self, first: SchemaConstructs, second: SchemaConstructs) -> None:
        self._roots: Final = first.root, second.root
        self._solver = Solver(first.property_order, DEFAULT_LIMITS)
        self._whitespace = WHITESPACE[first.whitespace]
        self._bare = first.escapes == "needed"
        self._open: set[int] = set()
        """Sides that may have texts of their own."""

    def texts(self) -> Iterator[tuple[int, bytes]]:
        """For each disagreement that has one, the shortest text of a side, 0 or 1, of which it is
        expected that the other side lacks it."""
        for side, constraint in self._constraints():
            self._open.add(side)
            try:
                wanted = parse_schema(constraint, ParseOptions()).root
                found = self._solver.shortest.of(frozenset([self._roots[side], wanted]))
            except InputError as error:
                _raise_if_over(error)
                continue
            if found is not None:
                yield side, rendered(found, self._whitespace, 0).encode()

    def has_none(self, side: int) -> bool:
        """Whether no text is a side's own, after `texts` has ended."""
        return side not in self._open

    def _constraints(self) -> Iterator[tuple[int, Constraint]]:
        roots = conjunction_of(self._roots[:1]), conjunction_of(self._roots[1:])
        waiting: deque[tuple[PartPair, _Wrap]] = deque(
            [(PartPair(roots, None), PartPair(roots, None).around)]
        )
        seen = {roots}
        while waiting:
            spend()
            part, wrap = waiting.popleft()
            if are_written_alike(*part.pair):
                continue
            try:
                first, second = map(self._solver.values.shapes.normal_form, part.pair)
                found = ShapePair((first, second), self._solver.values, self._bare)
            except InputError as error:
                _raise_if_over(error)
                self._open = {0, 1}
                continue
            self._open |= found.unclear
            for side, constraint in found.disagreements:
                yield side, wrap(constraint)
            for inner in found.parts:
                if inner.pair not in seen:
                    seen.add(inner.pair)
                    waiting.append((inner, _joined(wrap, inner.around)))


def _joined(outer: _Wrap, inner: _Wrap) -> _Wrap:
    return lambda constraint: outer(inner(constraint))


def _raise_if_over(error: InputError) -> None:
    """Raise an error again that ends the comparison: its time or memory is used up."""
    if isinstance(error, LimitError) and error.limit in MEASURED:
        raise error
