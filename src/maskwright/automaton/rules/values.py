"""The JSON values in a grammar: those written with equal options share their contexts."""

from __future__ import annotations

from collections.abc import Iterable

from maskwright.automaton.json.contexts import JsonContexts
from maskwright.automaton.leaf.table import LeafTable
from maskwright.automaton.satisfy.shortest import Witnesses
from maskwright.automaton.value.whitespace import WHITESPACE
from maskwright.automaton.value.witness_text import rendered
from maskwright.grammar.rules.tree import JsonValue
from maskwright.grammar.shape.shape import Conjunction
from maskwright.grammar.shape.shapes import Shapes
from maskwright.limits import Limits


class RuleValues:
    """What the JSON values of one grammar are read with: shapes, witnesses and contexts."""

    def __init__(self, leaves: LeafTable, limits: Limits) -> None:
        self._leaves = leaves
        self._limits = limits
        self._shapes = Shapes(limits)
        self._witnesses: dict[str, Witnesses] = {}
        self._contexts: dict[tuple[str, str, str], JsonContexts] = {}

    @staticmethod
    def root(value: JsonValue) -> Conjunction:
        """What a value must satisfy."""
        return frozenset([value.schema])

    def witnesses(self, value: JsonValue) -> Witnesses:
        """The search for instances of values with the property order of `value`."""
        known = self._witnesses.get(value.property_order)
        if known is None:
            known = Witnesses(self._shapes, value.property_order, self._limits)
            self._witnesses[value.property_order] = known
        return known

    def contexts(self, value: JsonValue) -> JsonContexts:
        """The contexts of values that are written with the options of `value`."""
        key = (value.whitespace, value.property_order, value.escapes)
        known = self._contexts.get(key)
        if known is None:
            known = self._contexts[key] = JsonContexts(
                None,
                self._shapes,
                self.witnesses(value),
                self._leaves,
                WHITESPACE[value.whitespace],
                bare=value.escapes == "needed",
            )
        return known

    def groups(self, values: Iterable[JsonValue]) -> list[tuple[JsonContexts, list[JsonValue]]]:
        """`values` grouped by their options; the values of a group are read together."""
        found: dict[JsonContexts, list[JsonValue]] = {}
        for value in values:
            found.setdefault(self.contexts(value), []).append(value)
        return list(found.items())

    def is_satisfiable(self, value: JsonValue) -> bool:
        """Whether some value satisfies the schema."""
        if value.schema.possible is None:
            value.schema.possible = self.witnesses(value).possible(self.root(value))
        return value.schema.possible

    def shortest(self, value: JsonValue) -> bytes:
        """A shortest instance, as its options write it; there must be one."""
        found = self.witnesses(value).of(self.root(value))
        assert found is not None
        return rendered(found, WHITESPACE[value.whitespace], 0).encode()
