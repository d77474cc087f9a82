"""The JSON values in a grammar: those written with equal options share their contexts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final
from weakref import WeakKeyDictionary

from maskwright.automaton.finish.bounds import Price
from maskwright.automaton.json.contexts import JsonContexts
from maskwright.automaton.leaf.table import LeafTable
from maskwright.automaton.satisfy.solver import Solver
from maskwright.automaton.value.whitespace import WHITESPACE
from maskwright.automaton.value.witness_text import rendered
from maskwright.grammar.rules.tree import JsonValue
from maskwright.grammar.schema.tree import Json, Schema, value_schema
from maskwright.grammar.shape.shape import Conjunction
from maskwright.limits import Limits

_SATISFIABLE: Final[WeakKeyDictionary[Schema, bool]] = WeakKeyDictionary()
"""Whether a schema has values. Kept for as long as the schema lives: tools that are compiled again
bring schemas that have been parsed before."""


def is_satisfiable(value: JsonValue, solver: Callable[[], Solver]) -> bool:
    """Whether some value satisfies the schema; `solver` is asked for if that isn't known."""
    known = _SATISFIABLE.get(value.schema)
    if known is None:
        known = _SATISFIABLE[value.schema] = solver().satisfiable(RuleValues.root(value))
    return known


class RuleValues:
    """What the JSON values of one grammar are read with: solvers and contexts."""

    def __init__(
        self,
        leaves: LeafTable,
        limits: Limits,
        price: Price = len,
        within_tokens: frozenset[str] | None = None,
    ) -> None:
        """`price`: an upper bound on the tokens of a text (see `automaton.finish.bounds`);
        `within_tokens`: see `automaton.json.remembered_names`."""
        self._price = price
        self._leaves = leaves
        self._within_tokens = within_tokens
        self._limits = limits
        self._solvers: dict[tuple[str, str], Solver] = {}
        self._contexts: dict[tuple[str, ...], JsonContexts] = {}

    @staticmethod
    def root(value: JsonValue) -> Conjunction:
        """What a value must satisfy."""
        return frozenset([value.schema])

    def solver(self, value: JsonValue) -> Solver:
        """The solver for values with the property order and the numbers of `value`."""
        key = (value.property_order, value.numbers)
        known = self._solvers.get(key)
        if known is None:
            known = self._solvers[key] = Solver(value.property_order, self._limits, value.numbers)
        return known

    def contexts(self, value: JsonValue) -> JsonContexts:
        """The contexts of values that are written with the options of `value`."""
        key = (value.whitespace, value.property_order, value.escapes, value.numbers)
        known = self._contexts.get(key)
        if known is None:
            known = self._contexts[key] = JsonContexts(
                None,
                self.solver(value),
                self._leaves,
                WHITESPACE[value.whitespace],
                self._price,
                bare=value.escapes == "needed",
                within_tokens=self._within_tokens,
            )
        return known

    def release(self) -> None:
        """Break the cycles of references; nothing can be asked afterwards."""
        for contexts in self._contexts.values():
            contexts.release()
        for solver in self._solvers.values():
            solver.release()

    def groups(self, values: Iterable[JsonValue]) -> list[tuple[JsonContexts, list[JsonValue]]]:
        """`values` grouped by their options; the values of a group are read together."""
        found: dict[JsonContexts, list[JsonValue]] = {}
        for value in values:
            found.setdefault(self.contexts(value), []).append(value)
        return list(found.items())

    def is_instance(self, value: Json, schema: Schema) -> bool:
        """Whether a value satisfies a schema. Raises `LimitError`."""
        if not (schema.assertions or schema.never):
            return True
        solver = Solver("any", self._limits)  # of its own: it keeps what it is asked about
        try:
            return solver.satisfiable(frozenset([schema, value_schema(value, "")]))
        finally:
            solver.release()

    def is_satisfiable(self, value: JsonValue) -> bool:
        """Whether some value satisfies the schema."""
        return is_satisfiable(value, lambda: self.solver(value))

    def shortest(self, value: JsonValue) -> bytes:
        """A shortest instance, as its options write it; there must be one."""
        found = self.solver(value).shortest.of(self.root(value))
        assert found is not None
        return rendered(found, WHITESPACE[value.whitespace], 0).encode()
