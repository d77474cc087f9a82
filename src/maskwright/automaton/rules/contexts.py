"""Context-free grammars as contexts of the byte machine.

A context is an item set (see `item_sets`), and its leaf reads every text that the set can read
next, all of them at once. Where the texts must be separated (one ends or dies while others go on),
the leaf is left, and the next context has the items that remain: those still being read, and what
follows the texts that have ended.

The machine's stack holds return frames: kernels that wait for a rule to end. When all items of a
set return to one kernel, this kernel is pushed as a frame and the set returns to `BELOW` instead.
So contexts don't depend on how deep they are nested, and there are few of them. When a rule of such
a set ends, the set is popped as a result, and the frame merges it into a set of its own. Frames may
be split off at any time: the texts that are accepted don't depend on it.

Within a JSON value, the contexts on the same stack come from `JsonContexts`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from enum import Enum
from functools import cached_property
from typing import Final

from msgspec.structs import replace

from maskwright.automaton.json.contexts import JsonContexts
from maskwright.automaton.json.labels import Satisfied
from maskwright.automaton.leaf.keys import (
    End,
    Entry,
    Opened,
    PartsEnded,
    TokenId,
    TokenRead,
    ValueBegan,
)
from maskwright.automaton.leaf.keys import Text as TextKey
from maskwright.automaton.leaf.special_tokens import LEAD, LENGTH
from maskwright.automaton.leaf.table import LeafTable
from maskwright.automaton.machine.contexts import Bound, Contexts, Ending
from maskwright.automaton.machine.exits import BLOCKED, DONE, NO_FRAME, POP, PUSH, STAY, Exit
from maskwright.automaton.machine.trace import Left
from maskwright.automaton.rules.completion import RuleCompletion
from maskwright.automaton.rules.follow import NextBytes, endless_number, only_digits
from maskwright.automaton.rules.item_sets import (
    NO_ITEMS,
    Closure,
    Item,
    ItemSets,
)
from maskwright.automaton.rules.network import RuleNetwork
from maskwright.automaton.rules.nodes import BoundedEnd, TextSymbol
from maskwright.automaton.rules.value_places import ValueBeginning, read_beginning, value_places
from maskwright.automaton.rules.values import RuleValues
from maskwright.automaton.value.level import Level
from maskwright.errors import Construct, UnsupportedGrammarError
from maskwright.grammar.regular.derivative import is_live, parallel_start, split
from maskwright.grammar.regular.terms import (
    EMPTY,
    Parallel,
    Regular,
    alt,
    concat,
    intersection,
    length,
    words,
)
from maskwright.grammar.rules.tree import JsonValue, SpecialToken
from maskwright.immutable import Acyclic, Immutable
from maskwright.limits import Limits

UNKNOWN: Final = -1
NO_RULES: Final[frozenset[int]] = frozenset()


class RuleLabel(Enum):
    """Labels of leaves that say nothing of items."""

    COMPLETE = "the text may end"


class RulesEnded(Acyclic):
    """The result of a popped set: either one of `rules` has ended, or the text is still within one
    of the items of `kernel`."""

    kernel: int
    rules: frozenset[int]


class ItemSetContext(Acyclic):
    """A kernel from which the text continues; with `may_end` the whole text may also end."""

    kernel: int
    may_end: bool


class ReturnFrame(Acyclic):
    """A kernel that waits for a rule that it called, which is read above it on the stack."""

    kernel: int


class ValueContext(Immutable):
    """Context `number` of `contexts`, within a JSON value."""

    contexts: JsonContexts
    number: int


RuleContext = ItemSetContext | ReturnFrame | ValueContext | None


class ReadSymbols(Immutable):
    """How far the symbols of a set have been read when its leaf is left."""

    ended: list[Item]
    """The items whose symbols have been read to their end."""
    kept: list[Item]
    """The items for what remains of symbols that are still being read."""
    before: list[Item]
    """Of what symbols, in the same order."""


class BegunValue(Immutable):
    """JSON values that have been begun together."""

    waiting: int
    """The kernel of the items that wait for them."""
    contexts: JsonContexts
    beginning: ValueBeginning


class RuleContexts(Contexts):
    """The contexts of one grammar."""

    def __init__(
        self, network: RuleNetwork, values: RuleValues, leaves: LeafTable, limits: Limits
    ) -> None:
        self.network = network
        # With these, a text that has ended or died has to show at once.
        at_once = network.has_captures or network.counts_tokens or network.has_cuts
        follow = None if at_once else self._next_bytes.of_nodes()
        self.sets = ItemSets(network, limits, follow)
        self.values = values
        self._leaves = leaves
        self._contexts: list[RuleContext] = [None]
        self._ids: dict[RuleContext, int] = {None: DONE}
        self._entries: dict[int, int] = {}
        """The leaf state of each context that has been entered."""
        self._exits: dict[tuple[int, bool], Exit] = {}
        """The exit to each kernel, by whether the whole text may end there."""
        self._has_cuts = network.has_cuts
        self._limits: dict[int, int | None] = {}
        """The `token_limit` of each kernel."""
        self._completion = RuleCompletion(self.sets, values, limits)

    def check_values(self) -> None:
        """Raises `UnsupportedGrammarError` where the first byte can't distinguish a JSON value from
        an alternative that begins in the same place. An alternative that began earlier and is still
        being read is found out only when a text comes there. Raises it also for a number that
        can't end; see `automaton.rules.follow`."""
        self._check_numbers()
        for kernel in value_places(self.sets):
            texts = tuple(self.sets.closure(kernel).texts)
            self._mark_values(kernel, parallel_start(texts, None), {})

    def _check_numbers(self) -> None:
        if not self.network.has_values:
            return
        for value, rules, after in self._next_bytes.after_values():
            if not only_digits(after):
                continue
            _, leaf = self.values.contexts(value).begin((self.values.root(value),))
            if endless_number(self._leaves, leaf, after):
                where = Construct.rules(self.network.names[rule] for rule in rules).name
                raise UnsupportedGrammarError(
                    f"a JSON number in {where} can't end, because only digits may follow it and "
                    "these would belong to it: write something between them, or give the number "
                    "a maximum"
                )

    @cached_property
    def _next_bytes(self) -> NextBytes:
        return NextBytes(self.network)

    def release(self) -> None:
        self.values.release()
        self.network.release()

    # The machine's questions

    def start(self) -> tuple[int, int]:
        """The first context, and its leaf state."""
        found = self.sets.begin(self.sets.start_position())
        first = self._exit(found.kernel, found.may_end)
        return first.context, first.leaf

    def exit(self, context: int, label: Hashable, text: str | None = None) -> Exit:
        here = self._contexts[context]
        if isinstance(here, ValueContext):
            return self._exit_within_value(here, label, text)
        if label is RuleLabel.COMPLETE:
            return Exit(STAY, DONE, self._leaves.dead)
        assert here is not None
        if isinstance(here, ItemSetContext) and isinstance(label, ValueBegan):
            return self._begin_value(here.kernel, label.data)
        if isinstance(label, PartsEnded) and not self._has_cuts:
            reached = self.sets.after_texts(here.kernel, label.terms)
        elif isinstance(label, RulesEnded) and not self._has_cuts:
            reached = self.sets.after_rules(here.kernel, label.rules, label.kernel)
        else:
            read = self.read_symbols(context, label)
            reached = self.sets.advance(read.ended, read.kept)
        return self._exit(reached.kernel, reached.may_end, reached.ended)

    def _exit_within_value(self, here: ValueContext, label: Hashable, text: str | None) -> Exit:
        contexts = here.contexts
        if isinstance(label, Opened):
            return Exit(PUSH, *self._opened(contexts, label.contexts, label.leaf))
        found = contexts.exit(here.number, label, text)
        if found.kind == BLOCKED or found.kind == POP:
            return found
        following = self._number(ValueContext(contexts, found.context))
        if found.kind & 3 == STAY:
            return found._replace(context=following, then=())
        frame = NO_FRAME
        if found.frame != NO_FRAME:
            frame = self._number(ValueContext(contexts, found.frame))
        return found._replace(context=following, frame=frame, then=())

    def read_symbols(self, context: int, label: Hashable) -> ReadSymbols:
        """How far the symbols of a set have been read when its leaf is left with `label`."""
        read = self._read_symbols(context, label)
        if self._has_cuts:
            cut = [item for item in read.ended if self.network.is_cut(item.after.node)]
            if cut:
                return ReadSymbols(cut, [], [])
        return read

    def _read_symbols(self, context: int, label: Hashable) -> ReadSymbols:
        """As `read_symbols`, with what a cut gives up."""
        here, sets = self._contexts[context], self.sets
        assert isinstance(here, ItemSetContext | ReturnFrame)
        closure = sets.closure(here.kernel)
        ended: list[Item] = []
        kept: list[Item] = []
        match label:
            case PartsEnded(terms=terms):
                ended = [item for term in terms for item in closure.texts[term]]
            case RulesEnded(kernel=kernel, rules=rules):
                ended = [item for rule in rules for item in closure.waiting[rule]]
                kept = [*sets.items_of(sets.resolved(kernel, here.kernel))]
            case Parallel(terms=terms, parts=parts):
                before: list[Item] = []
                for term, part in zip(terms, parts, strict=True):
                    items = closure.texts[term]
                    if part.nullable:
                        ended += items
                    if part is not EMPTY and may_go_on(part):
                        rest = TextSymbol(part)
                        before += items
                        kept += [sets.item(rest, item.after) for item in items]
                return ReadSymbols(ended, kept, before)
            case TokenRead(which=which):
                read = [self._token_sets(here.kernel)[at] for at in which]
                ended = [item for token in read for item in closure.tokens[token]]
            case ValueBegan(data=data):
                begun = self._begun(here.kernel, data)
                kept = [] if begun is None else [*sets.items_of(begun.waiting)]
            case Satisfied(which=which):
                satisfied = [_in_order(closure.values)[at] for at in which]
                ended = [item for value in satisfied for item in closure.values[value]]
            case _:
                raise AssertionError(f"{here} has no exit {label}")
        return ReadSymbols(ended, kept, kept)

    def token_limit(self, context: int) -> int | None:
        """The least bound on the tokens of a text that can be read in `context`; None if none of
        the texts is bounded."""
        if not self.network.counts_tokens:
            return None
        here = self._contexts[context]
        if not isinstance(here, ItemSetContext):
            return None
        known = self._limits.get(here.kernel, UNKNOWN)
        if known == UNKNOWN:
            texts = self.sets.closure(here.kernel).texts
            ends = (self._end_of(item) for items in texts.values() for item in items)
            limits = [end.tokens for end in ends if end is not None]
            known = self._limits[here.kernel] = min(limits, default=None)
        return known

    def exit_at_token_limit(self, context: int, leaf: int, tokens: int) -> Exit | None:
        """The exit taken within a text after `tokens` tokens of it: texts that may have no more can
        then only be ended, by what is `last` there and their last `tail` characters, or by these
        alone. None within a character."""
        here, key = self._contexts[context], self._leaves.keys[leaf]
        assert isinstance(here, ItemSetContext)
        closure = self.sets.closure(here.kernel)
        may_end = False
        items: list[Item] = []
        parts = self._parts(closure, leaf)
        if parts is None:
            return None
        if isinstance(key, Entry):
            may_end = here.may_end
            for symbols in (closure.values, closure.tokens):
                items += [item for each in symbols.values() for item in each]
        ended: list[Item] = []
        for symbol, part in parts:
            for item in closure.texts[symbol]:
                term, after = part, item.after
                end = self._end_of(item)
                if end is not None and end.tokens <= tokens:
                    endings = length(0, end.tail)
                    if end.last and not _has_begun_to_end(part, end):
                        said = concat(words([end.last]), length(end.tail, end.tail))
                        endings = alt(endings, said)
                    term = intersection(part, endings)
                    after = self.sets.position(end.next, after.counters, after.return_to)
                if term.nullable:
                    ended.append(self.sets.item(item.symbol, after))
                if term is not EMPTY and may_go_on(term):
                    items.append(self.sets.item(TextSymbol(term), after))
        reached = self.sets.advance(ended, items)
        left = [i for i in self.sets.items_of(reached.kernel) if not self._exceeds(i, tokens)]
        return self._exit(self.sets.kernel(left), reached.may_end or may_end, reached.ended)

    def last_at_token_limit(self, context: int, leaf: int, tokens: int) -> str:
        """What has to be said after `tokens` tokens of a text before it ends, empty if nothing."""
        here = self._contexts[context]
        assert isinstance(here, ItemSetContext)
        closure = self.sets.closure(here.kernel)
        for symbol, part in self._parts(closure, leaf) or ():
            for item in closure.texts[symbol]:
                end = self._end_of(item)
                used_up = end is not None and end.tokens <= tokens
                if end is not None and used_up and not _has_begun_to_end(part, end):
                    return end.last
        return ""

    def _parts(self, closure: Closure, leaf: int) -> tuple[tuple[Regular, Regular], ...] | None:
        """The texts that are read in a leaf, each with what may still follow of it. None within a
        character."""
        match self._leaves.keys[leaf]:
            case Entry():
                return tuple((term, term) for term in closure.texts)
            case TextKey(inside=False, term=Parallel(terms=terms, parts=parts)):
                return tuple(zip(terms, parts, strict=True))
            case _:
                return None

    def _end_of(self, item: Item) -> BoundedEnd | None:
        """The bound on the tokens of an item's text, if it has one."""
        return self.network.bounded_end(item.after.node)

    def _exceeds(self, item: Item, tokens: int) -> bool:
        """Whether an item is a special token in a text that has had all its tokens."""
        end = self._end_of(item)
        used_up = end is not None and end.tokens <= tokens
        return used_up and isinstance(item.symbol, SpecialToken)

    def context(self, number: int) -> RuleContext:
        """What a context stands for; None is the finished text."""
        return self._contexts[number]

    def construct(self, context: int) -> Construct | None:
        """What an error names whose cause is a context: its rules, or the schema of its value."""
        match self._contexts[context]:
            case None:
                return None
            case ValueContext(contexts=contexts, number=number):
                return contexts.construct(number)
            case ItemSetContext(kernel=kernel) | ReturnFrame(kernel=kernel):
                return self.sets.rules_of(kernel)

    def level(self, context: int) -> Level | None:
        here = self._contexts[context]
        return here.contexts.level(here.number) if isinstance(here, ValueContext) else None

    def gate(self, context: int) -> tuple[int, int] | None:
        here = self._contexts[context]
        return here.contexts.gate(here.number) if isinstance(here, ValueContext) else None

    def bound(self, context: int) -> Bound | None:
        """An upper bound on the completion up to the next return frame."""
        match self._contexts[context]:
            case None:
                return Bound(0, 0)
            case ValueContext(contexts=contexts, number=number):
                return contexts.bound(number)
            case ItemSetContext(kernel=kernel):
                after = self._completion.bound_of_set(kernel)
                return Bound(after, after)
            case ReturnFrame(kernel=kernel):
                after = self._completion.bound_of_frame(kernel)
                return Bound(after, after)

    def without_names(self, context: int) -> int:
        here = self._contexts[context]
        if not isinstance(here, ValueContext):
            return context
        return self._number(replace(here, number=here.contexts.without_names(here.number)))

    def leaf_without_names(self, context: int, leaf: int) -> int | None:
        here = self._contexts[context]
        if not isinstance(here, ValueContext):
            return leaf
        return here.contexts.leaf_without_names(here.number, leaf)

    def finish(
        self, contexts: list[int], leaf: int, before: bytes, *, names: bool = True
    ) -> Ending:
        stack = [self._contexts[context] for context in contexts]
        first = stack[0]
        if first is None:
            return Ending(b"")
        if isinstance(first, ItemSetContext):
            if first.may_end:
                return Ending(b"")
            below = [c.kernel for c in stack[1:] if isinstance(c, ReturnFrame)]
            return Ending(self._completion.of_kernel(first.kernel, below))
        assert isinstance(first, ValueContext)
        numbers = [c.number for c in stack if isinstance(c, ValueContext)]
        frames = [c.kernel for c in stack if isinstance(c, ReturnFrame)]
        found = first.contexts.endings(numbers, leaf, before, names=names)
        endings = {tag: text.encode() for tag, text in found.texts.items()}
        values = _in_order(self.sets.closure(frames[0]).values)
        return Ending(self._completion.of_value(endings, values, frames), found.by_text)

    # Sets

    def _exit(self, kernel: int, may_end: bool, ended: frozenset[int] = NO_RULES) -> Exit:
        """The exit to a kernel; a return frame is split off if possible. With `ended`: rules have
        ended below which a return frame waits, or the text goes on from the kernel."""
        if ended:
            return Exit(POP, result=RulesEnded(kernel, ended))
        known = self._exits.get((kernel, may_end))
        if known is None:
            known = self._exits[kernel, may_end] = self._exit_to(kernel, may_end)
        return known

    def _exit_to(self, kernel: int, may_end: bool) -> Exit:
        """`_exit`, not looked up."""
        if kernel == NO_ITEMS:
            return Exit(STAY, DONE, self._leaves.dead)
        split = None if may_end else self.sets.split_frame(kernel)
        if split is None:
            return self._enter(STAY, ItemSetContext(kernel, may_end))
        kernel, caller = split
        return self._enter(PUSH, ItemSetContext(kernel, False), self._number(ReturnFrame(caller)))

    def _enter(self, kind: int, context: ItemSetContext, frame: int = NO_FRAME) -> Exit:
        number = self._number(context)
        leaf = self._entries.get(number)
        if leaf is None:
            leaf = self._entries[number] = self._entry(context)
        return Exit(kind, number, leaf, frame=frame)

    def _number(self, context: RuleContext) -> int:
        """The number of a context, given to it when it is first met."""
        known = self._ids.get(context)
        if known is None:
            known = self._ids[context] = len(self._contexts)
            self._contexts.append(context)
        return known

    # Leaves

    def _entry(self, context: ItemSetContext) -> int:
        """The leaf state at which everything that a set can read next begins."""
        closure = self.sets.closure(context.kernel)
        text = parallel_start(tuple(closure.texts), closure.ahead)
        marks: dict[int, int] = {}
        if closure.values:
            self._mark_values(context.kernel, text, marks)
        if closure.tokens:
            sets = tuple(token.ids for token in self._token_sets(context.kernel))
            marks[LEAD] = self._leaves.state(TokenId(sets, 0, LENGTH - 1))
        label = RuleLabel.COMPLETE if context.may_end else None
        return self._leaves.state(Entry(text, tuple(sorted(marks.items())), label))

    def _mark_values(self, kernel: int, text: Regular, marks: dict[int, int]) -> None:
        """Mark the bytes with which a JSON value may begin, by which it is distinguished from
        `text` and from values with other options. A text that ends with a cut is read on beside the
        value."""
        closure = self.sets.closure(kernel)
        taken = barred = self._next_states(text)
        if self.network.has_cuts:
            uncut = [
                term
                for term, items in closure.texts.items()
                if not all(self.network.is_cut(item.after.node) for item in items)
            ]
            barred = self._next_states(parallel_start(tuple(uncut), None))
        values = closure.values
        for contexts, group in self.values.groups(_in_order(values)):
            _, leaf = contexts.begin(tuple(self.values.root(value) for value in group))
            for byte in self._leaves.next_states(leaf):
                if byte in barred or byte in marks:
                    other = "text" if byte in barred else "value with other options"
                    raise UnsupportedGrammarError(
                        f"a JSON value may begin with {chr(byte)!r} where a {other} may too: "
                        "write something before one of them that distinguishes them"
                    )
                begun = bytes([byte])
                if byte in taken:
                    marks[byte] = self._leaves.beside_value(taken[byte], begun)
                else:
                    marks[byte] = self._leaves.state(End(ValueBegan(begun)))

    def _next_states(self, text: Regular) -> dict[int, int]:
        """The leaf state after each byte with which `text` may begin."""
        if text is EMPTY:
            return {}
        return self._leaves.next_states(self._leaves.state(TextKey(False, text)))

    def _begin_value(self, kernel: int, data: bytes) -> Exit:
        """The exit into a JSON value that has begun with `data`."""
        begun = self._begun(kernel, data)
        if begun is None:
            return Exit(BLOCKED)
        frame = self._number(ReturnFrame(begun.waiting))
        numbers, leaf = tuple(begun.beginning.contexts), begun.beginning.leaf
        return Exit(PUSH, *self._opened(begun.contexts, numbers, leaf), frame=frame)

    def _opened(
        self, contexts: JsonContexts, numbers: tuple[int, ...], leaf: int
    ) -> tuple[int, int]:
        """The context to push first of several, and the leaf state with which the others follow."""
        first, *others = numbers
        if others:
            leaf = self._leaves.state(End(Opened(tuple(others), leaf)))
        return self._number(ValueContext(contexts, first)), leaf

    def _begun(self, kernel: int, data: bytes) -> BegunValue | None:
        """The values of a set that may begin with `data`, and where they stand then."""
        values = self.sets.closure(kernel).values
        for contexts, group in self.values.groups(_in_order(values)):
            roots = tuple(self.values.root(value) for value in group)
            found = read_beginning(contexts, roots, self._leaves, data)
            if found is not None:
                waiting = self.sets.kernel(item for value in group for item in values[value])
                return BegunValue(waiting, contexts, found)
        return None

    def value_beginning(self, context: int, data: bytes) -> list[Left]:
        """What is left within a JSON value that begins with `data` in `context`."""
        here = self._contexts[context]
        assert isinstance(here, ItemSetContext)
        begun = self._begun(here.kernel, data)
        assert begun is not None
        return [
            replace(left, context=self._number(ValueContext(begun.contexts, left.context)))
            for left in begun.beginning.left
        ]

    def _token_sets(self, kernel: int) -> list[SpecialToken]:
        return sorted(self.sets.closure(kernel).tokens, key=lambda token: token.ids)


def may_go_on(term: Regular) -> bool:
    """Whether `term` has a text that isn't empty."""
    found = split(term)
    return bool(found.ascii or found.beyond)


def _has_begun_to_end(part: Regular, end: BoundedEnd) -> bool:
    """Whether some of the characters that end a text have been read; `part`: its rest."""
    return end.tail > 0 and is_live(intersection(part, length(0, end.tail - 1)))


def _in_order(values: Iterable[JsonValue]) -> list[JsonValue]:
    """Values in the order in which their tags number them."""
    return sorted(values, key=lambda value: value.schema.number)
