"""`oneOf` as `anyOf`: each option without the others that share an instance with it.

An option of `oneOf` excludes all others. Written out, that is a conjunction with the negation of
every other one, and multiplies. Mostly the options are disjoint anyway. Options that a type, a
constant or a required member tells apart are found in linear time (see `rivals`). Each pair of the
others is compared, by cheap tests and then by a search for a shared instance, and only options that
share one are negated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from maskwright.errors import LimitError
from maskwright.grammar.schema.tree import TYPES, AllOf, AnyOf, OneOf, Schema, TypeIs, negated
from maskwright.grammar.shape.disjoint import accepts_all, have_disjoint_members
from maskwright.grammar.shape.rivals import Rivals
from maskwright.grammar.shape.shape import Conjunction, keyword_of
from maskwright.limits import Limits

Possible = Callable[[Conjunction], bool]
"""The oracle: whether some value satisfies a conjunction. It may ask back for shapes."""

_OF_TYPE: Final = {name: Schema("", (TypeIs(frozenset([name])),)) for name in sorted(TYPES)}


class ExclusiveUnions:
    """The union that stands for each `oneOf`, by type, made once."""

    def __init__(self, limits: Limits, possible: Possible) -> None:
        """`possible` decides which options of a `oneOf` share an instance."""
        self._possible = possible
        self._limits = limits
        self._unions: dict[tuple[OneOf, str], AnyOf] = {}
        self._open: set[tuple[OneOf, str]] = set()

    def union(self, assertion: OneOf, kind: str) -> AnyOf:
        """The values of type `kind` that satisfy exactly one option.

        Raises `LimitError` if too many pairs of options have to be compared."""
        key = (assertion, kind)
        known = self._unions.get(key)
        if known is not None:
            return known
        if key in self._open:  # the oracle asks for what it is to decide: negate all others
            return _without_others(assertion, kind, lambda left, right: True)
        self._open.add(key)
        memo: dict[Conjunction, bool] = {}

        def overlap(left: Schema, right: Schema) -> bool:
            pair = frozenset((left, right, _OF_TYPE[kind]))
            if pair not in memo:
                memo[pair] = self._overlap(left, right, pair, kind, len(memo))
            return memo[pair]

        try:
            union = self._unions[key] = _without_others(assertion, kind, overlap)
        except LimitError as error:
            error.complete(construct=keyword_of(assertion.options))
            raise
        finally:
            self._open.discard(key)
        return union

    def _overlap(
        self, left: Schema, right: Schema, pair: Conjunction, kind: str, compared: int
    ) -> bool:
        """Whether two options may share an instance. `compared`: how many pairs were before."""
        if compared >= self._limits.alternatives:
            raise LimitError(
                f"more than {self._limits.alternatives:,} pairs of options of 'oneOf' have to be"
                " compared",
                limit="alternatives",
                value=self._limits.alternatives,
                way_out="give the options a property or type in which they differ",
            )
        return not (kind == "object" and have_disjoint_members(left, right)) and self._possible(
            pair
        )


def _without_others(
    assertion: OneOf, kind: str, overlap: Callable[[Schema, Schema], bool]
) -> AnyOf:
    """The union of the options, each in conjunction with the negations of those that overlap it."""
    if sum(accepts_all(option, kind) for option in assertion.options) > 1:
        return AnyOf(())  # every value is one of two options
    rivals = Rivals(assertion.options, (kind,))
    options: list[Schema] = []
    for at, option in enumerate(assertion.options):
        others = [assertion.options[k] for k in rivals.of(at)]
        # An option that is listed twice excludes itself.
        excluded = [o for o in others if o is option or overlap(option, o)]
        if excluded:
            negations = map(negated, dict.fromkeys(excluded))
            option = Schema(option.pointer, (AllOf((option, *negations)),))
        options.append(option)
    return AnyOf(tuple(options))
