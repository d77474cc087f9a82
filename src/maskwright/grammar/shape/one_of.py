"""`oneOf` as `anyOf`: each option without the others that it can meet in a value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from maskwright.errors import LimitError
from maskwright.grammar.schema.tree import TYPES, AllOf, AnyOf, OneOf, Schema, TypeIs, negated
from maskwright.grammar.shape.disjoint import have_disjoint_members
from maskwright.grammar.shape.shape import Conjunction
from maskwright.limits import Limits

Possible = Callable[[Conjunction], bool]
"""Whether some value satisfies a conjunction."""

_OF_TYPE: Final = {name: Schema("", (TypeIs(frozenset([name])),)) for name in sorted(TYPES)}


class Exclusive:
    """The unions that stand for each `oneOf`, by type, each made once."""

    def __init__(self, limits: Limits, possible: Possible) -> None:
        """`possible` tells which options of a `oneOf` no value satisfies together."""
        self._possible = possible
        self._limits = limits
        self._known: dict[tuple[OneOf, str], AnyOf] = {}
        self._open: set[tuple[OneOf, str]] = set()

    def of(self, assertion: OneOf, kind: str) -> AnyOf:
        """Exactly one option, for values of a type. Raises `LimitError` for too many options that
        can only be told apart by looking for a value."""
        key = (assertion, kind)
        known = self._known.get(key)
        if known is not None:
            return known
        if key in self._open:  # asked for while deciding it: take nothing for granted
            return _without_others(assertion, lambda left, right: True)
        self._open.add(key)
        memo: dict[Conjunction, bool] = {}

        def meet(left: Schema, right: Schema) -> bool:
            pair = frozenset((left, right, _OF_TYPE[kind]))
            if pair not in memo:
                memo[pair] = self._meet(left, right, pair, kind, len(memo))
            return memo[pair]

        try:
            found = self._known[key] = _without_others(assertion, meet)
        finally:
            self._open.discard(key)
        return found

    def _meet(self, left: Schema, right: Schema, pair: Conjunction, kind: str, met: int) -> bool:
        """`met`: the pairs compared before."""
        if met >= self._limits.alternatives:
            raise LimitError(
                f"'oneOf' compares more than {self._limits.alternatives:,} pairs of alternatives",
                limit="alternatives",
                pointer=left.pointer,
            )
        return not (kind == "object" and have_disjoint_members(left, right)) and self._possible(
            pair
        )


def _without_others(assertion: OneOf, meet: Callable[[Schema, Schema], bool]) -> AnyOf:
    options: list[Schema] = []
    for at, option in enumerate(assertion.options):
        others = [o for k, o in enumerate(assertion.options) if k != at]
        met = [negated(other) for other in others if other is not option and meet(option, other)]
        if any(other is option for other in others):
            met.append(negated(option))
        options.append(Schema(option.pointer, (AllOf((option, *met)),)) if met else option)
    return AnyOf(tuple(options))
