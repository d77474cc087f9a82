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

import numpy as np

from maskwright.automaton.leaf_keys import (
    Choice,
    Continuation,
    Dead,
    End,
    Entry,
    Escape,
    Hex,
    Key,
    Limited,
    Literal,
    LowHex,
    LowSurrogate,
    Padded,
    Partial,
    Spaced,
    Text,
    TokenId,
    TokenRead,
    Within,
)
from maskwright.automaton.leaf_rows import DEAD, UNBUILT, LeafArrays, LeafRows, Row
from maskwright.automaton.leaving import leaving
from maskwright.automaton.spelled_characters import (
    BACKSLASH,
    FIRST_LEAD,
    LAST_LEAD,
    QUOTE,
    SpelledCharacters,
    escapable,
    escapes_of,
    must_escape,
    open_arcs,
)
from maskwright.automaton.spelled_sets import SpelledSets
from maskwright.automaton.word_tries import ENDED, HIGH, LOW, Beside, WordTrie, trie_of
from maskwright.grammar.charset import LAST
from maskwright.grammar.counting import counted
from maskwright.grammar.derivative import arcs, label
from maskwright.grammar.regular import (
    ANYTHING,
    EMPTY,
    Parallel,
    Regular,
    Vector,
    Words,
    vector,
    word_arcs,
)
from maskwright.grammar.split import split

_SPACES: Final = b" \t\n\r"


_PER_TRIE_STATE: Final = 16
"""States made with a whole list of words take as much as one that was made alone."""


class Keys(Sequence[Key]):
    """What each state stands for; those of lists of words are found when they are asked for."""

    def __init__(self) -> None:
        self.known: list[Key | None] = []
        self.in_tries = 0
        self._tries: list[WordTrie] = []

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
            at = bisect_right(self._tries, state, key=_first_state) - 1
            key = self.known[state] = self._tries[at].key(state)
        return key

    def add(self, trie: WordTrie) -> None:
        """The states of a trie come next."""
        self._tries.append(trie)
        self.known += [None] * (2 * trie.size)
        self.in_tries += 2 * trie.size


def _first_state(trie: WordTrie) -> int:
    return trie.state


class LeafTable:
    """Grows only; its states are valid as long as it lives."""

    def __init__(self) -> None:
        self.count = 0
        self.keys = Keys()
        self._tries: dict[Beside, WordTrie] = {}
        self.labels: list[Hashable] = [None]
        self._ids: dict[tuple[type[Key], Key], int] = {}  # tuples of two kinds may be equal
        self._label_ids: dict[tuple[type, Hashable], int] = {(type(None), None): 0}
        self._expanded: set[int] = set()
        self._rows = LeafRows()
        self._spelled = SpelledCharacters(self.state)
        self._sets = SpelledSets(self.state)
        self.dead = self.state(Dead())

    @property
    def arrays(self) -> LeafArrays:
        """The table as compiled code reads it; another object whenever it has grown."""
        return self._rows.arrays

    # Names

    def state(self, key: Key) -> int:
        """The state of `key`, new if need be."""
        if isinstance(key, Continuation | Limited):
            return self._toward(key)
        typed = (type(key), key)
        known = self._ids.get(typed)
        if known is not None:
            return known
        if isinstance(key, Text | Escape):
            known = self._in_trie(key)
            if known is not None:
                return known
        number = self._new(typed)
        match key:
            case Text(inside=inside, term=term):
                if isinstance(term, Parallel):
                    name, at_once = leaving(term)
                    self.arrays.label[number] = self.label_id(name)
                    self.arrays.eager[number] = at_once
                elif not inside:
                    self.arrays.label[number] = self.label_id(label(term) or None)
                self._set_gate(number, [term])
            case Partial() | Escape() | Hex() | LowHex() | LowSurrogate():
                if isinstance(key.term, Vector) and key.term.named:
                    self._set_gate(number, [target for _, _, target in open_arcs(key)])
            case End(label=name):
                self.arrays.label[number] = self.label_id(name)
                self.arrays.base[number] = 0
            case Spaced(label=name) | Entry(label=name):
                self.arrays.label[number] = self.label_id(name)
            case Dead():
                self.arrays.base[number] = 0
            case Choice() | Literal() | Padded() | TokenId() | Within():
                pass
        return number

    def _new(self, typed: tuple[type[Key], Key]) -> int:
        number = self._ids[typed] = self.count
        self.count += 1
        self.keys.known.append(typed[1])
        self._rows.make_room(number)
        return number

    @property
    def weight(self) -> int:
        """How many states there are, in terms of what one takes that was made alone."""
        return self.count - self.keys.in_tries + self.keys.in_tries // _PER_TRIE_STATE

    def _in_trie(self, key: Text | Escape) -> int | None:
        """The state of a place in a list of words that is made at once."""
        found = trie_of(key.term)
        if found is None or (isinstance(key, Text) and not key.inside):
            return None
        beside, node = found
        trie = self._tries.get(beside)
        if trie is None:
            trie = self._tries[beside] = self._plant(beside)
        return trie.state + trie.place(node) + (trie.size if isinstance(key, Escape) else 0)

    def _plant(self, beside: Beside) -> WordTrie:
        """Make the states of a whole list of words."""
        table, others = beside
        if others is None:
            ends = [self.state(End(1))] * len(table.strings)
        else:
            beyond = [int(other.nullable) for other in others]
            labels = ((1 + word, *beyond) for word in range(len(table.strings)))
            ends = [self.state(End(each)) for each in labels]
        trunk = 0
        if beside.open:
            below = self.state(Text(True, vector((EMPTY, *(others or ())), named=True)))
            self.build(below)
            trunk = int(self.arrays.base[below])
        trie = WordTrie(beside, self.count)
        self.count += 2 * trie.size
        self.keys.add(trie)
        self._rows.make_room(self.count - 1)
        self._rows.override_all(trie.state, trunk, trie.rows(ends))
        if others is not None and not beside.open:
            low, high, ended = (trie.places[each] for each in (LOW, HIGH, ENDED))
            places, behind = trie.state, trie.state + trie.size
            self.arrays.gate_low[places:behind] = low
            self.arrays.gate_high[places:behind] = high
            self.arrays.gate_low[behind : behind + trie.size] = low + ended
            self.arrays.gate_high[behind : behind + trie.size] = high
        return trie

    def _toward(self, key: Continuation | Limited) -> int:
        """The state of `key`; the quick way for what each state between characters has seven of."""
        typed = (type(key), key)
        number = self._ids.get(typed)
        if number is None:
            number = self._new(typed)
            if self.arrays.gate_high[key.target]:
                self.arrays.gate_low[number] = self.arrays.gate_low[key.target]
                self.arrays.gate_high[number] = self.arrays.gate_high[key.target]
        return number

    def label_id(self, name: Hashable) -> int:
        typed = (type(name), name)
        known = self._label_ids.get(typed)
        if known is None:
            known = self._label_ids[typed] = len(self.labels)
            self.labels.append(name)
        return known

    def label_of(self, state: int) -> Hashable:
        return self.labels[self.arrays.label[state]]

    def _set_gate(self, number: int, terms: list[Regular]) -> None:
        """The names that some of `terms` can still become, if none can become anything else."""
        names: list[Words] = []
        for term in terms:
            if not isinstance(term, Vector) or not term.named:
                return
            words = term.parts[0]
            if not isinstance(words, Words) or any(p is not EMPTY for p in term.parts[1:]):
                return
            names.append(words)
        if names:
            self.arrays.gate_low[number] = min(words.low for words in names)
            self.arrays.gate_high[number] = max(words.high for words in names)

    # Rows

    def build(self, state: int) -> None:
        """Give `state` its row."""
        if self.arrays.base[state] != UNBUILT:
            return
        key = self.keys[state]
        if isinstance(key, Text) and key.inside and self._build_names(state, key.term):
            return
        if isinstance(key, Text):
            self._build_text(state, key)
            return
        if isinstance(key, Literal):
            self._rows.override(state, 0, {key.data[0]: self._behind(key)})
            return
        if isinstance(key, Entry):
            self._build_entry(state, key)
            return
        if isinstance(key, Escape) and self._build_escape(state, key.term):
            return
        row = np.full(256, DEAD, np.int32)
        found = self._row(key)
        if found:
            row[list(found)] = list(found.values())
        self._rows.store(state, row, self._trunk(key))

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
            if self.arrays.base[here] == UNBUILT:
                self.build(here)
                built += 1
            for target in self._targets(here):
                if target not in seen and not isinstance(self.keys[target], Escape):
                    seen.add(target)
                    queue.append(target)
        if not queue:
            self._expanded |= seen

    def _targets(self, state: int) -> list[int]:
        row = self.arrays.rows[self.arrays.base[state]]
        start, stop = self.arrays.override_start[state], self.arrays.override_stop[state]
        found = set(row.tolist()) | set(self.arrays.override_next[start:stop].tolist())
        found.discard(DEAD)
        return list(found)

    def next_states(self, state: int) -> Row:
        """Byte → next state; the plain form of the row, for tests and drawings."""
        self.build(state)
        return self._rows.next_states(state)

    def _row(self, key: Key) -> Row:
        match key:
            case (
                Partial()
                | Limited()
                | Escape()
                | Hex()
                | LowHex()
                | LowSurrogate()
                | Continuation()
            ):
                return self._spelled.row(key)
            case Choice(inside=inside, text=text, marks=marks):
                row = {} if text is EMPTY else self.next_states(self.state(Text(False, text)))
                if inside is not EMPTY:
                    row[QUOTE] = self.state(Text(inside=True, term=counted(inside)))
                return row | dict(marks)
            case Spaced(left=left) | Padded(left=left):
                follow = {} if isinstance(key, Spaced) else self.next_states(key.target)
                if left:
                    shorter = self.state(key._replace(left=left - 1))
                    self.build(shorter)  # a token may run through all of them
                    follow = follow | dict.fromkeys(_SPACES, shorter)
                return follow
            case TokenId():
                return self._token_row(key)
            case Within():
                return self._sets.row(key)
            case Literal():
                return {key.data[0]: self._behind(key)}
            case Text() | Entry() | End() | Dead():
                return {}  # built elsewhere

    def _behind(self, key: Literal) -> int:
        rest = key.data[1:]
        return self.state(Literal(rest, key.target)) if rest else key.target

    def _build_entry(self, state: int, key: Entry) -> None:
        """The row of the text, and the marks."""
        trunk, overrides = 0, dict(key.marks)
        if key.text is not EMPTY:
            text = self.state(Text(False, key.text))
            self.build(text)
            arrays = self.arrays
            trunk = int(arrays.base[text])
            start, stop = int(arrays.override_start[text]), int(arrays.override_stop[text])
            own = arrays.override_byte[start:stop].tolist()
            overrides = dict(zip(own, arrays.override_next[start:stop].tolist(), strict=True))
            overrides |= dict(key.marks)
        self._rows.override(state, trunk, overrides)

    def _token_row(self, key: TokenId) -> Row:
        row: Row = {}
        size = 1 << (7 * (key.left - 1))
        for byte in range(128):
            low = key.base + byte * size
            open_sets = tuple(
                at
                for at, ranges in enumerate(key.sets)
                if any(first < low + size and last >= low for first, last in ranges)
            )
            if open_sets:
                after = TokenId(key.sets, low, key.left - 1)
                row[byte] = self.state(after if after.left else End(TokenRead(open_sets)))
        return row

    def _build_parallel(self, state: int, term: Parallel) -> None:
        found = split(term)
        states = {target: self.state(Text(False, target)) for target in found.targets}
        if not found.beyond and sum(high - low + 1 for low, high, _ in found.ascii) <= 8:
            points = [
                (point, states[target])
                for low, high, target in found.ascii
                for point in range(low, high + 1)
            ]
            self._rows.override(state, 0, dict(points))
            return
        row = np.full(256, DEAD, np.int32)
        for low, high, target in found.ascii:
            row[low : high + 1] = states[target]
        sets = tuple((some, states[target]) for some, target in found.beyond)
        if len(sets) == 1 and sets[0][0].ranges == ((0x80, LAST),):
            row[FIRST_LEAD : LAST_LEAD + 1] = self._spelled.tail(sets[0][1])
        elif sets:
            for byte, follow in self._sets.lead_bytes(sets).items():
                row[byte] = follow
        self._rows.store(state, row, None)

    def _build_text(self, state: int, key: Text) -> None:
        inside, term = key
        if isinstance(term, Parallel):
            self._build_parallel(state, term)
            return
        transitions = arcs(term)
        row = np.full(256, DEAD, np.int32)
        for low, high, target in transitions:
            first = max(low, 0x20) if inside else low
            if first <= min(high, 0x7F):
                row[first : min(high, 0x7F) + 1] = self.state(Text(inside, target))
        if transitions:
            low, high, target = transitions[-1]
            if low <= 0x80 and high == LAST:
                row[FIRST_LEAD : LAST_LEAD + 1] = self._spelled.tail(
                    self.state(Text(inside, target))
                )
            elif high > 0x7F:
                for byte, follow in self._spelled.lead_bytes(inside, term).items():
                    row[byte] = follow
        if inside:
            row[QUOTE] = row[BACKSLASH] = DEAD
            if escapable(term):
                row[BACKSLASH] = self.state(Escape(term))
            name = label(term)
            if name:
                row[QUOTE] = self.state(End(name))
        self._rows.store(state, row, self._trunk(key))

    def _build_names(self, state: int, term: Regular) -> bool:
        """Build a node of a trie of names; False if it is not a plain one.

        Beside the names stands nothing or any other name, so the row is that of the other names
        with the few bytes that go on with one of these.
        """
        if not isinstance(term, Vector) or not term.named or not isinstance(term.parts[0], Words):
            return False
        node, others = term.parts[0], term.parts[1:]
        if any(p is not EMPTY and p is not ANYTHING for p in others) or not node.table.ascii:
            return False
        rest = vector((EMPTY, *others), named=True)
        trunk = 0
        if rest is not EMPTY:
            below = self.state(Text(True, rest))
            self.build(below)
            trunk = int(self.arrays.base[below])
        first = node.low + node.nullable
        overrides: dict[int, int] = {}
        escaped = rest is not EMPTY
        for point, _, child in word_arcs(node):
            escaped |= not node.table.bare or must_escape(point)
            if not must_escape(point):
                following = Text(True, vector((child, *others), named=True))
                overrides[point] = self._named(following, child.low, child.high, rest is EMPTY)
        if escaped:
            overrides[BACKSLASH] = self._named(Escape(term), first, node.high, rest is EMPTY)
        if node.nullable:
            overrides[QUOTE] = self.state(End(label(term)))
        self._rows.override(state, trunk, overrides)
        return True

    def _build_escape(self, state: int, term: Regular) -> bool:
        """Build the state behind a backslash in a list of words; False if it is in none."""
        found = trie_of(term)
        if found is None:
            return False
        beside, node = found
        trunk = 0
        if beside.open:
            below = self.state(Escape(vector((EMPTY, *(beside.others or ())), named=True)))
            self.build(below)
            trunk = int(self.arrays.base[below])
        overrides: dict[int, int] = {}
        first = node.low + node.nullable
        if node.high > first:
            gated = beside.others is not None and not beside.open
            overrides[ord("u")] = self._named(Hex(term, 0, 4), first, node.high, gated)
            for point, _, child in word_arcs(node):
                for byte in escapes_of(point):
                    following: Regular = child
                    if beside.others is not None:
                        following = vector((child, *beside.others), named=True)
                    overrides[byte] = self.state(Text(True, following))
        self._rows.override(state, trunk, overrides)
        return True

    def _named(self, key: Text | Escape | Hex, low: int, high: int, gated: bool) -> int:
        """The state of `key`, from which the words low..high-1 can be reached; `gated`: and no
        other name."""
        typed = (type(key), key)
        number = self._ids.get(typed)
        if number is None:
            number = self._new(typed)
            if gated:
                self.arrays.gate_low[number] = low
                self.arrays.gate_high[number] = high
        return number

    def _trunk(self, key: Key) -> int | None:
        """A row that the row of `key` nearly equals: that of the same key without its words."""
        if isinstance(key, Spaced):
            return 0
        if isinstance(key, Padded):
            return int(self.arrays.base[key.target])
        if not isinstance(key, Text | Escape | Hex):
            return None
        term = key.term
        if isinstance(term, Words):
            return 0
        if not isinstance(term, Vector) or not term.named or term.parts[0] is EMPTY:
            return None
        rest = vector((EMPTY, *term.parts[1:]), named=True)
        if rest is EMPTY:
            return 0
        state = self.state(key._replace(term=rest))
        self.build(state)
        return int(self.arrays.base[state])
