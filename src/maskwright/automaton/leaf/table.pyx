"""The states of leaves and their rows; see `table.pyi`."""

from bisect import bisect_right
from collections import defaultdict

cimport cython
from libc.stdint cimport int32_t, uint8_t

from maskwright.automaton.leaf.characters import (
    beyond_ascii,
    escapable,
    must_escape,
    open_targets,
)
from maskwright.automaton.leaf.keys import (
    WITH_WORDS,
    Begun,
    BesideValue,
    ChoiceState,
    Dead,
    End,
    Entry,
    LiteralState,
    Padded,
    Skipped,
    Spaced,
    Text,
    TokenId,
    TokenRead,
    ValueBegan,
    leaving,
)
from maskwright.automaton.leaf.rows cimport (
    DEAD,
    UNBUILT,
    LeafRows,
    WordPlaces,
    next_leaf,
)
from maskwright.automaton.leaf.spelling cimport (
    ANY_DIGITS,
    BACKSLASH,
    BETWEEN,
    DIGITS,
    PAIR_DIGITS,
    Character,
    Points,
    points_of,
    read_byte,
    skipped,
)
from maskwright.garbage cimport hide
from maskwright.grammar.regular.derivative cimport label, split
from maskwright.grammar.regular.length_bounds import counted
from maskwright.grammar.regular.overlay cimport Split
from maskwright.grammar.regular.terms import ANY_CHAR
from maskwright.grammar.regular.terms cimport (
    ANYTHING_TERM,
    EMPTY_TERM,
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
from maskwright.native cimport BUILT_FROM
from maskwright.native import require_built
from maskwright.steps cimport spend

require_built(__name__, BUILT_FROM)

cdef enum:
    LAST_ASCII = 0x7F
    QUOTE = 0x22
    BACKSLASH_BYTE = 0x5C
    FIRST_PLAIN = 0x20  # JSON writes no character below as it is
    AFTER_ESCAPE = 24  # what may follow within an escape: digits, or letters
    PER_ROW = 4  # steps that a row counts as: it takes some 20 microseconds
    # States made with a whole list of words that take as much as one that was made alone.
    PER_TRIE_STATE = 16
    # What may have been read of a character in such a list; see `_block`.
    BLOCKS = 5

cdef object ANYONE = ANY_CHAR, TEXT = Text, BEGUN = Begun, SKIPPED = Skipped, CHOICE = ChoiceState
cdef object END = End, ENTRY = Entry, LITERAL = LiteralState, SPACED = Spaced, PADDED = Padded
cdef object TOKEN = TokenId, BESIDE = BesideValue, NOWHERE = Dead
cdef frozenset with_words = WITH_WORDS
cdef tuple block_parts = (BETWEEN, BACKSLASH, DIGITS + 4, DIGITS + 3, DIGITS + 2)
cdef bytes spaces = b" \t\n\r"


cdef int32_t _block(int32_t part) noexcept:
    """Which of `block_parts` has been read of a character; -1 if it is none."""
    if part == BETWEEN:
        return 0
    if part == BACKSLASH:
        return 1
    return DIGITS + 6 - part if DIGITS + 2 <= part <= DIGITS + 4 else -1


cdef _within(term, int32_t part):
    """In a string, where a part of a character has been read."""
    return BEGUN(True, term, part, 0) if part else TEXT(True, term)


@cython.no_gc  # it refers to words and languages
cdef class WordTrie:
    def __cinit__(self, WordList table not None, tuple others, int32_t state):
        self.table, self.others, self.state = table, others, state
        self.places = WordPlaces(table.strings)
        self.count = BLOCKS * self.places.size

    cdef key(self, int32_t state):
        """What one of the states stands for."""
        cdef int32_t place = (state - self.state) % self.places.size
        cdef Regular term
        low, high, depth = self.places.words_at(place)
        term = word_slice(self.table, low, high, depth)
        if self.others is not None:
            term = tagged((term, *self.others), named=True)
        return _within(term, block_parts[(state - self.state) // self.places.size])


cdef class Keys:
    def __init__(self, list known not None):
        self.known, self.tries, self.firsts = known, [], []

    def __len__(self):
        return len(self.known)

    def __getitem__(self, state):
        if isinstance(state, slice):
            return [self.key(each) for each in range(len(self.known))[state]]
        return self.key(state)

    cdef key(self, Py_ssize_t state):
        if not 0 <= state < len(self.known):
            raise IndexError(f"there is no leaf state {state}")
        key = self.known[state]
        if key is None:
            key = self.known[state] = self.trie(state).key(state)
        return key

    cpdef WordTrie trie(self, int32_t state):
        cdef Py_ssize_t at = bisect_right(self.firsts, state) - 1
        cdef WordTrie found
        if at < 0:
            return None
        found = self.tries[at]
        return found if state < found.state + found.count else None


cdef class LeafTable:
    def __init__(self):
        self.rows, self.keys = LeafRows(), Keys(hide([]))
        self.texts, self.begun_ones, self.skipped_ones = {}, {}, {}
        self.others = defaultdict(dict)
        self.tries, self.rows_beside, self.word_ends = {}, {}, {}
        self.labels, self.label_ids = [None], {(type(None), None): 0}
        self.expanded = set()
        self.dead = self.state(NOWHERE())

    # Numbers

    # Only what takes no further work follows a state's number: a state is whole, or isn't there.
    cpdef int32_t state(self, key) except -1:
        cdef int32_t number
        cdef dict ids
        kind = type(key)
        if kind is TEXT:
            ids = self.texts
        elif kind is BEGUN:
            ids = self.begun_ones
        elif kind is SKIPPED:
            return self.skipped(key.part, key.target)
        else:
            ids = self.others[kind]
        known = ids.get(key)
        if known is not None:
            return known
        if kind is TEXT:
            return self.new_text(key)
        if kind is BEGUN:
            return self.new_begun(key)
        number = self.added(ids, key)
        if kind is END or kind is SPACED or kind is ENTRY:
            self.rows.c.label[number] = self.label_id(key.label)
        elif kind is BESIDE:
            self.rows.c.label[number] = self.label_id(ValueBegan(key.data))
        if kind is END or kind is NOWHERE:
            self.rows.c.base[number] = 0
        return number

    cdef int32_t added(self, dict ids, key) except -1:
        """Give a key the next number."""
        cdef int32_t number = self.count
        ids[key] = number
        self.count += 1
        self.weight += 1
        self.keys.known.append(key)
        if number >= self.rows.c.states:
            self.rows.make_room(number)
        return number

    cdef int32_t text(self, inside, term) except -1:
        """The state between two characters of a term."""
        key = TEXT(inside, term)
        known = self.texts.get(key)
        return self.new_text(key) if known is None else known

    cdef int32_t new_text(self, key) except -1:
        cdef Regular term = key.term
        cdef bint inside = key.inside, has_words = type(term) in with_words, at_once = False
        cdef int32_t number
        if inside and has_words:
            number = self.in_trie(term, BETWEEN)
            if number >= 0:
                return number
        if isinstance(term, Parallel):
            name, at_once = leaving(term)
        else:
            name = None if inside else label(term) or None
        number = self.added(self.texts, key)
        self.rows.c.label[number] = self.label_id(name)
        self.rows.c.eager[number] = at_once
        if has_words:
            self.set_gate(number, [term])
        return number

    cdef int32_t begun(self, inside, term, int32_t part, int32_t value) except -1:
        """The state within a character of a term."""
        key = BEGUN(inside, term, part, value)
        known = self.begun_ones.get(key)
        return self.new_begun(key) if known is None else known

    cdef int32_t new_begun(self, key) except -1:
        cdef Regular term = key.term
        cdef list targets = []
        cdef int32_t number
        if type(term) in with_words:
            if key.inside and key.value == 0:
                number = self.in_trie(term, key.part)
                if number >= 0:
                    return number
            if isinstance(term, Tagged) and (<Tagged>term).named:
                targets = [target for target, _ in open_targets(key)]
        number = self.added(self.begun_ones, key)
        self.set_gate(number, targets)
        return number

    cdef int32_t skipped(self, int32_t part, int32_t target) except -1:
        """The state within a character that leads to a target; see `Skipped`."""
        cdef int32_t number
        if part == BETWEEN:
            return target
        key = SKIPPED(part, target)
        known = self.skipped_ones.get(key)
        if known is not None:
            return known
        number = self.added(self.skipped_ones, key)
        if self.rows.c.gate_high[target]:
            self.rows.c.gate_low[number] = self.rows.c.gate_low[target]
            self.rows.c.gate_high[number] = self.rows.c.gate_high[target]
        return number

    cdef int set_gate(self, int32_t number, list terms) except -1:
        """The names that some of the terms can still become, if none can become anything else."""
        cdef Py_ssize_t low = -1, high = 0
        cdef Words words
        for term in terms:
            if not isinstance(term, Tagged) or not (<Tagged>term).named:
                return 0
            parts = (<Tagged>term).parts
            if not isinstance(parts[0], Words) or not _all_empty(parts):
                return 0
            words = parts[0]
            low = words.low if low < 0 else min(low, words.low)
            high = max(high, words.high)
        if terms:
            self.rows.c.gate_low[number], self.rows.c.gate_high[number] = low, high
        return 0

    cpdef int32_t label_id(self, name) except -1:
        cdef tuple typed
        if name is None:
            return 0
        typed = (type(name), name)
        known = self.label_ids.get(typed)
        if known is None:
            known = self.label_ids[typed] = len(self.labels)
            self.labels.append(name)
        return known

    def label_of(self, int32_t state):
        self.rows.check(state)
        return self.labels[self.rows.c.label[state]]

    # Lists of words

    cdef int32_t in_trie(self, Regular term, int32_t part) except -2:
        """The state of a place in a list of words that is made at once, where `part` of a character
        has been read; -1 of another place."""
        cdef int32_t block = _block(part)
        cdef tuple others = None
        cdef WordTrie trie
        cdef Words node
        if isinstance(term, Tagged) and (<Tagged>term).named:
            others = (<Tagged>term).parts[1:]
            for other in others:
                if other is not EMPTY_TERM and other is not ANYTHING_TERM:
                    return -1
            term = (<Tagged>term).parts[0]
        if block < 0 or not isinstance(term, Words) or not (<Words>term).table.whole:
            return -1
        node = <Words>term
        trie = self.tries.get((node.table, others))
        if trie is None:
            trie = self.plant(node.table, hide(others))
            self.tries[hide((node.table, trie.others))] = trie
        return trie.state + trie.places.place(node.low, node.depth) + block * trie.places.size

    cdef WordTrie plant(self, WordList table, tuple others):
        """Make the states of a whole list of words."""
        cdef bint is_open = others is not None and not _all_empty((EMPTY_TERM, *others))
        cdef Py_ssize_t count = len(table.strings)
        cdef WordTrie trie
        cdef list ends
        if others is None:
            ends = [self.state(END(1))] * count
        else:
            nullable = tuple([int(other.nullable) for other in others])
            known = self.word_ends.setdefault(nullable, [])
            for word in range(len(known), count):
                known.append(self.state(END((1 + word, *nullable))))
            ends = known[:count]
        beside = self.beside(others) if is_open else None
        trie = WordTrie(table, others, self.count)
        self.count += trie.count
        self.weight += trie.count // PER_TRIE_STATE
        self.keys.tries.append(trie)
        self.keys.firsts.append(trie.state)
        self.keys.known.extend([None] * trie.count)
        trunks, alike = beside or ((0,) * (BLOCKS - 1), (trie.state,) * BLOCKS)
        gated = others is not None and not is_open
        trie.places.fill(self.rows, trie.state, ends, trunks, alike, is_open, table.bare, gated)
        return trie

    cdef tuple beside(self, tuple others):
        """The rows, but for the last one, and the states of other texts than the words, by what has
        been read of a character."""
        cdef tuple known = self.rows_beside.get(others)
        if known is None:
            beyond = tagged((EMPTY_TERM, *others), named=True)
            keys = [_within(beyond, part) for part in block_parts]
            rows = tuple([self.row_of(key) for key in keys[: BLOCKS - 1]])
            known = self.rows_beside[others] = rows, tuple([self.state(key) for key in keys])
        return known

    # Rows

    cpdef int build(self, int32_t state) except -1:
        self.rows.check(state)
        if self.rows.c.base[state] != UNBUILT:
            return 0
        spend(PER_ROW)
        key = self.keys.key(state)
        kind = type(key)
        if kind is TEXT:
            self.build_text(state, key.inside, key.term, self.trunk(key))
        elif kind is BEGUN:
            self.build_begun(state, key, self.trunk(key))
        elif kind is SKIPPED:
            self.build_skipped(state, key.part, key.target)
        elif kind is CHOICE:
            self.build_choice(state, key.inside, key.text, key.marks)
        elif kind is ENTRY:
            self.build_entry(state, key.text, key.marks)
        elif kind is LITERAL:
            data = key.data[1:]
            after = self.state(LITERAL(data, key.target)) if data else key.target
            self.rows.override(state, 0, {key.data[0]: after})
        elif kind is SPACED or kind is PADDED:
            self.build_spaces(state, key)
        elif kind is TOKEN:
            self.rows.fill(state, self.token_row(key), None)
        else:
            row = {
                byte: self.beside_value(target, key.data + bytes([byte]))
                for byte, target in self.next_states(key.text).items()
            }
            self.rows.fill(state, row, None)
        return 0

    cdef trunk(self, key):
        """The base row that the row of a place in a text differs from in few bytes: in a list of
        words the row of the place without the words. None if there is no such row."""
        cdef Regular term = key.term, rest
        if type(term) not in with_words:
            return None
        if not isinstance(term, Tagged):
            return 0
        parts = (<Tagged>term).parts
        if not (<Tagged>term).named or parts[0] is EMPTY_TERM:
            return None
        rest = tagged((EMPTY_TERM, *parts[1:]), named=True)
        if rest is EMPTY_TERM:
            return 0
        if type(key) is TEXT:
            return self.row_of(TEXT(key.inside, rest))
        return self.row_of(BEGUN(key.inside, rest, key.part, key.value))

    cdef int32_t row_of(self, key) except -1:
        """The number of the base row of a key's state."""
        cdef int32_t state = self.state(key)
        self.build(state)
        return self.rows.c.base[state]

    cdef int build_text(self, int32_t state, inside, term, trunk) except -1:
        """Build the row of a place between two characters."""
        cdef int32_t row[256]
        cdef int32_t byte, low, high, target, least
        cdef tuple arc
        cdef dict states = {}
        cdef Split found = _split(term), escapes
        least = FIRST_PLAIN if inside else 0
        _clear(row)
        for arc in found.ascii:
            low, high, after = arc
            known = states.get(after)
            if known is None:
                known = states[after] = self.text(inside, after)
            target = known
            for byte in range(max(low, least), high + 1):
                row[byte] = target
        self.add_beyond(row, inside, term, BETWEEN, 0)
        if inside:
            row[BACKSLASH_BYTE] = row[QUOTE] = DEAD
            escapes = escapable(term)
            if escapes.ascii or escapes.beyond:
                row[BACKSLASH_BYTE] = self.begun(inside, term, BACKSLASH, 0)
            name = label(term)
            if name:
                row[QUOTE] = self.state(END(name))
        return self.rows.put(state, row, trunk)

    cdef int build_begun(self, int32_t state, key, trunk) except -1:
        """Build the row of a place within a character."""
        cdef int32_t row[256]
        cdef int32_t part = key.part
        inside, term, value = key.inside, key.term, key.value
        _clear(row)
        if part < BACKSLASH:
            self.add_beyond(row, inside, term, part, value)
        else:
            self.add_escapes(row, term, part, value)
        return self.rows.put(state, row, trunk)

    cdef int build_skipped(self, int32_t state, int32_t part, int32_t target) except -1:
        """Build the row of a place within a character whose target is known."""
        cdef int32_t row[256]
        cdef int32_t byte, after, following = DEAD
        _clear(row)
        for byte in range(256):
            after = skipped(<uint8_t>byte, part)
            if after >= 0:  # the same for all of them
                if following == DEAD:
                    following = self.skipped(after, target)
                row[byte] = following
        return self.rows.put(state, row, None)

    cdef int build_choice(self, int32_t state, inside, text, tuple marks) except -1:
        """Build the row at the start of a string, a text or a mark."""
        cdef int32_t row[256]
        cdef int32_t byte, own
        _clear(row)
        if text is not EMPTY_TERM:
            own = self.text(False, text)
            self.build(own)
            for byte in range(256):
                row[byte] = next_leaf(&self.rows.c, own, <uint8_t>byte)
        if inside is not EMPTY_TERM:
            row[QUOTE] = self.text(True, counted(inside))
        for byte, own in marks:
            row[byte] = own
        return self.rows.put(state, row, 0)

    cdef int build_entry(self, int32_t state, text, tuple marks) except -1:
        """Build the row of the text, overridden by the marks."""
        cdef int32_t trunk = 0, own, at
        cdef dict overrides = {}
        if text is not EMPTY_TERM:
            own = self.text(False, text)
            self.build(own)
            trunk = self.rows.c.base[own]
            for at in range(self.rows.c.override_start[own], self.rows.c.override_stop[own]):
                overrides[self.rows.c.override_byte[at]] = self.rows.c.override_next[at]
        overrides.update(marks)
        self.rows.override(state, trunk, overrides)
        return 0

    cdef int build_spaces(self, int32_t state, key) except -1:
        """Build the row of a run of whitespace, and those of shorter ones: a token may run through
        all of them."""
        cdef dict row = {}
        cdef int32_t trunk = 0, shorter
        if type(key) is PADDED:
            row = self.next_states(key.target)
            trunk = self.rows.c.base[<int32_t>key.target]
        if key.left:
            if type(key) is PADDED:
                shorter = self.state(PADDED(key.left - 1, key.target))
            else:
                shorter = self.state(SPACED(key.left - 1, key.label))
            self.build(shorter)
            for byte in spaces:
                row[byte] = shorter
        self.rows.fill(state, row, trunk)
        return 0

    cdef dict token_row(self, key):
        """The row within a special token."""
        cdef dict row = {}
        cdef list among
        cdef int32_t byte, left = key.left - 1
        size = 1 << (7 * left)
        for byte in range(128):
            low = key.base + byte * size
            among = []
            for at, ranges in enumerate(key.sets):
                for first, last in ranges:
                    if first < low + size and last >= low:
                        among.append(at)
                        break
            if among:
                after = TOKEN(key.sets, low, left) if left else END(TokenRead(tuple(among)))
                row[byte] = self.state(after)
        return row

    cdef int add_beyond(self, int32_t *row, inside, term, int32_t part, int32_t value) except -1:
        """The states after bytes beyond ASCII, where `part` and `value` of a character have been
        read."""
        cdef tuple beyond = _split(term).beyond
        cdef int32_t byte, first, last, target
        if not beyond:
            return 0
        found = beyond_ascii(tuple([(<tuple>pair)[0] for pair in beyond]), part, value)
        for byte, after, read in <list>found.mixed:
            row[byte] = self.begun(inside, term, after, read)
        for which, left, runs in <list>found.whole:
            target = self.skipped(left, self.text(inside, (<tuple>beyond[which])[1]))
            for first, last in <list>runs:
                for byte in range(first, last + 1):
                    row[byte] = target
        return 0

    cdef int add_escapes(self, int32_t *row, term, int32_t part, int32_t value) except -1:
        """The states after bytes within an escape."""
        cdef Character after
        cdef int32_t parts[AFTER_ESCAPE]
        cdef int32_t values[AFTER_ESCAPE]
        cdef int32_t targets[AFTER_ESCAPE]
        cdef int32_t byte, at, count = 0
        cdef Split found = escapable(term)
        for byte in range(256):
            after = read_byte(<uint8_t>byte, Character(part, value))
            if after.part < 0:
                continue
            at = 0
            while at < count and (parts[at] != after.part or values[at] != after.value):
                at += 1
            if at == count:
                parts[at], values[at] = after.part, after.value
                targets[at] = self.escaped(term, found, after.part, after.value)
                count += 1
            row[byte] = targets[at]
        return 0

    cdef int32_t escaped(self, term, Split found, int32_t part, int32_t value) except -2:
        """The state where `part` and `value` of an escape have been read."""
        cdef Points points
        cdef int32_t at, left
        cdef list ends
        if part == BETWEEN:
            target = found.after(value)
            return DEAD if target is EMPTY_TERM else self.text(True, target)
        if part == DIGITS + 4:  # it may become any character
            return self.begun(True, term, part, value) if found.ascii or found.beyond else DEAD
        points_of(Character(part, value), &points)
        if not found.beyond and (points.count == 0 or points.first[0] > LAST_ASCII):
            return DEAD
        ends = []
        for at in range(points.count):
            ends += found.within(points.first[at], points.last[at])
        if not ends:
            return DEAD
        left = part - DIGITS if part <= DIGITS + 4 else part - PAIR_DIGITS
        target, _, count = ends[0]
        if (
            left > 0
            and points.count == 1
            and points.last[0] - points.first[0] + 1 == 1 << (4 * left)
            and count == 1 << (4 * left)
        ):
            return self.skipped(ANY_DIGITS + left, self.text(True, target))
        return self.begun(True, term, part, value)

    def expand(self, int32_t state, Py_ssize_t most):
        cdef list reached = [state]
        cdef set seen = {state}
        cdef Py_ssize_t at = 0, built = 0
        cdef int32_t here, target, byte
        self.rows.check(state)
        if state in self.expanded:
            return
        while at < len(reached) and built < most:
            here = reached[at]
            at += 1
            if self.rows.c.base[here] == UNBUILT:
                self.build(here)
                built += 1
            for byte in range(256):
                target = next_leaf(&self.rows.c, here, <uint8_t>byte)
                if target != DEAD and target not in seen and not self.is_escape(target):
                    seen.add(target)
                    reached.append(target)
        if at == len(reached):
            self.expanded |= seen

    cdef bint is_escape(self, int32_t state) except -1:
        key = self.keys.key(state)
        return type(key) is BEGUN and key.part == BACKSLASH

    def first_bytes(self, int32_t state, order):
        self.build(state)
        return self.rows.first_bytes(state, order)

    def next_states(self, int32_t state):
        self.build(state)
        return self.rows.next_states(state)

    def after_characters(self, int32_t state, bytes data not None):
        cdef Repeat term
        key = self.keys.key(state)
        if type(key) is not TEXT or not key.inside or not isinstance(key.term, Repeat):
            return None
        term = key.term
        if term.body is not ANYONE or term.most is None:
            return None
        try:
            read = len(data.decode())
        except UnicodeDecodeError:
            return None
        if read > term.most or any(map(must_escape, data)):
            return None
        return self.text(True, repeat(term.body, max(0, term.least - read), term.most - read))

    def beside_value(self, int32_t text, bytes data not None):
        key = self.keys.key(text)
        kind = type(key)
        if kind is TEXT and not key.inside and isinstance(key.term, Parallel):
            begins = not key.term.nullable  # as soon as one of its parts is
        else:
            begins = kind is BEGUN or kind is SKIPPED
        return self.state(BESIDE(text, data)) if begins else text


cdef bint _all_empty(tuple parts) noexcept:
    """Whether all parts of a named term but the first are empty."""
    cdef Py_ssize_t at
    for at in range(1, len(parts)):
        if parts[at] is not EMPTY_TERM:
            return False
    return True


cdef Split _split(Regular term):
    """The transitions of a term, as `split` has them."""
    found = term.split
    return <Split>(split(term) if found is None else found)


cdef void _clear(int32_t *row) noexcept:
    cdef int32_t byte
    for byte in range(256):
        row[byte] = DEAD
