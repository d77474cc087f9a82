"""The rows of leaf states: how they are kept, and how they are filled.

States of long literals and of tries of names differ from a common row in one or two bytes, so a
state is a shared *base row* and a few *overrides*. Equal rows are stored once.
"""

from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from libc.stdint cimport int32_t, uint8_t, uint64_t

from maskwright.native cimport BUILT_FROM, int32s, uint8s, uint64s
from maskwright.native import require_built

require_built(__name__, BUILT_FROM)

Row = dict[int, int]

cdef enum:
    MOST_OVERRIDES = 8
    QUOTE = 0x22
    BACKSLASH = 0x5C
    LETTER_U = 0x75


class Overrides(NamedTuple):
    start: object
    byte: object
    target: object


cdef class LeafRows:
    def __init__(self):
        self.rows = 1
        self.overrides = 0
        self.numbers = {}
        self.targets = np.full((64, 256), DEAD, np.int32)
        self.living = np.zeros((64, 4), np.uint64)
        self.base = np.full(256, UNBUILT, np.int32)
        self.override_start = np.zeros(256, np.int32)
        self.override_stop = np.zeros(256, np.int32)
        self.override_byte = np.zeros(256, np.uint8)
        self.override_next = np.zeros(256, np.int32)
        self.label = np.zeros(256, np.int32)
        self.gate_low = np.zeros(256, np.int32)
        self.gate_high = np.zeros(256, np.int32)
        self.eager = np.zeros(256, np.uint8)
        self.ready_leaf = np.zeros(256, np.int32)
        self.bind()

    cdef int bind(self) except -1:
        """Take over where the arrays are: they are replaced when they grow."""
        cdef Leaves *c = &self.c
        c.targets = <Targets *>int32s(self.targets.reshape(-1))
        c.living = <Bits *>uint64s(self.living.reshape(-1))
        c.base = int32s(self.base)
        c.override_start = int32s(self.override_start)
        c.override_stop = int32s(self.override_stop)
        c.label = int32s(self.label)
        c.gate_low = int32s(self.gate_low)
        c.gate_high = int32s(self.gate_high)
        c.eager = uint8s(self.eager)
        c.ready_leaf = int32s(self.ready_leaf)
        c.override_byte = uint8s(self.override_byte)
        c.override_next = int32s(self.override_next)
        c.states = <int32_t>len(self.base)
        return 0

    cdef int check(self, int32_t state) except -1:
        if not 0 <= state < self.c.states:
            raise IndexError(f"there is no leaf state {state}")
        return 0

    def is_built(self, int32_t state):
        self.check(state)
        return self.c.base[state] != UNBUILT

    def make_room(self, int32_t state):
        while state >= self.c.states:
            self.base = _doubled(self.base, UNBUILT)
            self.override_start = _doubled(self.override_start, 0)
            self.override_stop = _doubled(self.override_stop, 0)
            self.label = _doubled(self.label, 0)
            self.gate_low = _doubled(self.gate_low, 0)
            self.gate_high = _doubled(self.gate_high, 0)
            self.eager = _doubled(self.eager, 0)
            self.ready_leaf = _doubled(self.ready_leaf, 0)
            self.bind()

    def next_states(self, int32_t state):
        cdef int32_t at, byte
        cdef const int32_t *row
        cdef dict found = {}
        self.check(state)
        if self.c.base[state] < 0:
            raise ValueError(f"leaf state {state} has not been built")
        row = self.c.targets[self.c.base[state]]
        for byte in range(256):
            if row[byte] != DEAD:
                found[byte] = row[byte]
        for at in range(self.c.override_start[state], self.c.override_stop[state]):
            byte = self.c.override_byte[at]
            if self.c.override_next[at] == DEAD:
                found.pop(byte, None)
            else:
                found[byte] = self.c.override_next[at]
        return found

    def store(self, int32_t state, const int32_t[::1] row, trunk):
        cdef const int32_t *other
        cdef int32_t byte, differing = 0
        if row.shape[0] != 256:
            raise ValueError(f"a row has 256 next states, not {row.shape[0]}")
        self.check(state)
        if trunk is not None:
            other = self.c.targets[self.check_row(trunk)]
            for byte in range(256):
                differing += row[byte] != other[byte]
            if differing <= MOST_OVERRIDES:
                self.override(
                    state, trunk, {byte: row[byte] for byte in range(256) if row[byte] != other[byte]}
                )
                return
        self.c.base[state] = self.number(row)

    cdef int32_t check_row(self, int32_t row) except -1:
        if not 0 <= row < self.rows:
            raise IndexError(f"there is no row {row}")
        return row

    cdef int32_t number(self, const int32_t[::1] row) except -1:
        """The number of a row, which is entered if it is new."""
        cdef int32_t number = 0, byte
        cdef uint64_t living[4]
        digest = blake2b(row, digest_size=16).digest()
        known = self.numbers.get(digest)
        if known is not None:
            return known
        living[:] = [0, 0, 0, 0]
        for byte in range(256):
            if row[byte] != DEAD:
                living[byte >> 6] |= (<uint64_t>1) << (byte & 63)
        if living[0] | living[1] | living[2] | living[3]:
            if self.rows >= len(self.targets):
                self.targets = _doubled(self.targets, DEAD)
                self.living = _doubled(self.living, 0)
                self.bind()
            number = self.rows
            self.rows += 1
            for byte in range(256):
                self.c.targets[number][byte] = row[byte]
            for byte in range(4):
                self.c.living[number][byte] = living[byte]
        self.numbers[digest] = number
        return number

    cdef int reserve(self, Py_ssize_t count) except -1:
        """Make room for further overrides."""
        while self.overrides + count > len(self.override_byte):
            self.override_byte = _doubled(self.override_byte, 0)
            self.override_next = _doubled(self.override_next, 0)
            self.bind()
        return 0

    def override(self, int32_t state, int32_t trunk, dict overrides):
        cdef int32_t at = self.overrides
        self.check(state)
        self.check_row(trunk)
        self.reserve(len(overrides))
        for byte, target in overrides.items():
            self.c.override_byte[at] = byte
            self.c.override_next[at] = target
            at += 1
        self.c.override_start[state] = self.overrides
        self.c.override_stop[state] = at
        self.overrides = at
        self.c.base[state] = trunk

    def override_all(self, int32_t state, trunks, rows):
        first, count, states = self.overrides, len(rows.byte), len(rows.start) - 1
        block = states // len(trunks)
        stop = state + states
        self.reserve(count)
        self.override_byte[first : first + count] = rows.byte
        self.override_next[first : first + count] = rows.target
        self.override_start[state:stop] = first + rows.start[:states]
        self.override_stop[state:stop] = first + rows.start[1:]
        for at, trunk in enumerate(trunks):
            self.base[state + at * block : state + (at + 1) * block] = trunk
        self.overrides += count


cdef _doubled(array, fill):
    return np.concatenate([array, np.full_like(array, fill)])


cdef class WordPlaces:
    cdef readonly object low, high, ended, depth, first, shared
    cdef readonly int32_t size
    cdef const uint8_t[::1] text
    cdef object stop

    def __init__(self, const uint8_t[::1] text, stop):
        cdef int32_t[::1] first, shared
        cdef const int32_t[::1] stops = stop
        self.text, self.stop = text, stop
        if len(stop) and stops[stops.shape[0] - 1] != text.shape[0]:
            raise ValueError("the words are not the text")
        first = self.first = np.zeros(len(stop), np.int32)
        shared = self.shared = np.zeros(len(stop), np.int32)
        self.size = _number(text, stops, shared, first)
        self.low, self.high, self.ended, self.depth = np.zeros((4, self.size), np.int32)

    def rows(self, int32_t state, const int32_t[::1] ends, bint is_open, bint bare):
        cdef Py_ssize_t size = self.size, words = len(self.stop)
        cdef Py_ssize_t count = 1, word, depth, length, node, start = 0
        cdef const int32_t[::1] stop = self.stop, shared = self.shared
        cdef int32_t[::1] low = self.low, high = self.high, ended = self.ended, depths = self.depth
        cdef int32_t[::1] first, target, parent = np.zeros(size, np.int32)
        cdef int32_t[::1] over = np.zeros(size, np.int32), escapes = np.zeros(size, np.int32)
        cdef int32_t[::1] path = np.zeros(self.text.shape[0] + 1, np.int32)
        cdef uint8_t[::1] byte
        cdef uint8_t letter, escape
        if ends.shape[0] != words:
            raise ValueError(f"{words} words have {ends.shape[0]} states after them")
        starts = np.zeros(2 * size + 1, np.int32)
        bytes_, targets = np.zeros(5 * size, np.uint8), np.zeros(5 * size, np.int32)
        first, byte, target = starts, bytes_, targets
        high[0] = <int32_t>words
        for word in range(words):
            length = stop[word] - start
            for depth in range(1, length + 1):
                if depth > shared[word]:
                    path[depth] = <int32_t>count
                    parent[count] = path[depth - 1]
                    low[count] = <int32_t>word
                    depths[count] = <int32_t>depth
                    letter = self.text[start + depth - 1]
                    over[path[depth - 1]] += _is_plain(letter)
                    escapes[path[depth - 1]] += _short_escape(letter) != 0
                    count += 1
                high[path[depth]] = <int32_t>(word + 1)
            ended[path[length]] = 1
            start += length
        # How many overrides each place has, and then where they begin.
        for node in range(size):
            over[node] += ended[node]
            over[node] += is_open or (high[node] > low[node] + ended[node] and not bare)
            first[node + 1] = first[node] + over[node]
            over[node] = first[node]
        for node in range(size):
            first[size + node + 1] = first[size + node] + escapes[node]
            escapes[node] = first[size + node]
            if high[node] > low[node] + ended[node]:
                first[size + node + 1] += 1
                byte[escapes[node]] = LETTER_U
                target[escapes[node]] = <int32_t>(state + 2 * size + node)
                escapes[node] += 1
        for node in range(size):
            if ended[node]:
                byte[over[node]] = QUOTE
                target[over[node]] = ends[low[node]]
                over[node] += 1
            if is_open or (high[node] > low[node] + ended[node] and not bare):
                byte[over[node]] = BACKSLASH
                target[over[node]] = <int32_t>(state + size + node)
                over[node] += 1
            if node == 0:
                continue
            start = stop[low[node] - 1] if low[node] else 0
            letter = self.text[start + depths[node] - 1]
            escape = _short_escape(letter)
            if _is_plain(letter):
                byte[over[parent[node]]] = letter
                target[over[parent[node]]] = <int32_t>(state + node)
                over[parent[node]] += 1
            if escape:
                byte[escapes[parent[node]]] = escape
                target[escapes[parent[node]]] = <int32_t>(state + node)
                escapes[parent[node]] += 1
        count = first[2 * size]
        return Overrides(starts, bytes_[:count], targets[:count])


cdef int32_t _number(
    const uint8_t[::1] text, const int32_t[::1] stop, int32_t[::1] shared, int32_t[::1] first
) except -1:
    """Fill in what each word shares with the one before it, and the place after the first character
    that it doesn't share; returns how many places there are."""
    cdef int32_t size = 1, before = 0, start = 0, same, most
    cdef Py_ssize_t word
    for word in range(stop.shape[0]):
        same = 0
        if word:
            most = min(stop[word] - start, start - before)
            while same < most and text[before + same] == text[start + same]:
                same += 1
        shared[word] = same
        first[word] = size
        size += stop[word] - start - same
        before, start = start, stop[word]
    return size


cdef uint8_t _short_escape(uint8_t letter) noexcept nogil:
    """The byte that spells a character after a backslash, 0 if there is none."""
    if letter == 0x22 or letter == 0x5C or letter == 0x2F:
        return letter
    if letter == 0x08:
        return c"b"
    if letter == 0x0C:
        return c"f"
    if letter == 0x0A:
        return c"n"
    if letter == 0x0D:
        return c"r"
    if letter == 0x09:
        return c"t"
    return 0


cdef bint _is_plain(uint8_t letter) noexcept nogil:
    """Whether a character is spelled as it is."""
    return letter >= 0x20 and letter != QUOTE and letter != BACKSLASH
