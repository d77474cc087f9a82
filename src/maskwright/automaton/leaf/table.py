"""The leaf table: byte automata of regular leaves, built lazily, shared by all grammars.

A leaf state is an int. What it stands for is its *key*: a position in the spelling of a `Regular`
(plain UTF-8 text, or the inside of a JSON string with its escapes), a structural choice (the start
of a JSON value, a comma or a bracket), or a run of whitespace. Equal keys are one state, so two
grammars that contain the same pattern share its automaton and all that is computed from it.

Each state has a row of 256 next states (`DEAD` where there is none). States of long literals and
key tries differ from a common row in one or two bytes, so a state is a shared *base row* plus a
few *overrides*. A state with a *label* may be left: the label says what has been read. A state
whose row has not been built yet has base row `UNBUILT`.

A *gate* (low, high) marks a state from which only words low..high-1 of a list of names can be
reached: it is alive only in contexts that still allow one of them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Hashable, Sequence
from typing import Final, overload

from maskwright.automaton.leaf.builder import LeafBuilder
from maskwright.automaton.leaf.characters import must_escape, open_targets
from maskwright.automaton.leaf.keys import (
    WITH_WORDS,
    Begun,
    BesideValue,
    ChoiceState,
    Dead,
    End,
    Entry,
    Key,
    LiteralState,
    Padded,
    Skipped,
    Spaced,
    Text,
    TokenId,
    ValueBegan,
    leaving,
)
from maskwright.automaton.leaf.rows import DEAD, UNBUILT, Row, WordPlaces
from maskwright.automaton.leaf.spelling import BACKSLASH, BETWEEN, DIGITS
from maskwright.automaton.leaf.states import LeafStates
from maskwright.garbage import hide
from maskwright.grammar.regular.derivative import label
from maskwright.grammar.regular.terms import (
    ANY_CHAR,
    ANYTHING,
    EMPTY,
    Parallel,
    Regular,
    Repeat,
    Tagged,
    WordList,
    Words,
    repeat,
    tagged,
    word_slice,
)
from maskwright.immutable import Acyclic


class NameLanguage(Acyclic):
    """A list of words, and what else may be read with it."""

    table: WordList
    others: tuple[Regular, ...] | None
    """The other parts of a named tagged term, each empty or anything; None for the words alone."""

    @property
    def open(self) -> bool:
        """Whether there are other texts than the words."""
        return self.others is not None and self.others.count(EMPTY) < len(self.others)

    @property
    def beyond(self) -> Regular:
        """These other texts."""
        return tagged((EMPTY, *(self.others or ())), named=True)


class WordTrie:
    """The places in a list of words as leaf states, a whole list at a time.

    The first mask before a name of an object visits nearly every place in its names, since a token
    may pass through most of them, also by escapes such as `\\u00`. So all states of such a list are
    made at once, with consecutive numbers; the key of each is computed when it is asked for.
    """

    PARTS: Final = (BETWEEN, BACKSLASH, DIGITS + 4, DIGITS + 3, DIGITS + 2)
    """What has been read of a character; its value is 0."""

    def __init__(self, names: NameLanguage, state: int) -> None:
        """`state`: the first of the states: one for each place, by part."""
        self.names: Final = names
        self.state: Final = state
        self.places: Final = WordPlaces(names.table.strings)
        self.size: Final = self.places.size
        self.count: Final = len(self.PARTS) * self.size
        """How many states there are."""

    def place(self, node: Words) -> int:
        """The number of a place."""
        return self.places.place(node.low, node.depth)

    def key(self, state: int) -> Text | Begun:
        """What one of the states stands for."""
        place = (state - self.state) % self.size
        term: Regular = word_slice(self.names.table, *self.places.words_at(place))
        if self.names.others is not None:
            term = tagged((term, *self.names.others), named=True)
        return _within(term, self.PARTS[(state - self.state) // self.size])


def _within(term: Regular, part: int) -> Text | Begun:
    """In a string, where a part of a character has been read."""
    return Begun(True, term, part, 0) if part else Text(True, term)


def trie_of(term: Regular) -> tuple[NameLanguage, Words] | None:
    """The list of words that `term` is a place in, and the place; None if it is none, or in one
    that isn't made at once."""
    others = None
    if isinstance(term, Tagged) and term.named:
        others = hide(term.parts[1:])
        if others.count(EMPTY) + others.count(ANYTHING) < len(others):
            return None
        term = term.parts[0]
    if not isinstance(term, Words) or not term.table.whole:
        return None
    return NameLanguage(term.table, others), term


_PER_TRIE_STATE: Final = 16
"""States made with a whole list of words take as much as one that was made alone."""


class Keys(Sequence[Key]):
    """What each state stands for; keys of lists of words are made when they are asked for."""

    def __init__(self, known: list[Key | None]) -> None:
        self.known: Final = known
        self._tries: list[WordTrie] = []
        self._firsts: list[int] = []

    def __len__(self) -> int:
        return len(self.known)

    @overload
    def __getitem__(self, state: int) -> Key: ...
    @overload
    def __getitem__(self, state: slice) -> list[Key]: ...
    def __getitem__(self, state: int | slice) -> Key | list[Key]:
        if isinstance(state, slice):
            return [self[each] for each in range(len(self))[state]]
        key = self.known[state]
        if key is None:
            trie = self.trie(state)
            assert trie is not None
            key = self.known[state] = trie.key(state)
        return key

    def trie(self, state: int) -> WordTrie | None:
        """The list of words that a state was made with, if it was."""
        at = bisect_right(self._firsts, state) - 1
        if at < 0 or state >= self._firsts[at] + self._tries[at].count:
            return None
        return self._tries[at]

    def add(self, trie: WordTrie) -> None:
        """The states of a trie come next."""
        self._tries.append(trie)
        self._firsts.append(trie.state)
        self.known.extend([None] * trie.count)


class LeafTable(LeafStates):
    """Grows only; its states are valid as long as it lives."""

    def __init__(self) -> None:
        super().__init__()
        self.keys = Keys(self.known)
        self._tries: dict[NameLanguage, WordTrie] = {}
        self._others: dict[tuple[Regular, ...] | None, tuple[tuple[int, ...], tuple[int, ...]]] = {}
        self._word_ends: dict[tuple[int, ...], list[int]] = {}
        """The states after the closing quotes of the first words of a list, by the rest of their
        labels."""
        self.labels: list[Hashable] = [None]
        self.label_ids: dict[tuple[type, Hashable], int] = {(type(None), None): 0}
        """The numbers of labels in use, by their types: labels of two types may be equal."""
        self._expanded: set[int] = set()
        self._builder = LeafBuilder(self, self.keys)
        self.dead = self.state(Dead())

    def release(self) -> None:
        """Break the cycles of references; no state can be made or built afterwards."""
        vars(self._builder).clear()

    # Names

    def state(self, key: Key) -> int:
        """The state of `key`, new if need be.

        Only what takes no further work follows a state's number: a state is whole, or isn't there.
        """
        known = self.ids[type(key)].get(key)
        if known is not None:
            return known
        if isinstance(key, Skipped):
            return self.skipped(key.part, key.target)
        if isinstance(key, (Text, Begun)) and key.inside:
            known = self._within_string(key)
            if known is not None:
                return known
        match key:
            case Text(term=Parallel() as term):
                name, at_once = leaving(term)
                number = self.new_state(key)
                self.rows.label[number] = self.label_id(name)
                self.rows.eager[number] = at_once
            case Text(inside=inside, term=term):
                number = self.new_state(key)
                if not inside:
                    self.rows.label[number] = self.label_id(label(term) or None)
                self._set_gate(number, [term])
            case Begun():
                targets: list[Regular] = []
                if isinstance(key.term, Tagged) and key.term.named:
                    targets = [target for target, _ in open_targets(key)]
                number = self.new_state(key)
                self._set_gate(number, targets)
            case End(label=name):
                number = self.new_state(key)
                self.rows.label[number] = self.label_id(name)
                self.rows.base[number] = 0
            case Spaced(label=name) | Entry(label=name):
                number = self.new_state(key)
                self.rows.label[number] = self.label_id(name)
            case BesideValue(data=data):
                number = self.new_state(key)
                self.rows.label[number] = self.label_id(ValueBegan(data))
            case Dead():
                number = self.new_state(key)
                self.rows.base[number] = 0
            case ChoiceState() | LiteralState() | Padded() | TokenId():
                number = self.new_state(key)
        return number

    def _within_string(self, key: Text | Begun) -> int | None:
        """The state of a place in a string: a new one where it has neither a label nor a gate, or
        that in a list of words that is made at once; None for others."""
        return self._in_trie(key) if type(key.term) in WITH_WORDS else self.new_state(key)

    def _in_trie(self, key: Text | Begun) -> int | None:
        """The state of a place in a list of words that is made at once."""
        match key:
            case Text(inside=True):
                block = 0
            case Begun(part=part, value=0) if part in WordTrie.PARTS:
                block = WordTrie.PARTS.index(part)
            case _:
                return None
        found = trie_of(key.term)
        if found is None:
            return None
        names, node = found
        trie = self._tries.get(names)
        if trie is None:
            trie = self._tries[names] = self._plant(names)
        return trie.state + trie.place(node) + block * trie.size

    def _plant(self, names: NameLanguage) -> WordTrie:
        """Make the states of a whole list of words."""
        table, others = names.table, names.others
        if others is None:
            ends = [self.state(End(1))] * len(table.strings)
        else:
            beyond = tuple([int(other.nullable) for other in others])
            known = self._word_ends.setdefault(beyond, [])
            for word in range(len(known), len(table.strings)):
                known.append(self.state(End((1 + word, *beyond))))
            ends = known[: len(table.strings)]
        is_open = names.open
        beyond = self._beyond(names) if is_open else None
        trie = hide(WordTrie(names, self.count))
        self.count += trie.count
        self.weight += trie.count // _PER_TRIE_STATE
        self.keys.add(trie)
        own = trie.state
        parts = WordTrie.PARTS
        trunks, alike = beyond or ((0,) * (len(parts) - 1), (own,) * len(parts))
        gated = others is not None and not is_open
        trie.places.fill(self.rows, own, ends, trunks, alike, is_open, table.bare, gated)
        return trie

    def _beyond(self, names: NameLanguage) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The rows, but for the last one, and the states of other texts than the words, by part."""
        known = self._others.get(names.others)
        if known is None:
            keys = [_within(names.beyond, part) for part in WordTrie.PARTS]
            rows = tuple([self._builder.row_of(key) for key in keys[:-1]])
            known = self._others[names.others] = rows, tuple(map(self.state, keys))
        return known

    def label_id(self, name: Hashable) -> int:
        typed = (type(name), name)
        known = self.label_ids.get(typed)
        if known is None:
            known = self.label_ids[typed] = len(self.labels)
            self.labels.append(name)
        return known

    def label_of(self, state: int) -> Hashable:
        return self.labels[self.rows.label[state]]

    def _set_gate(self, number: int, terms: list[Regular]) -> None:
        """The names that some of `terms` can still become, if none can become anything else."""
        names: list[Words] = []
        for term in terms:
            if not isinstance(term, Tagged) or not term.named:
                return
            words = term.parts[0]
            if not isinstance(words, Words) or any(p is not EMPTY for p in term.parts[1:]):
                return
            names.append(words)
        if names:
            self.rows.gate_low[number] = min(words.low for words in names)
            self.rows.gate_high[number] = max(words.high for words in names)

    def after_characters(self, state: int, data: bytes) -> int | None:
        """The state after whole characters that need no escape, in a string of any characters up to
        a number of them; None for other data, or in another state. It needs no rows, and no states
        on the way, where there is one for each character."""
        key = self.keys[state]
        if type(key) is not Text or not key.inside or not isinstance(key.term, Repeat):
            return None
        body, least, most = key.term.body, key.term.least, key.term.most
        if body is not ANY_CHAR or most is None:
            return None
        try:
            characters = data.decode()
        except UnicodeDecodeError:
            return None
        read = len(characters)
        if read > most or any(map(must_escape, data)):
            return None
        return self.state(Text(True, repeat(body, max(0, least - read), most - read)))

    def beside_value(self, text: int, data: bytes) -> int:
        """The state of a text that has come to the state `text`, by `data`, with which a JSON value
        may begin too. A text that has ended is no value."""
        return self._builder.beside_value(text, data)

    # Rows

    def build_other(self, state: int, key: Key) -> None:
        """Give `state` its row, that of a structural place."""
        self._builder.build(state, key)

    def trunk_of(self, key: Text | Begun) -> int | None:
        """See `LeafBuilder.trunk_of`."""
        return self._builder.trunk_of(key)

    def expand(self, state: int, most: int) -> None:
        """Build what can be reached from `state`, nearest first, up to `most` new rows.

        Escapes are left for when a token has one.
        """
        if state in self._expanded:
            return
        queue = deque([state])
        seen = {state}
        built = 0
        while queue and built < most:
            here = queue.popleft()
            if self.rows.base[here] == UNBUILT:
                self.build(here)
                built += 1
            for target in self._targets(here):
                key = self.keys[target]
                if target not in seen and not (isinstance(key, Begun) and key.is_escape):
                    seen.add(target)
                    queue.append(target)
        if not queue:
            self._expanded |= seen

    def _targets(self, state: int) -> list[int]:
        row = self.rows.targets[self.rows.base[state]]
        start, stop = self.rows.override_start[state], self.rows.override_stop[state]
        found = set(row.tolist()) | set(self.rows.override_next[start:stop].tolist())
        found.discard(DEAD)
        return list(found)

    def first_bytes(self, state: int, order: bytes) -> list[tuple[int, int]]:
        """Each state that a byte of `order` leads to, once, after the first such byte."""
        self.build(state)
        return self.rows.first_bytes(state, order)

    def next_states(self, state: int) -> Row:
        """Byte → next state; the plain form of the row, for tests and drawings."""
        return self._builder.next_states(state)
