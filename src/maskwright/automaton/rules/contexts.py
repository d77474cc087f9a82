"""Context-free grammars as contexts of the byte machine.

A context is an item set (see `rule_sets`) and its leaf is every text that the set can read next.
Where one of them ends, or dies while others live, the leaf is left at once, and the context behind
it has the items that are left: those still being read, and what follows those that ended.

The machine's stack holds kernels that are waiting. When all items of a set return to one kernel,
that kernel is pushed below and the set forgets which it was; so contexts don't depend on how deep
they are nested, and there are few of them. When a rule of such a set ends, the set is popped: it is
a result, which the kernel below takes up into a set of its own. Nothing depends on when sets are
cut so; any cut is exact.

JSON values are contexts of `JsonContexts` on the same stack.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from enum import Enum
from typing import Final, NamedTuple

from maskwright.automaton.finish.bounds import Bound
from maskwright.automaton.finish.levels import Ending
from maskwright.automaton.json.contexts import JsonContexts, Satisfied
from maskwright.automaton.leaf.exits import Over
from maskwright.automaton.leaf.keys import End, Entry, TokenId, TokenRead
from maskwright.automaton.leaf.keys import Text as TextState
from maskwright.automaton.leaf.special_tokens import LEAD, LENGTH
from maskwright.automaton.leaf.table import LeafTable
from maskwright.automaton.machine.exits import BLOCKED, DONE, NO_FRAME, POP, PUSH, STAY, Exit
from maskwright.automaton.rules.finish import RuleFinish
from maskwright.automaton.rules.follow import bytes_ahead
from maskwright.automaton.rules.item_sets import (
    WHOLE,
    Item,
    Kernel,
    Place,
    Reached,
    Return,
    RuleSets,
)
from maskwright.automaton.rules.network import RuleNetwork
from maskwright.automaton.rules.nodes import Call, Symbol, Text
from maskwright.automaton.rules.value_places import value_places
from maskwright.automaton.rules.values import RuleValues
from maskwright.automaton.value.level import Level
from maskwright.errors import UnsupportedGrammarError
from maskwright.grammar.regular.character_classes import split
from maskwright.grammar.regular.parallel import beside
from maskwright.grammar.regular.terms import EMPTY, Parallel, Regular, both, length
from maskwright.grammar.rules.tree import JsonValue, SpecialToken
from maskwright.limits import Limits

UNKNOWN: Final = -1


class Mark(Enum):
    """Labels of leaves."""

    COMPLETE = "the text may end"


class Began(NamedTuple):
    """A JSON value has begun with this byte."""

    byte: int


class Ended(NamedTuple):
    """A result: the text so far ends these rules, or is still in one of the items."""

    kernel: Kernel
    rules: frozenset[int]


class Reading(NamedTuple):
    """The context of a set from which one reads on. With `whole` the text may also end."""

    kernel: int
    whole: bool


class Waiting(NamedTuple):
    """The context of a kernel that waits for what stands above it."""

    kernel: int


class InValue(NamedTuple):
    """A context within a JSON value."""

    contexts: JsonContexts
    number: int


Context = Reading | Waiting | InValue | None


class Read(NamedTuple):
    """Symbols that have been read, with where their rules go on; and symbols that are still being
    read, with what is left of them as items."""

    ended: list[tuple[Symbol, Place]]
    kept: list[tuple[Symbol, Item]]


class RuleContexts:
    """Implements `machine.Contexts` and `completion.Finisher` for one grammar."""

    def __init__(
        self, network: RuleNetwork, values: RuleValues, leaves: LeafTable, limits: Limits
    ) -> None:
        self.network = network
        self.sets = RuleSets(network, limits)
        self.values = values
        self._leaves = leaves
        self._contexts: list[Context] = [None]
        self._ids: dict[Context, int] = {None: DONE}
        self._entries: dict[int, int] = {}
        self._limits: dict[int, int | None] = {}
        """By kernel, see `token_limit`."""
        self._finish = RuleFinish(self.sets, values, limits)
        at_once = network.captures or network.counts_tokens
        self._follow = None if at_once else bytes_ahead(network)

    def check_values(self) -> None:
        """Raises `UnsupportedGrammarError` where a JSON value can't be told from what else may
        begin in its place. A text that goes on beside a value shows when one comes there."""
        for kernel in value_places(self.network):
            number = self.sets.number(kernel)
            self._mark_values(number, beside(tuple(self.sets.outlook(number).texts), None), {})

    # The machine's questions

    def start(self) -> tuple[int, int]:
        place = Place(
            self.network.starts[self.network.start], (), Return(self.network.start, WHOLE)
        )
        first = self._exit(self.sets.reach([place]))
        return first.context, first.leaf

    def exit(self, context: int, label: Hashable, text: str | None = None) -> Exit:
        here = self._contexts[context]
        match here, label:
            case InValue(contexts=contexts, number=number), _:
                found = contexts.exit(number, label, text)
                if found.kind == BLOCKED or found.kind == POP:
                    return found
                following = self._number(InValue(contexts, found.context))
                if found.kind & 3 == STAY:
                    return found._replace(context=following)
                frame = NO_FRAME
                if found.frame != NO_FRAME:
                    frame = self._number(InValue(contexts, found.frame))
                return found._replace(context=following, frame=frame, then=())
            case Reading(), Mark.COMPLETE:
                return Exit(STAY, DONE, self._leaves.dead)
            case Reading(kernel=kernel), Began(byte=byte):
                return self._begin_value(kernel, byte)
            case _:
                read = self.read(context, label)
                places = (place for _, place in read.ended)
                return self._exit(self.sets.reach(places, (item for _, item in read.kept)))

    def read(self, context: int, label: Hashable) -> Read:
        """What a label says of the items of a set."""
        ended: list[tuple[Symbol, Place]] = []
        kept: list[tuple[Symbol, Item]] = []
        match self._contexts[context], label:
            case Reading(kernel=kernel), Parallel(terms=terms, parts=parts):
                texts = self.sets.outlook(kernel).texts
                for term, part in zip(terms, parts, strict=True):
                    symbol = Text(term)
                    if part.nullable:
                        ended += [(symbol, place) for place in texts[term]]
                    if part is not EMPTY and may_go_on(part):
                        kept += [(symbol, Item(Text(part), *place)) for place in texts[term]]
            case Reading(kernel=kernel), Over(terms=terms):
                texts = self.sets.outlook(kernel).texts
                ended += [(Text(term), place) for term in terms for place in texts[term]]
            case Reading(kernel=kernel), TokenRead(which=which):
                tokens = self.sets.outlook(kernel).tokens
                read = [self._token_sets(kernel)[at] for at in which]
                ended += [(token, place) for token in read for place in tokens[token]]
            case Waiting(kernel=kernel), Satisfied(which=which):
                values = self.sets.outlook(kernel).values
                satisfied = [_in_order(values)[at] for at in which]
                ended += [(value, place) for value in satisfied for place in values[value]]
            case Waiting(kernel=kernel), Ended(kernel=left, rules=rules):
                waiting = self.sets.outlook(kernel).waiting
                ended += [(Call(rule), place) for rule in rules for place in waiting[rule]]
                kept += [(item.symbol, item) for item in self.sets.moved(left, kernel)]
            case here, _:
                raise AssertionError(f"{here} has no exit {label}")
        return Read(ended, kept)

    def token_limit(self, context: int) -> int | None:
        """The least number of tokens in which a text that is being read has to end; None if there
        is none."""
        if not self.network.counts_tokens:
            return None
        here = self._contexts[context]
        if not isinstance(here, Reading):
            return None
        known = self._limits.get(here.kernel, UNKNOWN)
        if known == UNKNOWN:
            texts = self.sets.outlook(here.kernel).texts
            spent = (self.network.spent(p.node) for places in texts.values() for p in places)
            limits = [one.tokens for one in spent if one is not None]
            known = self._limits[here.kernel] = min(limits, default=None)
        return known

    def closed(self, context: int, leaf: int, tokens: int) -> Exit | None:
        """The exit from within a text to where those that may have no more than `tokens` tokens
        can only be ended; None within a character."""
        here, key = self._contexts[context], self._leaves.keys[leaf]
        assert isinstance(here, Reading)
        outlook = self.sets.outlook(here.kernel)
        whole = False
        items: list[Item] = []
        match key:
            case Entry():
                terms = parts = tuple(outlook.texts)
                whole = here.whole
                for symbols in (outlook.values, outlook.tokens):
                    items += [Item(s, *place) for s, places in symbols.items() for place in places]
            case TextState(inside=False, term=Parallel(terms=terms, parts=parts)):
                pass
            case _:
                return None
        ended: list[Place] = []
        for symbol, part in zip(terms, parts, strict=True):
            for place in outlook.texts[symbol]:
                spent = self.network.spent(place.node)
                term, after = part, place
                if spent is not None and spent.tokens <= tokens:
                    term = both(part, length(0, spent.tail))
                    after = place._replace(node=spent.next)
                if term.nullable:
                    ended.append(after)
                if term is not EMPTY and may_go_on(term):
                    items.append(Item(Text(term), *after))
        reached = self.sets.reach(ended, items)
        kernel = frozenset(item for item in reached.kernel if not self._is_over(item, tokens))
        return self._exit(reached._replace(kernel=kernel, whole=reached.whole or whole))

    def _is_over(self, item: Item, tokens: int) -> bool:
        """Whether a special token would go on with a text that has had all its tokens."""
        spent = self.network.spent(item.next)
        over = spent is not None and spent.tokens <= tokens
        return over and isinstance(item.symbol, SpecialToken)

    def context(self, number: int) -> Context:
        return self._contexts[number]

    def level(self, context: int) -> Level | None:
        """The level of a JSON value that a context stands for."""
        here = self._contexts[context]
        return here.contexts.level(here.number) if isinstance(here, InValue) else None

    def gate(self, context: int) -> tuple[int, int] | None:
        here = self._contexts[context]
        return here.contexts.gate(here.number) if isinstance(here, InValue) else None

    def bound(self, context: int) -> Bound | None:
        """What rules need takes a search."""
        return None

    def finish(self, contexts: list[int], leaf: int, before: bytes) -> Ending:
        stack = [self._contexts[context] for context in contexts]
        first = stack[0]
        if first is None:
            return Ending(b"")
        if isinstance(first, Reading):
            kernel = self.sets.kernel(first.kernel)
            if first.whole:
                return Ending(b"")
            below = [c.kernel for c in stack[1:] if isinstance(c, Waiting)]
            return Ending(self._finish.of(kernel, below))
        assert isinstance(first, InValue)
        numbers = [c.number for c in stack if isinstance(c, InValue)]
        waiting = [c.kernel for c in stack if isinstance(c, Waiting)]
        found = first.contexts.endings(numbers, leaf, before)
        endings = {tag: text.encode() for tag, text in found.texts.items()}
        values = _in_order(self.sets.outlook(waiting[0]).values)
        return Ending(self._finish.of_value(endings, values, waiting), found.by_text)

    # Sets

    def _exit(self, reached: Reached) -> Exit:
        if reached.ended:
            return Exit(POP, result=Ended(reached.kernel, reached.ended))
        if not reached.kernel:
            return Exit(STAY, DONE, self._leaves.dead)
        if not reached.whole:
            cut = self.sets.cut(reached.kernel)
            if cut is not None:
                above, below = cut
                frame = self._number(Waiting(below))
                return self._enter(PUSH, Reading(self.sets.number(above), False), frame)
        return self._enter(STAY, Reading(self.sets.number(reached.kernel), reached.whole))

    def _enter(self, kind: int, context: Reading, frame: int = NO_FRAME) -> Exit:
        number = self._number(context)
        leaf = self._entries.get(number)
        if leaf is None:
            leaf = self._entries[number] = self._entry(context)
        return Exit(kind, number, leaf, frame=frame)

    def _number(self, context: Context) -> int:
        known = self._ids.get(context)
        if known is None:
            known = self._ids[context] = len(self._contexts)
            self._contexts.append(context)
        return known

    # Leaves

    def _entry(self, context: Reading) -> int:
        """The leaf state of all that a set can read next."""
        outlook = self.sets.outlook(context.kernel)
        text = beside(tuple(outlook.texts), self._ahead(outlook.texts))
        marks: dict[int, int] = {}
        if outlook.values:
            self._mark_values(context.kernel, text, marks)
        if outlook.tokens:
            sets = tuple(token.ids for token in self._token_sets(context.kernel))
            marks[LEAD] = self._leaves.state(TokenId(sets, 0, LENGTH - 1))
        label = Mark.COMPLETE if context.whole else None
        return self._leaves.state(Entry(text, tuple(sorted(marks.items())), label))

    def _ahead(self, texts: Mapping[Regular, list[Place]]) -> tuple[int, ...] | None:
        """The bytes that may come behind each text. Where there are captures or tokens to count,
        none are told: that a reading is no longer possible has to show at once."""
        if self._follow is None:
            return None
        found: list[int] = []
        for places in texts.values():
            behind = 0
            for place in places:
                behind |= self._follow[place.node]
            found.append(behind)
        return tuple(found)

    def _mark_values(self, kernel: int, text: Regular, marks: dict[int, int]) -> None:
        """Mark the bytes with which a value may begin. It is told from its neighbours by them."""
        taken: dict[int, int] = {}
        if text is not EMPTY:
            taken = self._leaves.next_states(self._leaves.state(TextState(False, text)))
        values = self.sets.outlook(kernel).values
        for contexts, group in self.values.groups(_in_order(values)):
            _, leaf = contexts.begin(tuple(self.values.root(value) for value in group))
            for byte in self._leaves.next_states(leaf):
                if byte in taken or byte in marks:
                    other = "text" if byte in taken else "value with other options"
                    raise UnsupportedGrammarError(
                        f"a JSON value may begin with {chr(byte)!r} where a {other} may too: "
                        "write something before one of them that tells them apart"
                    )
                marks[byte] = self._leaves.state(End(Began(byte)))

    def _begin_value(self, kernel: int, byte: int) -> Exit:
        values = self.sets.outlook(kernel).values
        for contexts, group in self.values.groups(_in_order(values)):
            first, leaf = contexts.begin(tuple(self.values.root(value) for value in group))
            target = self._leaves.next_states(leaf).get(byte)
            if target is not None:
                waiting = frozenset(
                    Item(value, *place) for value in group for place in values[value]
                )
                frame = self._number(Waiting(self.sets.number(waiting)))
                return Exit(PUSH, self._number(InValue(contexts, first)), target, frame=frame)
        raise AssertionError(f"no value begins with {byte}")

    def _token_sets(self, kernel: int) -> list[SpecialToken]:
        return sorted(self.sets.outlook(kernel).tokens, key=lambda token: token.ids)


def may_go_on(term: Regular) -> bool:
    """Whether `term` has a text that isn't empty."""
    found = split(term)
    return bool(found.ascii or found.beyond)


def _in_order(values: Iterable[JsonValue]) -> list[JsonValue]:
    return sorted(values, key=lambda value: value.schema.number)
