"""Item sets: all ways in which a text can have been read so far, as Earley (1970) keeps them.

An *item* is a step of some rule that can be taken now (a terminal that is being read, a rule that
is called), with where the rule goes on behind it, and a *return*: what happens when the rule ends.
A *kernel* is a set of items, interned; it holds all there is to know of the past. A return names a
rule and the kernel that called it: when the rule ends, the items of that kernel which wait for it
go on. Since kernels are known by what they contain and not by where in the text they arose, equal
pasts are one kernel, and a loop in a grammar is a loop here. That also makes left recursion,
ambiguity and empty rules nothing special.

Two returns are symbols. What returns `BELOW` goes on in whichever kernel stands below on the
machine's stack; what returns to the kernel `WHOLE` ends the text.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from maskwright.automaton.rules.network import RuleNetwork
from maskwright.automaton.rules.nodes import END, Call, Counters, Symbol, Text
from maskwright.errors import LimitError
from maskwright.grammar.regular.terms import Regular
from maskwright.grammar.rules.tree import JsonValue, SpecialToken
from maskwright.limits import Limits

BELOW: Final = 0
"""The kernel of the context below, whichever that is."""
WHOLE: Final = 1
"""The kernel that waits for the start rule."""


class Return(NamedTuple):
    """What is done when a rule ends: what waits for `rule` in `kernel` goes on."""

    rule: int
    kernel: int


class Item(NamedTuple):
    """`symbol` is being read, or comes next; then its rule goes on at `next`."""

    symbol: Symbol
    next: int
    counters: Counters
    then: Return


Kernel = frozenset[Item]


class Place(NamedTuple):
    """A rule goes on at `node`."""

    node: int
    counters: Counters
    then: Return


class Outlook(NamedTuple):
    """All that a kernel can read next, rules called by it included, and who waits for what."""

    texts: dict[Regular, list[Place]]
    """In the order of the terms' numbers."""
    values: dict[JsonValue, list[Place]]
    tokens: dict[SpecialToken, list[Place]]
    waiting: dict[int, list[Place]]


class Reached(NamedTuple):
    """Where some places lead without reading: a kernel, the rules that end into the context below,
    and whether the text may end."""

    kernel: Kernel
    ended: frozenset[int]
    whole: bool


class RuleSets:
    """The kernels of one grammar, made when first met."""

    def __init__(self, network: RuleNetwork, limits: Limits) -> None:
        self.network = network
        self._limits = limits
        self._kernels: list[Kernel] = [frozenset(), frozenset()]
        self._ids: dict[Kernel, int] = {}
        self._outlooks: dict[int, Outlook] = {}
        self._moved: dict[tuple[int, int], int] = {}

    def number(self, kernel: Kernel) -> int:
        known = self._ids.get(kernel)
        if known is None:
            if len(kernel) > self._limits.items:
                raise LimitError(
                    f"a text of the grammar can be read in more than {self._limits.items:,} ways",
                    limit="items",
                )
            known = self._ids[kernel] = len(self._kernels)
            self._kernels.append(kernel)
        return known

    def kernel(self, number: int) -> Kernel:
        return self._kernels[number]

    def reach(self, places: Iterable[Place], items: Iterable[Item] = ()) -> Reached:
        """Where `places` lead, rules that end on the way included; `items` are kept beside."""
        found = set(items)
        ended: set[int] = set()
        whole = False
        seen: set[Place] = set()
        returned: set[Return] = set()
        stack = list(places)
        while stack:
            place = stack.pop()
            if place in seen:
                continue
            seen.add(place)
            expansion = self.network.expand(place.node, place.counters)
            found.update(
                Item(step.symbol, step.next, step.counters, place.then) for step in expansion.steps
            )
            if not expansion.ends or place.then in returned:
                continue
            returned.add(place.then)
            rule, kernel = place.then
            if kernel == BELOW:
                ended.add(rule)
            elif kernel == WHOLE:
                whole = True
            else:
                stack += self.outlook(kernel).waiting[rule]
        return Reached(self._without_lesser(found), frozenset(ended), whole)

    def _without_lesser(self, items: set[Item]) -> Kernel:
        """`items` but for those that count higher than another, once both may stop counting."""
        lowest: dict[Item, int] = {}
        kept: list[Item] = []
        for item in items:
            counted = self.network.counted(item.next, item.counters)
            if counted is None or counted[1] < counted[0]:
                kept.append(item)
                continue
            alike = item._replace(counters=item.counters[:-1])
            lowest[alike] = min(counted[1], lowest.get(alike, counted[1]))
        if not lowest:
            return frozenset(items)
        best = (i._replace(counters=(*i.counters, count)) for i, count in lowest.items())
        return frozenset((*kept, *best))

    def outlook(self, number: int) -> Outlook:
        known = self._outlooks.get(number)
        if known is None:
            known = self._outlooks[number] = self._look(self._kernels[number])
        return known

    def _look(self, kernel: Kernel) -> Outlook:
        network = self.network
        outlook = Outlook({}, {}, {}, {})
        called = {item.symbol.rule for item in kernel if isinstance(item.symbol, Call)}
        rules = {rule for first in called for rule in network.reach[first]}
        returns = _Returns(self, kernel, rules)
        for item in kernel:
            _note(outlook, item.symbol, Place(item.next, item.counters, item.then))
        count = len(kernel)
        for rule in sorted(rules):
            then = returns.of(rule)
            for step in network.expand(network.starts[rule], ()).steps:
                _note(outlook, step.symbol, Place(step.next, step.counters, then))
                count += 1
        if count > self._limits.items:
            raise LimitError(
                f"a text of the grammar can go on in more than {self._limits.items:,} ways",
                limit="items",
            )
        texts = sorted(outlook.texts.items(), key=_number)
        return outlook._replace(texts=dict(texts))

    def moved(self, items: Iterable[Item], onto: int) -> Kernel:
        """`items` with all that returns `BELOW` returning to kernel `onto`."""
        return frozenset(item._replace(then=self._return_moved(item.then, onto)) for item in items)

    def _return_moved(self, then: Return, onto: int) -> Return:
        return Return(then.rule, self._kernel_moved(then.kernel, onto))

    def _kernel_moved(self, kernel: int, onto: int) -> int:
        if kernel == BELOW:
            return onto
        if kernel == WHOLE:
            return kernel
        key = (kernel, onto)
        known = self._moved.get(key)
        if known is None:
            known = self._moved[key] = self.number(self.moved(self._kernels[kernel], onto))
        return known

    def cut(self, kernel: Kernel) -> tuple[Kernel, int] | None:
        """`kernel` with its returns going `BELOW`, and the one kernel to which they all go; None if
        they don't go to one."""
        onto = {item.then.kernel for item in kernel}
        if len(onto) != 1:
            return None
        [below] = onto
        if below in (BELOW, WHOLE):
            return None
        lifted = (item._replace(then=Return(item.then.rule, BELOW)) for item in kernel)
        return frozenset(lifted), below


def _number(entry: tuple[Regular, list[Place]]) -> int:
    return entry[0].number


def _note(outlook: Outlook, symbol: Symbol, place: Place) -> None:
    match symbol:
        case Text(term=term):
            outlook.texts.setdefault(term, []).append(place)
        case Call(rule=rule):
            outlook.waiting.setdefault(rule, []).append(place)
        case JsonValue():
            outlook.values.setdefault(symbol, []).append(place)
        case SpecialToken():
            outlook.tokens.setdefault(symbol, []).append(place)


class _Returns:
    """To where the rules called in one kernel return."""

    def __init__(self, sets: RuleSets, kernel: Kernel, rules: set[int]) -> None:
        self._sets = sets
        self._kernel = kernel
        self._known: dict[int, Return | None] = {}
        self._callers: dict[int, list[tuple[int, Counters, Return | int]]] = {r: [] for r in rules}
        """By rule: where its callers go on, and their return or (called themselves) rule."""
        network = sets.network
        for item in kernel:
            if isinstance(item.symbol, Call):
                self._callers[item.symbol.rule].append((item.next, item.counters, item.then))
        for rule in rules:
            for step in network.expand(network.starts[rule], ()).steps:
                if isinstance(step.symbol, Call):
                    self._callers[step.symbol.rule].append((step.next, step.counters, rule))

    def of(self, rule: int) -> Return:
        """Its callers' own return, where nothing but that comes behind it: so that recursion on
        the right does not pile up returns. Else the items that wait for it. Captures are followed
        by the steps of the start rule, so where there are any, those wait in any case."""
        if rule in self._known:
            known = self._known[rule]
            if known is not None:
                return known  # None: found again while looking for it
        else:
            self._known[rule] = None
            found = self._shared(rule)
            if found is not None:
                self._known[rule] = found
                return found
        own = Return(rule, self._sets.number(self._waiting(rule)))
        self._known[rule] = own
        return own

    def _shared(self, rule: int) -> Return | None:
        found: set[Return] = set()
        for after, _, then in self._callers[rule]:
            if after != END:
                return None
            found.add(self.of(then) if isinstance(then, int) else then)
        if len(found) != 1:
            return None
        [one] = found
        return None if one.kernel == WHOLE and self._sets.network.captures else one

    def _waiting(self, rule: int) -> Kernel:
        """The items of the kernel from which `rule` is called, at first or further on."""
        reach = self._sets.network.reach
        return frozenset(
            item
            for item in self._kernel
            if isinstance(item.symbol, Call) and rule in reach[item.symbol.rule]
        )
