"""The rows of leaf states: how they are kept, and how they are filled.

States of long literals and of tries of names differ from a common row in one or two bytes, so a
state is a shared *base row* and a few *overrides*. Equal rows are stored once.
"""

from hashlib import blake2b

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from maskwright.native cimport BUILT_FROM, int32s, uint8s, uint64s
from maskwright.native import require_built

require_built(__name__, BUILT_FROM)

Row = dict[int, int]

cdef enum:
    MOST_OVERRIDES = 8
    QUOTE = 0x22
    BACKSLASH = 0x5C
    LETTER_U = 0x75
    ZERO = 0x30
    # What may have been read at a place; see `WordPlaces.fill`. The states of the last one have
    # their rows built elsewhere.
    KINDS = 5
    ESCAPED = 1
    FILLED = 4


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

    def weigh(self, int32_t state, const int64_t[::1] weights not None):
        cdef int32_t byte
        cdef int64_t total = 0
        self.check(state)
        if self.c.base[state] < 0:
            raise ValueError(f"leaf state {state} has not been built")
        if weights.shape[0] != 256:
            raise ValueError(f"there are 256 bytes, not {weights.shape[0]}")
        for byte in range(256):
            if next_leaf(&self.c, state, <uint8_t>byte) != DEAD:
                total += weights[byte]
        return total

    def first_bytes(self, int32_t state, const uint8_t[::1] order not None):
        cdef int32_t reached[256]
        cdef int32_t at, number, target, count = 0
        cdef list found = []
        self.check(state)
        if self.c.base[state] < 0:
            raise ValueError(f"leaf state {state} has not been built")
        if order.shape[0] > 256:
            raise ValueError(f"there are 256 bytes, not {order.shape[0]}")
        for at in range(<int32_t>order.shape[0]):
            target = next_leaf(&self.c, state, order[at])
            if target == DEAD:
                continue
            # States mostly have few successors, the usual one at the end.
            number = count - 1
            while number >= 0 and reached[number] != target:
                number -= 1
            if number < 0:
                reached[count] = target
                count += 1
                found.append((order[at], target))
        return found

    def fill(self, int32_t state, dict targets not None, trunk):
        cdef int32_t row[256]
        cdef int32_t at
        cdef uint8_t byte
        if trunk == 0 and len(targets) <= MOST_OVERRIDES:
            self.override(state, 0, targets)
            return
        for at in range(256):
            row[at] = DEAD
        for byte, at in targets.items():
            row[byte] = at
        self.put(state, row, trunk)

    cdef int put(self, int32_t state, const int32_t *row, trunk) except -1:
        """Give a state its row of 256 next states."""
        cdef const int32_t *other
        cdef int32_t byte, differing = 0
        self.check(state)
        if trunk is not None:
            other = self.c.targets[self.check_row(trunk)]
            for byte in range(256):
                differing += row[byte] != other[byte]
            if differing <= MOST_OVERRIDES:
                self.override(
                    state, trunk, {byte: row[byte] for byte in range(256) if row[byte] != other[byte]}
                )
                return 0
        self.c.base[state] = self.number(row)
        return 0

    cdef int32_t check_row(self, int32_t row) except -1:
        if not 0 <= row < self.rows:
            raise IndexError(f"there is no row {row}")
        return row

    cdef int32_t number(self, const int32_t *row) except -1:
        """The number of a row, which is entered if it is new."""
        cdef int32_t number = 0, byte
        cdef uint64_t living[4]
        digest = blake2b((<const char *>row)[: 256 * sizeof(int32_t)], digest_size=16).digest()
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


cdef _doubled(array, fill):
    return np.concatenate([array, np.full_like(array, fill)])


cdef class WordPlaces:
    def __cinit__(self, tuple words):
        cdef Py_ssize_t at, count = len(words)
        cdef int32_t stop = 0
        self.text = "".join(words).encode("ascii")
        self.words = <int32_t>count
        self.numbers = <int32_t *>malloc((3 * count + 5 * (len(self.text) + 1)) * sizeof(int32_t))
        if self.numbers == NULL:
            raise MemoryError(f"{count} words")
        self.stop, self.shared, self.first = (
            self.numbers, self.numbers + count, self.numbers + 2 * count
        )
        for at in range(count):
            stop += <int32_t>len(<str>words[at])
            self.stop[at] = stop
        self.number()

    def __dealloc__(self):
        free(self.numbers)

    cdef int number(self) except -1:
        """Number the places, and fill in what is known by word and by place."""
        cdef const uint8_t *text = self.text
        cdef int32_t size = 1, before = 0, start = 0, same, most, word, depth, length
        cdef int32_t *path
        for word in range(self.words):
            same = 0
            if word:
                most = min(self.stop[word] - start, start - before)
                while same < most and text[before + same] == text[start + same]:
                    same += 1
            self.shared[word] = same
            self.first[word] = size
            size += self.stop[word] - start - same
            before, start = start, self.stop[word]
        self.size = size
        self.low = self.numbers + 3 * self.words
        self.high, self.ended, self.depth, self.parent = (
            self.low + size, self.low + 2 * size, self.low + 3 * size, self.low + 4 * size
        )
        memset(self.low, 0, 5 * size * sizeof(int32_t))
        self.high[0] = self.words
        path = <int32_t *>calloc(len(self.text) + 1, sizeof(int32_t))
        if path == NULL:
            raise MemoryError(f"{size} places in words")
        size, start = 1, 0
        for word in range(self.words):
            length = self.stop[word] - start
            for depth in range(1, length + 1):
                if depth > self.shared[word]:
                    path[depth] = size
                    self.parent[size] = path[depth - 1]
                    self.low[size] = word
                    self.depth[size] = depth
                    size += 1
                self.high[path[depth]] = word + 1
            self.ended[path[length]] = 1
            start += length
        free(path)
        return 0

    cdef uint8_t letter(self, int32_t place) noexcept:
        """The character that leads to a place, which is not the root."""
        cdef const uint8_t *text = self.text
        cdef int32_t word = self.low[place]
        return text[(self.stop[word - 1] if word else 0) + self.depth[place] - 1]

    def place(self, int32_t word, int32_t depth):
        if depth == 0:
            return 0
        if not 0 <= word < self.words:
            raise IndexError(f"there is no word {word}")
        return self.first[word] + depth - self.shared[word] - 1

    def words_at(self, int32_t place):
        if not 0 <= place < self.size:
            raise IndexError(f"there is no place {place}")
        return self.low[place], self.high[place], self.depth[place]

    def fill(
        self, LeafRows rows, int32_t state, list ends, trunks, alike, bint is_open, bint bare,
        bint gated
    ):
        cdef int32_t size = self.size, place, at, kind, own
        cdef int32_t trunk[FILLED]
        cdef int32_t *following
        cdef Leaves *c = &rows.c
        cdef uint8_t letter, escape
        if len(ends) != self.words:
            raise ValueError(f"{self.words} words have {len(ends)} states after them")
        if len(trunks) != FILLED or len(alike) != KINDS:
            raise ValueError(f"there are {FILLED} kinds of rows and {KINDS} of states")
        for kind in range(FILLED):
            trunk[kind] = rows.check_row(trunks[kind])
        rows.make_room(state + KINDS * size - 1)
        rows.reserve(7 * size)
        following = <int32_t *>calloc(FILLED * size, sizeof(int32_t))
        if following == NULL:
            raise MemoryError(f"{size} places in words")
        # How many bytes lead on from each place, and after a backslash there.
        for place in range(1, size):
            letter = self.letter(place)
            following[self.parent[place]] += _is_plain(letter)
            following[size + self.parent[place]] += _short_escape(letter) != 0
        for place in range(size):
            following[place] += self.ended[place] + self.is_escapable(place, is_open, bare)
            for kind in range(ESCAPED, FILLED):
                following[kind * size + place] += self.goes_on(place)
        # Where the overrides of each begin.
        at = rows.overrides
        for own in range(FILLED * size):
            c.base[state + own] = trunk[own // size]
            c.override_start[state + own] = at
            at += following[own]
            following[own] = c.override_start[state + own]
            c.override_stop[state + own] = at
        rows.overrides = at
        for place in range(size):
            if self.ended[place]:
                add(c, following + place, QUOTE, ends[self.low[place]])
            if self.is_escapable(place, is_open, bare):
                add(c, following + place, BACKSLASH, state + size + place)
            if self.goes_on(place):  # all characters are ASCII
                for kind in range(ESCAPED, FILLED):
                    own = kind * size + place
                    letter = LETTER_U if kind == ESCAPED else ZERO
                    add(c, following + own, letter, state + own + size)
            if place:
                letter = self.letter(place)
                escape = _short_escape(letter)
                if _is_plain(letter):
                    add(c, following + self.parent[place], letter, state + place)
                if escape:
                    add(c, following + size + self.parent[place], escape, state + place)
        free(following)
        for kind in range(KINDS):
            at = alike[kind]
            for place in range(size):
                own = state + kind * size + place
                c.ready_leaf[own] = at
                if gated:  # an escape doesn't spell the end of a word
                    c.gate_low[own] = self.low[place] + (self.ended[place] if kind else 0)
                    c.gate_high[own] = self.high[place]

    cdef bint is_escapable(self, int32_t place, bint is_open, bint bare) noexcept:
        """Whether a backslash may come at a place."""
        return is_open or (self.goes_on(place) and not bare)

    cdef bint goes_on(self, int32_t place) noexcept:
        """Whether a word has a further character."""
        return self.high[place] > self.low[place] + self.ended[place]


cdef inline void add(Leaves *leaves, int32_t *at, uint8_t byte, int32_t target) noexcept:
    """Enter an override where `at` says, which moves on."""
    leaves.override_byte[at[0]] = byte
    leaves.override_next[at[0]] = target
    at[0] += 1


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
