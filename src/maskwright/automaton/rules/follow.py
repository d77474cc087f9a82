"""FIRST and FOLLOW sets of rules, in bytes: with which bytes a text may go on at a node.

The FIRST set of a node holds the bytes that may come next up to the end of its rule. Where the rule
may end, the FOLLOW set of the rule comes on top: the bytes that may come after the rule in any of
its callers. As in LL parsing, that is an upper bound: each byte may come after some call of the
rule, not after every one. A set is an int, in which bit n stands for byte n.

They show numbers after which a grammar can't go on, because they take its next character for their
own. A number is read as long as it can be: it ends at the first byte that can't continue it. Where
only digits may follow a number that may have any number of digits, it ends only at the bound on
digits, or in a spelling that nobody wants. Such a place is refused when the grammar is compiled. A
place with such an end in some callers of its rule and not in others isn't found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec.structs import replace

from maskwright.automaton.leaf.special_tokens import LEAD
from maskwright.automaton.leaf.table import LeafTable
from maskwright.automaton.rules.network import RuleNetwork
from maskwright.automaton.rules.nodes import (
    BoundedEnd,
    BranchNode,
    CaptureBoundary,
    CutNode,
    LoopBack,
    LoopEntry,
    LoopNode,
    Node,
    RuleCall,
    RuleEnd,
    Symbol,
    SymbolNode,
    TextSymbol,
)
from maskwright.grammar.regular.derivative import first_bytes
from maskwright.grammar.rules.tree import JsonValue, SpecialToken
from maskwright.limits import CHEAP, spend

SPECIAL: Final = 1 << LEAD
"""The byte that leads special tokens."""
VALUE: Final = sum(1 << byte for byte in b'"{[-0123456789tfn')
"""The bytes with which JSON values begin."""

ENDS: Final = 1 << 256
"""A bit beside the bytes of a FIRST set: the rule may end without another byte (epsilon)."""


class NextBytes:
    """With which bytes a text may go on at the nodes of a network.

    The end of the whole text is `ENDS` in a set, as the end of a rule is in a FIRST set.
    """

    def __init__(self, network: RuleNetwork) -> None:
        self._network = network
        self._first = _first_sets(network)
        self._rules = _rules_by_node(network)
        self._follow = _follow_sets(network, self._first, self._rules)

    def of_nodes(self) -> list[int]:
        """[nodes]: the bytes that may come next, those after the end of the rule included."""
        return [self._next(at, self._rules[at]) & ~ENDS for at in range(len(self._first))]

    def after_values(self) -> Iterator[tuple[JsonValue, list[int], int]]:
        """Each JSON value that can be completed, the rules that it stands in, and what may come
        after it, with `ENDS`. Where that is digits alone, it is also what may come after the same
        value beside it."""
        after: dict[int, int] = {}
        values: dict[int, JsonValue] = {}
        for at, node in enumerate(self._network.nodes):
            if (
                isinstance(node, SymbolNode)
                and isinstance(node.symbol, JsonValue)
                and self._network.is_live(at)
            ):
                after[at] = self._next(node.next, self._rules[at])
                values[at] = node.symbol
        few = {at for at, following in after.items() if only_digits(following)}
        beside = _beside(self._network, few, values) if few else {}
        for at, value in values.items():
            followed = after[at]
            for other in beside.get(at, ()):
                followed |= after[other]
            yield value, self._rules[at], followed

    def _next(self, at: int, rules: list[int]) -> int:
        """What may come at a node of `rules`."""
        found = self._first[at]
        if found & ENDS:
            found ^= ENDS
            for rule in rules:
                found |= self._follow[rule]
        return found


def _first_sets(network: RuleNetwork) -> list[int]:
    """[nodes]: the FIRST sets, with `ENDS`; the least fixed point, found with a worklist."""
    users: list[list[int]] = [[] for _ in network.nodes]
    for at, node in enumerate(network.nodes):
        for used in successors(node):
            users[used].append(at)
        if isinstance(node, SymbolNode) and isinstance(node.symbol, RuleCall):
            users[network.starts[node.symbol.rule]].append(at)
    first = [0] * len(network.nodes)
    changed = list(range(len(first)))
    waiting = set(changed)
    while changed:
        at = changed.pop()
        spend(CHEAP)
        waiting.discard(at)
        bytes_now = _first_of_node(network, at, first)
        if bytes_now != first[at]:
            first[at] = bytes_now
            more = [user for user in users[at] if user not in waiting]
            changed += more
            waiting.update(more)
    return first


def _first_of_node(network: RuleNetwork, at: int, first: list[int]) -> int:
    match network.nodes[at]:
        case SymbolNode(symbol=symbol, next=after):
            first_bytes = _first_of_symbol(network, symbol, first)
            return first_bytes | first[after] if network.is_nullable(symbol) else first_bytes
        case RuleEnd():
            return ENDS
        case node:
            first_bytes = 0
            for after in successors(node):
                first_bytes |= first[after]
            return first_bytes


def _first_of_symbol(network: RuleNetwork, symbol: Symbol, first: list[int]) -> int:
    match symbol:
        case TextSymbol(term=term):
            return first_bytes(term)
        case RuleCall(rule=rule):
            return first[network.starts[rule]] & ~ENDS
        case JsonValue():
            return VALUE
        case SpecialToken():
            return SPECIAL


def _rules_by_node(network: RuleNetwork) -> list[list[int]]:
    """[nodes]: the rules that a node is part of: several, where rules share their endings."""
    rules: list[list[int]] = [[] for _ in network.nodes]
    for rule, start in enumerate(network.starts):
        seen = {start}
        stack = [start]
        while stack:
            at = stack.pop()
            rules[at].append(rule)
            spend(CHEAP)
            new = set(successors(network.nodes[at])) - seen
            seen |= new
            stack += new
    return rules


def _beside(
    network: RuleNetwork, wanted: set[int], values: Mapping[int, JsonValue]
) -> dict[int, set[int]]:
    """The nodes of the same value that may be read wherever one of the nodes `wanted` may."""
    beside: dict[int, set[int]] = {}
    after_symbols = (node.next for node in network.nodes if isinstance(node, SymbolNode))
    for start in {*network.starts, *after_symbols}:
        seen = {start}
        stack = [start]
        while stack:
            node = network.nodes[stack.pop()]
            spend(CHEAP)
            new = set() if isinstance(node, SymbolNode) else set(successors(node)) - seen
            seen |= new
            stack += new
        for at in seen & wanted:
            spend(CHEAP * len(seen))
            same = {other for other in seen & values.keys() if _equal(values[other], values[at])}
            beside[at] = beside.get(at, same) & same
    return beside


def _equal(value: JsonValue, other: JsonValue) -> bool:
    """Whether two values have equal texts, since their schemas are written alike."""
    key = value.schema.key
    is_alike = value.schema is other.schema or (key is not None and key == other.schema.key)
    return is_alike and replace(value, schema=other.schema) == other


def _follow_sets(network: RuleNetwork, first: list[int], rules: list[list[int]]) -> list[int]:
    """[rules]: the FOLLOW sets; the least fixed point."""
    follow = [0] * len(network.starts)
    follow[network.start] = ENDS
    ended_with: list[set[int]] = [set() for _ in network.starts]
    """[rules]: the rules that may end with a call of each, whose FOLLOW sets are in its own."""
    for at, node in enumerate(network.nodes):
        if isinstance(node, SymbolNode) and isinstance(node.symbol, RuleCall):
            after = first[node.next]
            follow[node.symbol.rule] |= after & ~ENDS
            if after & ENDS:
                ended_with[node.symbol.rule].update(rules[at])
    changed = True
    while changed:
        changed = False
        for rule, callers in enumerate(ended_with):
            following = follow[rule]
            spend(CHEAP * (1 + len(callers)))
            for caller in callers:
                following |= follow[caller]
            changed |= following != follow[rule]
            follow[rule] = following
    return follow


def successors(node: Node) -> tuple[int, ...]:
    """The nodes of the same rule that come next."""
    match node:
        case SymbolNode(next=after) | CaptureBoundary(next=after):
            return (after,)
        case BoundedEnd(next=after) | CutNode(next=after):
            return (after,)
        case BranchNode(options=options):
            return options
        case LoopEntry(loop=loop) | LoopBack(loop=loop):
            return (loop,)
        case LoopNode(body=body, next=after):
            return body, after
        case RuleEnd():
            return ()


DIGITS_READ: Final = 20
"""Digits of an integer that are looked at, as many as 64 bits have."""
_DIGITS: Final = b"0123456789"
_ONLY_DIGITS: Final = sum(1 << byte for byte in _DIGITS)


def only_digits(after: int) -> bool:
    """Whether of `after`, a set of bytes and of the text's end, digits alone may follow a value."""
    return bool(after) and not after & ~_ONLY_DIGITS


def endless_number(leaves: LeafTable, leaf: int, after: int) -> bool:
    """Whether a value that begins at `leaf` may be an integer, but none of at most `DIGITS_READ`
    digits that a text goes on after; one of the digits of `after` follows the value."""
    first = leaves.next_states(leaf)
    return any(_is_endless(leaves, first[byte], after) for byte in _DIGITS[1:] if byte in first)


def _is_endless(leaves: LeafTable, start: int, after: int) -> bool:
    """Whether some integer that goes on at `start`, after its first digit, is whole, and none of
    them can be left."""
    reached = {start}
    seen = set[int]()
    is_whole = False
    for _ in range(DIGITS_READ):
        reached -= seen
        seen |= reached
        following = set[int]()
        for state in reached:
            spend(CHEAP)
            row = leaves.next_states(state)
            if leaves.label_of(state) is not None:
                is_whole = True
                if any(after >> byte & 1 and byte not in row for byte in _DIGITS):
                    return False
            following.update(row[byte] for byte in _DIGITS if byte in row)
        reached = following
    return is_whole
