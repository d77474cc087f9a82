"""Item sets: every way in which a text can have been read so far, as Earley (1970) keeps them.

An *item* is a symbol that is being read or that a rule waits for, the node at which its rule goes
on afterwards, and a *return address*: what happens when that rule ends. A *kernel* is a set of
items, interned; it holds everything that matters of the text so far. A return address names a rule
and the kernel that called it: when the rule ends, the items of that kernel which wait for the rule
go on. The *closure* of a kernel adds what the rules that it calls may begin with, as the closure of
an LR item set does.

Kernels are identified by what they contain, not by where in the text they arose. So equal pasts are
one kernel, and a loop in a grammar is a cycle of kernels; left recursion, ambiguity and empty rules
need no special treatment.

Two return addresses are symbolic. An item that returns to `BELOW` returns to the kernel of the next
return frame on the machine's stack, whichever that is. An item that returns to `OUTERMOST` ends the
text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from maskwright.automaton.rules.network import RuleNetwork
from maskwright.automaton.rules.nodes import RULE_END, Counters, RuleCall, Symbol, TextSymbol
from maskwright.errors import Construct, LimitError
from maskwright.grammar.regular.terms import Regular
from maskwright.grammar.rules.tree import JsonValue, SpecialToken
from maskwright.immutable import Acyclic, Immutable
from maskwright.limits import CHEAP, Limits, spend

BELOW: Final = 0
"""Stands for the kernel of the next return frame on the stack."""
OUTERMOST: Final = 1
"""Stands for the caller of the start rule."""


class ReturnAddress(Acyclic):
    """What happens when a rule ends: the items of `kernel` that wait for `rule` go on."""

    rule: int
    kernel: int


class Item(Immutable):
    """`symbol` is being read, or comes next; then its rule continues at the node `next`."""

    symbol: Symbol
    next: int
    counters: Counters
    return_to: ReturnAddress


Kernel = frozenset[Item]


class RulePosition(Acyclic):
    """A rule continues at `node`: an item whose symbol has been read."""

    node: int
    counters: Counters
    return_to: ReturnAddress


def item_at(symbol: Symbol, after: RulePosition) -> Item:
    """The item of a symbol behind which a rule goes on at `after`."""
    return Item(symbol, after.node, after.counters, after.return_to)


def start_position(network: RuleNetwork) -> RulePosition:
    """Where every text of a grammar begins."""
    start = network.start
    return RulePosition(network.starts[start], (), ReturnAddress(start, OUTERMOST))


class Closure(Immutable):
    """Everything that can be read next from a kernel, in it or in the rules that it calls: by
    symbol, where the rules go on after it."""

    texts: dict[Regular, list[RulePosition]]
    """In the order of the terms' numbers."""
    values: dict[JsonValue, list[RulePosition]]
    tokens: dict[SpecialToken, list[RulePosition]]
    waiting: dict[int, list[RulePosition]]
    """By called rule."""


class Successors(Immutable):
    """Where positions lead without reading."""

    kernel: Kernel
    ended: frozenset[int]
    """The rules that end and return to `BELOW`."""
    may_end: bool
    """Whether the whole text may end here."""


class ItemSets:
    """The kernels of one grammar, numbered when they are first met."""

    def __init__(self, network: RuleNetwork, limits: Limits) -> None:
        self.network = network
        self._limits = limits
        self._kernels: list[Kernel] = [frozenset(), frozenset()]
        self._ids: dict[Kernel, int] = {}
        self._closures: dict[int, Closure] = {}
        self._resolved: dict[tuple[int, int], int] = {}
        self._following: dict[RulePosition, tuple[Kernel, bool]] = {}
        """By position, what `_follow` found."""

    def intern(self, kernel: Kernel) -> int:
        """The number of a kernel. Raises `LimitError` for one of too many items."""
        known = self._ids.get(kernel)
        if known is None:
            if len(kernel) > self._limits.items:
                raise LimitError(
                    f"a text of the grammar can be read in more than {self._limits.items:,} ways",
                    limit="items",
                    value=self._limits.items,
                    construct=self.rules_of(kernel),
                )
            known = self._ids[kernel] = len(self._kernels)
            self._kernels.append(kernel)
        return known

    def rules_of(self, kernel: Kernel) -> Construct:
        """The rules in which the items of a kernel stand, the rule of most items first."""
        counts = Counter(item.return_to.rule for item in kernel)
        return Construct.rules(self.network.names[rule] for rule, _ in counts.most_common(4))

    def kernel(self, number: int) -> Kernel:
        return self._kernels[number]

    def advance(self, positions: Iterable[RulePosition], items: Iterable[Item] = ()) -> Successors:
        """Where `positions` lead without reading. Rules that end on the way return to their
        callers (Earley's completion). `items` are still being read, and are added."""
        following = set(items)
        ended: set[int] = set()
        may_end = False
        seen: set[RulePosition] = set()
        returned: set[ReturnAddress] = set()
        stack = list(positions)
        while stack:
            position = stack.pop()
            spend(CHEAP)
            if position in seen:
                continue
            seen.add(position)
            known = self._following.get(position)
            if known is None:
                known = self._following[position] = self._follow(position)
            items, may_return = known
            following |= items
            return_to = position.return_to
            if not may_return or return_to in returned:
                continue
            returned.add(return_to)
            rule, kernel = return_to.rule, return_to.kernel
            if kernel == BELOW:
                ended.add(rule)
            elif kernel == OUTERMOST:
                may_end = True
            else:
                stack += self.closure(kernel).waiting[rule]
        return Successors(self._drop_dominated(following), frozenset(ended), may_end)

    def _follow(self, position: RulePosition) -> tuple[Kernel, bool]:
        """The items that a rule goes on with at a position, and whether it may end there."""
        return_to = position.return_to
        closure = self.network.closure(position.node, position.counters)
        spend(CHEAP * len(closure.transitions))
        items = [Item(t.symbol, t.next, t.counters, return_to) for t in closure.transitions]
        return frozenset(items), closure.may_end

    def _drop_dominated(self, items: set[Item]) -> Kernel:
        """Drop items that differ from another in a higher count alone, where both loops may end:
        the lower count can do all that the higher one can."""
        lowest: dict[Item, int] = {}
        kept: list[Item] = []
        for item in items:
            counted = self.network.innermost_count(item.next, item.counters)
            if counted is None or counted[1] < counted[0]:
                kept.append(item)
                continue
            uncounted = replace(item, counters=item.counters[:-1])
            lowest[uncounted] = min(counted[1], lowest.get(uncounted, counted[1]))
        if not lowest:
            return frozenset(items)
        best = (replace(i, counters=(*i.counters, count)) for i, count in lowest.items())
        return frozenset((*kept, *best))

    def closure(self, number: int) -> Closure:
        """The closure of a kernel. Raises `LimitError` for one of too many items."""
        known = self._closures.get(number)
        if known is None:
            known = self._closures[number] = self._close(self._kernels[number])
        return known

    def _close(self, kernel: Kernel) -> Closure:
        network = self.network
        closure = Closure({}, {}, {}, {})
        called = {item.symbol.rule for item in kernel if isinstance(item.symbol, RuleCall)}
        rules = {rule for first in called for rule in network.left_corners[first]}
        returns = _Returns(self, kernel, rules)
        for item in kernel:
            _note(closure, item.symbol, RulePosition(item.next, item.counters, item.return_to))
        count = len(kernel)
        for rule in sorted(rules):
            return_to = returns.of(rule)
            for each in network.closure(network.starts[rule], ()).transitions:
                _note(closure, each.symbol, RulePosition(each.next, each.counters, return_to))
                count += 1
        if count > self._limits.items:
            raise LimitError(
                f"a text of the grammar can go on in more than {self._limits.items:,} ways",
                limit="items",
                value=self._limits.items,
                construct=self.rules_of(kernel),
            )
        texts = sorted(closure.texts.items(), key=_number)
        return replace(closure, texts=dict(texts))

    def resolved(self, items: Iterable[Item], frame: int) -> Kernel:
        """`items` with `BELOW` resolved: what returned there returns to the kernel `frame`."""
        return frozenset(
            replace(
                item,
                return_to=ReturnAddress(
                    item.return_to.rule, self._resolved_kernel(item.return_to.kernel, frame)
                ),
            )
            for item in items
        )

    def _resolved_kernel(self, kernel: int, frame: int) -> int:
        if kernel == BELOW:
            return frame
        if kernel == OUTERMOST:
            return kernel
        key = (kernel, frame)
        known = self._resolved.get(key)
        if known is None:
            spend(CHEAP * len(self._kernels[kernel]))
            known = self._resolved[key] = self.intern(self.resolved(self._kernels[kernel], frame))
        return known

    def split_frame(self, kernel: Kernel) -> tuple[Kernel, int] | None:
        """`kernel` with `BELOW` for its callers, and the one kernel that called all its rules, to
        be pushed as a return frame; None if there is no such kernel, or it is symbolic already."""
        callers = {item.return_to.kernel for item in kernel}
        if len(callers) != 1:
            return None
        [frame] = callers
        if frame in (BELOW, OUTERMOST):
            return None
        return frozenset(
            replace(item, return_to=ReturnAddress(item.return_to.rule, BELOW)) for item in kernel
        ), frame


def _number(entry: tuple[Regular, list[RulePosition]]) -> int:
    return entry[0].number


def _note(closure: Closure, symbol: Symbol, after: RulePosition) -> None:
    match symbol:
        case TextSymbol(term=term):
            closure.texts.setdefault(term, []).append(after)
        case RuleCall(rule=rule):
            closure.waiting.setdefault(rule, []).append(after)
        case JsonValue():
            closure.values.setdefault(symbol, []).append(after)
        case SpecialToken():
            closure.tokens.setdefault(symbol, []).append(after)


class _Returns:
    """The return addresses of the rules that one kernel calls, directly or through others."""

    def __init__(self, sets: ItemSets, kernel: Kernel, rules: set[int]) -> None:
        self._sets = sets
        self._kernel = kernel
        self._known: dict[int, ReturnAddress | None] = {}
        self._callers: dict[int, list[tuple[int, ReturnAddress | int]]] = {r: [] for r in rules}
        """By called rule: the nodes at which its callers go on, and the callers' return addresses;
        for a caller that is itself a called rule, its number."""
        network = sets.network
        for item in kernel:
            if isinstance(item.symbol, RuleCall):
                self._callers[item.symbol.rule].append((item.next, item.return_to))
        for rule in rules:
            for each in network.closure(network.starts[rule], ()).transitions:
                if isinstance(each.symbol, RuleCall):
                    self._callers[each.symbol.rule].append((each.next, rule))

    def of(self, rule: int) -> ReturnAddress:
        """The return address of a called rule: the items that wait for it.

        If nothing follows the rule in its callers and these share one return address, it is that
        one (a tail call), so that right recursion does not pile up return addresses. Captures are
        followed along the items of the start rule, so with captures these wait in any case.
        """
        if rule in self._known:
            known = self._known[rule]
            if known is not None:
                return known  # None: it is being looked for, and depends on itself
        else:
            self._known[rule] = None
            address = self._shared(rule)
            if address is not None:
                self._known[rule] = address
                return address
        own = ReturnAddress(rule, self._sets.intern(self._waiting(rule)))
        self._known[rule] = own
        return own

    def _shared(self, rule: int) -> ReturnAddress | None:
        addresses: set[ReturnAddress] = set()
        for after, return_to in self._callers[rule]:
            if after != RULE_END:
                return None
            addresses.add(self.of(return_to) if isinstance(return_to, int) else return_to)
        if len(addresses) != 1:
            return None
        [one] = addresses
        return None if one.kernel == OUTERMOST and self._sets.network.has_captures else one

    def _waiting(self, rule: int) -> Kernel:
        """The items of the kernel that call `rule`, directly or through the rules they call."""
        left_corners = self._sets.network.left_corners
        return frozenset(
            item
            for item in self._kernel
            if isinstance(item.symbol, RuleCall) and rule in left_corners[item.symbol.rule]
        )
