"""Small rule networks for tests, and what can be read in them as short words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from maskwright.automaton.leaf.table import LeafTable
from maskwright.automaton.rules.item_sets import ItemSets
from maskwright.automaton.rules.network import RuleNetwork
from maskwright.automaton.rules.nodes import Counters, RuleCall, Symbol, TextSymbol
from maskwright.automaton.rules.values import RuleValues
from maskwright.grammar.pattern.translate import full_match
from maskwright.grammar.regular.shortest import shortest
from maskwright.grammar.rules.tree import (
    Choice,
    Concat,
    Expression,
    JsonValue,
    Repeat,
    Rules,
    SpecialToken,
    Terminal,
)
from maskwright.grammar.schema.parse import ParseOptions, parse_schema
from maskwright.grammar.schema.tree import Json
from maskwright.limits import DEFAULT_LIMITS, Limits


def text(pattern: str) -> Terminal:
    """A text of a pattern."""
    return Terminal(full_match(pattern))


def seq(*parts: Expression) -> Concat:
    return Concat(parts)


def alt(*options: Expression) -> Choice:
    return Choice(options)


def opt(body: Expression) -> Repeat:
    return Repeat(body, 0, 1)


def value(schema: Json, **options: str) -> JsonValue:
    return JsonValue(parse_schema(schema, ParseOptions()).root, **options)  # pyright: ignore[reportArgumentType]


TOKEN = SpecialToken(((7, 7),))
EMPTY_TEXT = text("")
A, B, C, X, Y = map(text, "abcxy")


def network(
    rules: Mapping[str, Expression] | Expression,
    limits: Limits = DEFAULT_LIMITS,
    *,
    satisfiable: bool = True,
) -> RuleNetwork:
    """The network of rules (the first one is the start rule) or of one expression.

    `satisfiable`: whether the JSON values in it have instances.
    """
    named = rules if isinstance(rules, Mapping) else {"start": rules}
    return RuleNetwork(Rules(next(iter(named)), named), lambda value: satisfiable, limits)


def item_sets(
    rules: Mapping[str, Expression] | Expression, limits: Limits = DEFAULT_LIMITS
) -> ItemSets:
    return ItemSets(network(rules, limits), limits)


def first_kernel(sets: ItemSets) -> int:
    """The kernel with which every text begins."""
    return sets.begin(sets.start_position()).kernel


def word(network: RuleNetwork, symbol: Symbol) -> str:
    """A symbol, as tests write it: the shortest of its texts, or the name of a called rule."""
    match symbol:
        case TextSymbol(term=term):
            return shortest(term, 1000) or "''"
        case RuleCall(rule=rule):
            return network.names[rule]
        case JsonValue():
            return "value"
        case SpecialToken():
            return "token"


def words(network: RuleNetwork, symbols: Iterable[Symbol]) -> str:
    return " ".join(sorted(word(network, symbol) for symbol in symbols))


def choices(network: RuleNetwork, node: int, counters: Counters = ()) -> str:
    """The symbols that can be read at a node, and `.` if the rule may end there."""
    closure = network.closure(node, counters)
    end = " ." if closure.may_end else ""
    return (words(network, [t.symbol for t in closure.transitions]) + end).strip()


def along(network: RuleNetwork, rule: str, path: str) -> tuple[int, Counters]:
    """The place in a rule after the symbols of `path`; one transition fits at each."""
    node, counters = network.starts[network.names.index(rule)], ()
    for name in path.split():
        [found] = [
            t
            for t in network.closure(node, counters).transitions
            if word(network, t.symbol) == name
        ]
        node, counters = found.next, found.counters
    return node, counters


def values(limits: Limits = DEFAULT_LIMITS) -> RuleValues:
    return RuleValues(LeafTable(), limits)
