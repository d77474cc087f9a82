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
from collections.abc import Hashable
from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from maskwright.grammar.charset import LAST
from maskwright.grammar.counting import counted
from maskwright.grammar.derivative import Arc, arcs, label
from maskwright.grammar.regular import (
    ANYTHING,
    EMPTY,
    Chars,
    Parallel,
    Regular,
    Vector,
    Words,
    vector,
    word_arcs,
)
from maskwright.grammar.split import split

DEAD: Final = -1
UNBUILT: Final = -1

Int32 = npt.NDArray[np.int32]
UInt8 = npt.NDArray[np.uint8]

_QUOTE: Final = 0x22
_BACKSLASH: Final = 0x5C
_FIRST_LEAD: Final = 0xC2
_LAST_LEAD: Final = 0xF4
_SHORT_ESCAPES: Final = {0x22: 0x22, 0x5C: 0x5C, 0x2F: 0x2F} | {
    ord(c): p for c, p in zip("bfnrt", (8, 12, 10, 13, 9), strict=True)
}
_HEX: Final = [(digit, ord(f"{digit:x}")) for digit in range(16)] + [
    (digit, ord(f"{digit:X}")) for digit in range(10, 16)
]
_SPACES: Final = b" \t\n\r"


# Keys. `inside` is True within a JSON string and False in plain text.
class Text(NamedTuple):
    """At a character boundary of `term`."""

    inside: bool
    term: Regular


class Partial(NamedTuple):
    """Inside a UTF-8 sequence: `left` more bytes decide among code points from `base` on."""

    inside: bool
    term: Regular
    base: int
    left: int


class Within(NamedTuple):
    """Inside a UTF-8 sequence of plain text: `left` more bytes decide among code points from `base`
    on, and in which of `sets`, with its target, the character is."""

    sets: tuple[tuple[Chars, int], ...]
    base: int
    left: int


class Escape(NamedTuple):
    """Behind a backslash in a JSON string."""

    term: Regular


class Hex(NamedTuple):
    """Inside `\\uXXXX`: `left` more digits decide among code units from `base` on."""

    term: Regular
    base: int
    left: int


class LowSurrogate(NamedTuple):
    """Behind the high surrogate `high`: `seen` bytes of the `\\u` that must follow are read."""

    term: Regular
    high: int
    seen: int


class LowHex(NamedTuple):
    """Inside the digits of a low surrogate."""

    term: Regular
    high: int
    base: int
    left: int


class Continuation(NamedTuple):
    """`left` continuation bytes (any), or hexadecimal digits, before `target`."""

    digits: bool
    left: int
    target: int


class Limited(NamedTuple):
    """One byte from `low` to `high` before `target`: where UTF-8 leaves out some second bytes."""

    low: int
    high: int
    target: int


class End(NamedTuple):
    """A leaf has been read; `label` says which."""

    label: Hashable


class Choice(NamedTuple):
    """The start of a JSON string, of a plain text, or of one of `marks` (byte, next state)."""

    inside: Regular
    text: Regular
    marks: tuple[tuple[int, int], ...]


class Entry(NamedTuple):
    """The start of a text of `text` or of one of `marks` (byte, next state).

    With a `label` it may be left at once; that `text` contains the empty text doesn't count.
    """

    text: Regular
    marks: tuple[tuple[int, int], ...]
    label: Hashable


class TokenId(NamedTuple):
    """`left` bytes before the end of a special token's spelling (see `automaton.special`).

    The ids from `base` on are open. `sets` are of ranges (first, last); the label at the end
    says in which of them the id is.
    """

    sets: tuple[tuple[tuple[int, int], ...], ...]
    base: int
    left: int


class TokenRead(NamedTuple):
    """A label: a special token has been read, which is in these of the sets."""

    which: tuple[int, ...]


class Spaced(NamedTuple):
    """At most `left` more bytes of whitespace; may be left at once, with `label`."""

    left: int
    label: Hashable


class Padded(NamedTuple):
    """At most `left` more bytes of whitespace, then as in state `target`."""

    left: int
    target: int


class Literal(NamedTuple):
    """Fixed bytes before `target`."""

    data: bytes
    target: int


class Dead(NamedTuple):
    """Nothing may follow."""


Key = (
    Text
    | Partial
    | Within
    | Escape
    | Hex
    | LowSurrogate
    | LowHex
    | Continuation
    | Limited
    | End
    | Choice
    | Entry
    | TokenId
    | Spaced
    | Padded
    | Literal
    | Dead
)


Row = dict[int, int]


class LeafArrays(NamedTuple):
    """The table as the compiled code reads it; see `automaton.step`."""

    rows: Int32
    """[rows, 256]: next state by byte."""
    base: Int32
    """[states]: row of a state, or UNBUILT."""
    override_start: Int32
    override_stop: Int32
    override_byte: UInt8
    override_next: Int32
    label: Int32
    """[states]: label id, 0 if the state can't be left."""
    gate_low: Int32
    gate_high: Int32
    """[states]: names that can still be reached; high 0 is no gate."""
    eager: UInt8
    """[states]: 1 where the leaf is left as soon as the state is reached; see `Parallel`."""


class LeafTable:
    """Grows only; its states are valid as long as it lives."""

    def __init__(self) -> None:
        self.count = 0
        self.keys: list[Key] = []
        self.labels: list[Hashable] = [None]
        self._ids: dict[tuple[type[Key], Key], int] = {}  # tuples of two kinds may be equal
        self._label_ids: dict[tuple[type, Hashable], int] = {(type(None), None): 0}
        self._row_ids: dict[bytes, int] = {}
        self._expanded: set[int] = set()
        self._tails: dict[int, Int32] = {}
        self._rows = 1
        self._overrides = 0
        self.arrays = LeafArrays(
            rows=np.full((64, 256), DEAD, np.int32),
            base=np.full(256, UNBUILT, np.int32),
            override_start=np.zeros(256, np.int32),
            override_stop=np.zeros(256, np.int32),
            override_byte=np.zeros(256, np.uint8),
            override_next=np.zeros(256, np.int32),
            label=np.zeros(256, np.int32),
            gate_low=np.zeros(256, np.int32),
            gate_high=np.zeros(256, np.int32),
            eager=np.zeros(256, np.uint8),
        )
        self.dead = self.state(Dead())

    # Names

    def state(self, key: Key) -> int:
        """The state of `key`, new if need be."""
        if isinstance(key, Continuation | Limited):
            return self._toward(key)
        typed = (type(key), key)
        known = self._ids.get(typed)
        if known is not None:
            return known
        number = self.count
        self.count += 1
        self._ids[typed] = number
        self.keys.append(key)
        if number >= len(self.arrays.base):
            self._grow_states()
        match key:
            case Text(inside=inside, term=term):
                if not inside:
                    self.arrays.label[number] = self.label_id(label(term) or None)
                    self.arrays.eager[number] = isinstance(term, Parallel) and term.changed
                self._set_gate(number, [term])
            case Partial() | Escape() | Hex() | LowHex() | LowSurrogate():
                if isinstance(key.term, Vector) and key.term.named:
                    self._set_gate(number, [target for _, _, target in _open_arcs(key)])
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

    def _toward(self, key: Continuation | Limited) -> int:
        """The state of `key`; the quick way for what each state between characters has seven of."""
        typed = (type(key), key)
        number = self._ids.get(typed)
        if number is None:
            number = self._ids[typed] = self.count
            self.count += 1
            self.keys.append(key)
            if number >= len(self.arrays.base):
                self._grow_states()
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
            self._store_overrides(state, 0, {key.data[0]: self._behind(key)})
            return
        if isinstance(key, Entry):
            self._build_entry(state, key)
            return
        row = np.full(256, DEAD, np.int32)
        found = self._row(key)
        if found:
            row[list(found)] = list(found.values())
        trunk = self._trunk(key)
        if trunk is None:
            self._store_row(state, row)
        else:
            self._store_difference(state, trunk, row)

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
        row = self.arrays.rows[self.arrays.base[state]]
        living = np.flatnonzero(row != DEAD)
        found = dict(zip(living.tolist(), row[living].tolist(), strict=True))
        for at in range(self.arrays.override_start[state], self.arrays.override_stop[state]):
            byte, target = int(self.arrays.override_byte[at]), int(self.arrays.override_next[at])
            if target == DEAD:
                found.pop(byte, None)
            else:
                found[byte] = target
        return found

    def _row(self, key: Key) -> Row:
        match key:
            case Partial():
                return self._partial_row(key)
            case Limited(low=low, high=high, target=target):
                return dict.fromkeys(range(low, high + 1), target)
            case Escape(term=term):
                return self._escape_row(term)
            case Hex() | LowHex():
                return self._hex_row(key)
            case LowSurrogate(term=term, high=high, seen=seen):
                if seen == 0:
                    return {_BACKSLASH: self.state(LowSurrogate(term, high, 1))}
                return {ord("u"): self.state(LowHex(term, high, 0, 4))}
            case Continuation(digits=digits, left=left, target=target):
                follow = self.state(Continuation(digits, left - 1, target)) if left > 1 else target
                members = [b for _, b in _HEX] if digits else range(0x80, 0xC0)
                return dict.fromkeys(members, follow)
            case Choice(inside=inside, text=text, marks=marks):
                row = {} if text is EMPTY else self.next_states(self.state(Text(False, text)))
                if inside is not EMPTY:
                    row[_QUOTE] = self.state(Text(inside=True, term=counted(inside)))
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
                return self._within_row(key)
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
        self._store_overrides(state, trunk, overrides)

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
            overrides = {
                point: states[target]
                for low, high, target in found.ascii
                for point in range(low, high + 1)
            }
            self._store_overrides(state, 0, overrides)
            return
        row = np.full(256, DEAD, np.int32)
        for low, high, target in found.ascii:
            row[low : high + 1] = states[target]
        sets = tuple((some, states[target]) for some, target in found.beyond)
        if len(sets) == 1 and sets[0][0].ranges == ((0x80, LAST),):
            row[_FIRST_LEAD : _LAST_LEAD + 1] = self._tail(sets[0][1])
        elif sets:
            for byte in range(_FIRST_LEAD, _LAST_LEAD + 1):
                left = 1 if byte < 0xE0 else 2 if byte < 0xF0 else 3
                base = (byte & (0x3F >> left)) << (6 * left)
                row[byte] = self._within(sets, base, left)
        self._store_row(state, row)

    def _within(self, sets: tuple[tuple[Chars, int], ...], base: int, left: int) -> int:
        """The state behind the bytes that leave a block of 64**left code points open."""
        some = [pair for pair in sets if _spelled(pair[0], base, left)]
        if not some:
            return DEAD
        if len(some) == 1 and _spelled(some[0][0], base, left) == 1 << (6 * left):
            return self.state(Continuation(False, left, some[0][1]))
        return self.state(Within(tuple(some), base, left))

    def _within_row(self, key: Within) -> Row:
        row: Row = {}
        step = 1 << (6 * (key.left - 1))
        for at in range(64):
            low = key.base + at * step
            overlong = (key.left == 2 and low < 0x800) or (key.left == 3 and low < 0x10000)
            if low > LAST or 0xD800 <= low < 0xE000 or overlong:
                continue
            if key.left > 1:
                target = self._within(key.sets, low, key.left - 1)
            else:
                target = next((s for some, s in key.sets if _overlap(some, low, low)), DEAD)
            if target != DEAD:
                row[0x80 + at] = target
        return row

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
                row[_FIRST_LEAD : _LAST_LEAD + 1] = self._tail(self.state(Text(inside, target)))
            elif high > 0x7F:
                for byte, follow in self._lead_bytes(inside, term).items():
                    row[byte] = follow
        if inside:
            row[_QUOTE] = row[_BACKSLASH] = DEAD
            if transitions:
                row[_BACKSLASH] = self.state(Escape(term))
            name = label(term)
            if name:
                row[_QUOTE] = self.state(End(name))
        trunk = self._trunk(key)
        if trunk is None:
            self._store_row(state, row)
        else:
            self._store_difference(state, trunk, row)

    def _build_names(self, state: int, term: Regular) -> bool:
        """Build a node of a trie of names, and all below it; False if it is not a plain one.

        Beside the names stands nothing or any other name, so the row is that of the other names
        with the few bytes that go on with one of these.
        """
        if not isinstance(term, Vector) or not term.named or not isinstance(term.parts[0], Words):
            return False
        others = term.parts[1:]
        words = term.parts[0]
        if any(p is not EMPTY and p is not ANYTHING for p in others) or not all(
            name.isascii() for name in words.table.strings[words.low : words.high]
        ):
            return False
        rest = vector((EMPTY, *others), named=True)
        trunk = 0
        if rest is not EMPTY:
            below = self.state(Text(True, rest))
            self.build(below)
            trunk = int(self.arrays.base[below])
        stack = [(state, words)]
        while stack:
            here, node = stack.pop()
            if self.arrays.base[here] != UNBUILT:
                continue
            whole = vector((node, *others), named=True)
            overrides: dict[int, int] = {}
            for point, _, child in word_arcs(node):
                if point >= 0x20 and point not in (_QUOTE, _BACKSLASH):
                    following = self.state(Text(True, vector((child, *others), named=True)))
                    overrides[point] = following
                    stack.append((following, child))
            if node.high > node.low + node.nullable or rest is not EMPTY:
                overrides[_BACKSLASH] = self.state(Escape(whole))
            if node.nullable:
                overrides[_QUOTE] = self.state(End(label(whole)))
            self._store_overrides(here, trunk, overrides)
        return True

    def _tail(self, target: int) -> Int32:
        """The states behind each lead byte where every character outside ASCII goes to `target`."""
        known = self._tails.get(target)
        if known is None:
            one, two, three = (self._toward(Continuation(False, n, target)) for n in (1, 2, 3))
            known = np.full(_LAST_LEAD + 1 - _FIRST_LEAD, two, np.int32)
            known[: 0xE0 - _FIRST_LEAD] = one
            known[0xE0 - _FIRST_LEAD] = self._toward(Limited(0xA0, 0xBF, one))
            known[0xED - _FIRST_LEAD] = self._toward(Limited(0x80, 0x9F, one))
            known[0xF0 - _FIRST_LEAD :] = three
            known[0xF0 - _FIRST_LEAD] = self._toward(Limited(0x90, 0xBF, two))
            known[0xF4 - _FIRST_LEAD] = self._toward(Limited(0x80, 0x8F, two))
            self._tails[target] = known
        return known

    def _lead_bytes(self, inside: bool, term: Regular) -> Row:
        row: Row = {}
        for byte in range(_FIRST_LEAD, _LAST_LEAD + 1):
            left = 1 if byte < 0xE0 else 2 if byte < 0xF0 else 3
            base = (byte & (0x3F >> left)) << (6 * left)
            target = self._partial(inside, term, base, left)
            if target != DEAD:
                row[byte] = target
        return row

    def _partial(self, inside: bool, term: Regular, base: int, left: int) -> int:
        """The state behind the bytes that leave the code points of a block of 64**left open."""
        size = 1 << (6 * left)
        overlong = base < (0x80, 0x800, 0x10000)[left - 1]
        surrogates = base < 0xE000 and base + size > 0xD800
        key = Partial(inside, term, base, left)
        found = _open_arcs(key)
        if not found:
            return DEAD
        if len(found) == 1 and not (overlong or surrogates) and base + size <= 0x110000:
            low, high, target = found[0]
            if low <= base and high >= base + size - 1:
                return self.state(Continuation(False, left, self.state(Text(inside, target))))
        return self.state(key)

    def _partial_row(self, key: Partial) -> Row:
        row: Row = {}
        step = 1 << (6 * (key.left - 1))
        for at in range(64):
            low = key.base + at * step
            high = low + step - 1
            overlong = (key.left == 2 and low < 0x800) or (key.left == 3 and low < 0x10000)
            if low > 0x10FFFF or 0xD800 <= low < 0xE000 or overlong:
                continue
            if key.left > 1:
                target = self._partial(key.inside, key.term, low, key.left - 1)
            else:
                found = _covering(arcs(key.term), low, high)
                target = self.state(Text(key.inside, found[0][2])) if found else DEAD
            if target != DEAD:
                row[0x80 + at] = target
        return row

    def _escape_row(self, term: Regular) -> Row:
        row: Row = {}
        for byte, point in _SHORT_ESCAPES.items():
            found = _covering(arcs(term), point, point)
            if found:
                row[byte] = self.state(Text(True, found[0][2]))
        unit = self._hex(Hex(term, 0, 4))
        if unit != DEAD:
            row[ord("u")] = unit
        return row

    def _hex(self, key: Hex | LowHex) -> int:
        """The state at which the code units of a block of 16**left are open."""
        blocks = _code_points(key)
        found = _open_arcs(key)
        if not found:
            return DEAD
        if isinstance(key, Hex) and key.left == 0 and 0xD800 <= key.base < 0xDC00:
            return self.state(LowSurrogate(key.term, key.base, 0))
        target = found[0][2]
        low, high = blocks[0]
        whole = len(blocks) == 1 and high - low + 1 == 1 << (4 * key.left)
        if whole and found[0][0] <= low and found[0][1] >= high:
            state = self.state(Text(True, target))
            return self.state(Continuation(True, key.left, state)) if key.left else state
        return self.state(key)

    def _hex_row(self, key: Hex | LowHex) -> Row:
        row: Row = {}
        step = 1 << (4 * (key.left - 1))
        for digit, byte in _HEX:
            base = key.base + digit * step
            target = self._hex(key._replace(base=base, left=key.left - 1))
            if target != DEAD:
                row[byte] = target
        return row

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

    def _store_row(self, state: int, row: Int32) -> None:
        data = row.tobytes()
        number = self._row_ids.get(data)
        if number is None:
            number = 0
            if (row != DEAD).any():
                if self._rows >= len(self.arrays.rows):
                    self._replace(rows=_doubled(self.arrays.rows, DEAD))
                number = self._rows
                self._rows += 1
                self.arrays.rows[number] = row
            self._row_ids[data] = number
        self.arrays.base[state] = number

    def _store_difference(self, state: int, trunk: int, row: Int32) -> None:
        """Store `row` as its differences from row `trunk`."""
        differing = np.flatnonzero(row != self.arrays.rows[trunk])
        if len(differing) > 8:
            self._store_row(state, row)
            return
        pairs = zip(differing.tolist(), row[differing].tolist(), strict=True)
        self._store_overrides(state, trunk, dict(pairs))

    def _store_overrides(self, state: int, trunk: int, overrides: Row) -> None:
        start, stop = self._overrides, self._overrides + len(overrides)
        while stop > len(self.arrays.override_byte):
            self._replace(
                override_byte=_doubled(self.arrays.override_byte, 0),
                override_next=_doubled(self.arrays.override_next, 0),
            )
        for at, (byte, target) in enumerate(overrides.items(), start):
            self.arrays.override_byte[at] = byte
            self.arrays.override_next[at] = target
        self.arrays.override_start[state] = start
        self.arrays.override_stop[state] = stop
        self._overrides = stop
        self.arrays.base[state] = trunk

    def _grow_states(self) -> None:
        old = self.arrays
        self._replace(
            base=_doubled(old.base, UNBUILT),
            override_start=_doubled(old.override_start, 0),
            override_stop=_doubled(old.override_stop, 0),
            label=_doubled(old.label, 0),
            gate_low=_doubled(old.gate_low, 0),
            gate_high=_doubled(old.gate_high, 0),
            eager=_doubled(old.eager, 0),
        )

    def _replace(self, **arrays: npt.NDArray[Any]) -> None:
        self.arrays = self.arrays._replace(**arrays)


def _open_arcs(key: Partial | Escape | Hex | LowHex | LowSurrogate) -> list[Arc]:
    """The transitions of a key's term by the code points that a character begun can become."""
    transitions = arcs(key.term)
    return [arc for low, high in _code_points(key) for arc in _covering(transitions, low, high)]


def _code_points(
    key: Partial | Escape | Hex | LowHex | LowSurrogate,
) -> list[tuple[int, int]]:
    """The ranges of code points that a character begun can still become."""
    match key:
        case Partial(base=base, left=left):
            low = max(base, (0x80, 0x800, 0x10000)[left - 1])
            high = min(base + (1 << (6 * left)) - 1, 0x10FFFF)
            parts = [(low, min(high, 0xD7FF)), (max(low, 0xE000), high)]
        case Escape():
            parts = [(0, 0xD7FF), (0xE000, 0x10FFFF)]
        case LowSurrogate(high=unit):
            plane = 0x10000 + ((unit - 0xD800) << 10)
            parts = [(plane, plane + 0x3FF)]
        case LowHex(high=unit, base=low, left=left):
            plane = 0x10000 + ((unit - 0xD800) << 10)
            high = low + (1 << (4 * left)) - 1
            parts = [(plane + max(low, 0xDC00) - 0xDC00, plane + min(high, 0xDFFF) - 0xDC00)]
        case Hex(base=low, left=left):
            high = low + (1 << (4 * left)) - 1
            first, last = max(low, 0xD800), min(high, 0xDBFF)
            parts = [(low, min(high, 0xD7FF)), (max(low, 0xE000), high)]
            if first <= last:
                pairs = 0x10000 + ((first - 0xD800) << 10)
                parts.append((pairs, 0x10000 + ((last - 0xD800) << 10) + 0x3FF))
    return [part for part in parts if part[0] <= part[1]]


@lru_cache(1 << 16)
def _spelled(some: Chars, base: int, left: int) -> int:
    """How many characters of a set are spelled with `left` more bytes, from `base` on."""
    low = max(base, (0x80, 0x800, 0x10000)[left - 1])
    high = base + (1 << (6 * left)) - 1
    return _overlap(some, low, min(high, 0xD7FF)) + _overlap(some, max(low, 0xE000), high)


def _overlap(some: Chars, low: int, high: int) -> int:
    """How many code points from `low` to `high` are in a set."""
    ranges = some.ranges
    at = max(bisect_right(ranges, (low, LAST)) - 1, 0)
    found = 0
    while at < len(ranges) and ranges[at][0] <= high:
        found += max(0, min(high, ranges[at][1]) - max(low, ranges[at][0]) + 1)
        at += 1
    return found


def _covering(transitions: tuple[Arc, ...], low: int, high: int) -> list[Arc]:
    """The transitions that overlap low..high."""
    at = bisect_right(transitions, low, key=_start) - 1
    found: list[Arc] = []
    for arc in transitions[max(at, 0) :]:
        if arc[0] > high:
            break
        if arc[1] >= low:
            found.append(arc)
    return found


def _start(arc: Arc) -> int:
    return arc[0]


def _doubled(array: npt.NDArray[Any], fill: int) -> npt.NDArray[Any]:
    more = np.full_like(array, fill)
    return np.concatenate([array, more])
