"""The numbers of leaf states, and rows in the spelling of a term; see `states.pyi`."""

from collections import defaultdict

from libc.stdint cimport int32_t, uint8_t

from maskwright.automaton.leaf.characters import beyond_ascii, escapable
from maskwright.automaton.leaf.keys import WITH_WORDS, Begun, ChoiceState, End, Skipped, Text
from maskwright.automaton.leaf.rows cimport DEAD, UNBUILT, LeafRows, next_leaf
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
from maskwright.grammar.regular.derivative import label, split
from maskwright.grammar.regular.length_bounds import counted
from maskwright.grammar.regular.overlay cimport Split
from maskwright.grammar.regular.terms cimport Regular
from maskwright.grammar.regular.terms import EMPTY
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

cdef object NONE = EMPTY, TEXT = Text, BEGUN = Begun, SKIPPED = Skipped, CHOICE = ChoiceState
cdef object END = End
cdef frozenset with_words = WITH_WORDS


cdef class LeafStates:
    def __init__(self):
        self.rows, self.known, self.ids = LeafRows(), hide([]), defaultdict(dict)
        self.texts, self.begun_ones, self.skipped_ones = (
            self.ids[Text], self.ids[Begun], self.ids[Skipped]
        )

    cpdef int32_t new_state(self, key) except -1:
        return self.added(self.ids[type(key)], key)

    cdef int32_t added(self, dict ids, key) except -1:
        """Give a key the next number."""
        cdef int32_t number = <int32_t>self.count
        ids[key] = number
        self.count += 1
        self.weight += 1
        self.known.append(key)
        if number >= self.rows.c.states:
            self.rows.make_room(number)
        return number

    cdef int32_t text(self, inside, term) except -1:
        """The state between two characters of a term."""
        key = TEXT(inside, term)
        known = self.texts.get(key)
        if known is not None:
            return known
        if inside and type(term) not in with_words:  # it has neither a label nor a gate
            return self.added(self.texts, key)
        return self.state(key)

    cdef int32_t begun(self, inside, term, int32_t part, int32_t value) except -1:
        """The state within a character of a term."""
        key = BEGUN(inside, term, part, value)
        known = self.begun_ones.get(key)
        if known is not None:
            return known
        if type(term) not in with_words:
            return self.added(self.begun_ones, key)
        return self.state(key)

    cpdef int32_t skipped(self, int32_t part, int32_t target) except -1:
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

    cpdef int build(self, int32_t state) except -1:
        self.rows.check(state)
        if self.rows.c.base[state] != UNBUILT:
            return 0
        spend(PER_ROW)
        key = self.known[state]
        if key is None:
            key = self.keys[state]
        kind = type(key)
        if kind is TEXT:
            self.build_text(state, key.inside, key.term, self.trunk(key))
        elif kind is BEGUN:
            self.build_begun(state, key, self.trunk(key))
        elif kind is SKIPPED:
            self.build_skipped(state, key.part, key.target)
        elif kind is CHOICE:
            self.build_choice(state, key.inside, key.text, key.marks)
        else:
            self.build_other(state, key)
        return 0

    cdef trunk(self, key):
        """The row that the row of a key differs from in few bytes, None if there is none."""
        return self.trunk_of(key) if type(key.term) in with_words else None

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
        if text is not NONE:
            own = self.text(False, text)
            self.build(own)
            for byte in range(256):
                row[byte] = next_leaf(&self.rows.c, own, <uint8_t>byte)
        if inside is not NONE:
            row[QUOTE] = self.text(True, counted(inside))
        for byte, own in marks:
            row[byte] = own
        return self.rows.put(state, row, 0)

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
            return DEAD if target is NONE else self.text(True, target)
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


cdef Split _split(Regular term):
    """The transitions of a term, as `split` has them."""
    found = term.split
    return <Split>(split(term) if found is None else found)


cdef void _clear(int32_t *row) noexcept:
    cdef int32_t byte
    for byte in range(256):
        row[byte] = DEAD
