"""Languages read side by side, of which exactly one must contain a string.

The strings of exactly one of a dozen patterns have an automaton with a state for each combination
of the patterns' states. A walk over the trie meets thousands of combinations, most of them once. So
they are not made from terms: the automata of the patterns ("parts") are tables, a combination is a
vector of the numbers of their states, and vectors are interned here while the trie is walked. This
is the lazy product construction; `mask.ready_rows.combination` holds its tables.

A vector lists *options*, of which exactly one must contain what follows, then what must not
(*excluded*), as the complements of numbers; each ascending, each once. The rest is `UNUSED`. State
0 of the parts is that of all strings.
"""

from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memset

import numpy as np

from maskwright.native cimport BUILT_FROM, const_int32s, const_uint8s, int32s, uint64s
from maskwright.native import require_built

require_built(__name__, BUILT_FROM)


cdef int point_to(Characters *characters, arrays) except -1:
    """Take over where the arrays of `CharacterArrays` are."""
    characters.ascii = <Ascii *>int32s(arrays.ascii.reshape(-1))
    characters.known = int32s(arrays.known)
    characters.loop_low = uint64s(arrays.loop_low)
    characters.loop_high = uint64s(arrays.loop_high)
    characters.beyond = int32s(arrays.beyond.reshape(-1))
    characters.classes = <int32_t>arrays.beyond.shape[1]
    characters.states = <int32_t>len(arrays.known)
    characters.start = const_int32s(arrays.start)
    characters.of_interval = const_int32s(arrays.of_interval)
    characters.intervals = <int32_t>len(arrays.start)
    return 0


# Vectors


cdef int32_t insert(int32_t *found, int32_t count, int32_t number, bint once) noexcept nogil:
    """Insert a number into the first `count` of `found`, which are ascending. Returns how many
    there are then."""
    cdef int32_t at = count, other
    while at > 0 and found[at - 1] > number:
        at -= 1
    if once and at > 0 and found[at - 1] == number:
        return count
    for other in range(count, at, -1):
        found[other] = found[other - 1]
    found[at] = number
    return count + 1


cdef int32_t intern_vector(Tables *product, int32_t options, int32_t excluded) noexcept nogil:
    """The vector of so many options and excluded states in `options` and `excluded`, each
    ascending; NOWHERE if it is surely dead, LACKING if there is no room. An option that is listed
    twice is excluded."""
    cdef int32_t *some = product.options
    cdef int32_t *barred = product.excluded
    cdef int32_t kept = 0, at = 0, end, number, other
    cdef bint twice
    while at < options:
        number, end = some[at], at + 1
        while end < options and some[end] == number:
            end += 1
        if end - at > 1 or (kept == 1 and some[0] == EVERYTHING):
            excluded = insert(barred, excluded, number, True)
        else:
            some[kept] = number
            kept += 1
        at = end
    if kept == 0 or (excluded > 0 and barred[0] == EVERYTHING):
        return NOWHERE
    options = kept
    kept = 0
    for at in range(options):
        twice = False
        for other in range(excluded):
            twice = twice or barred[other] == some[at]
        if not twice:
            some[kept] = some[at]
            kept += 1
    return enter(product, kept, excluded) if kept > 0 else NOWHERE


cdef inline uint64_t mixed_with(uint64_t mixed, int32_t entry) noexcept nogil:
    """A hash of a vector with one more entry (Fowler, Noll and Vo's, by entries)."""
    return (mixed ^ <uint64_t><int64_t>entry) * 0x100000001B3ULL


cdef inline int64_t slot_of(const Tables *product, uint64_t mixed) noexcept nogil:
    return <int64_t>(mixed ^ (mixed >> 31)) & product.slot_mask


cdef int32_t enter(Tables *product, int32_t options, int32_t excluded) noexcept nogil:
    """The number of the vector in the making, which is entered if it is new."""
    cdef const int32_t *some = product.options
    cdef const int32_t *barred = product.excluded
    cdef int32_t width = product.width, length = options + excluded, at, vector
    cdef int32_t *entries
    cdef uint64_t mixed = 0
    cdef int64_t slot
    for at in range(options):
        mixed = mixed_with(mixed, some[at])
    for at in range(excluded):
        mixed = mixed_with(mixed, ~barred[at])
    slot = slot_of(product, mixed)
    while product.slots[slot] != NOWHERE:
        vector = product.slots[slot]
        entries = product.entries + <int64_t>vector * width
        at = 0
        while at < options and entries[at] == some[at]:
            at += 1
        if at == options:
            while at < length and entries[at] == ~barred[at - options]:
                at += 1
        if at == length and (length == width or entries[length] == UNUSED):
            return vector
        slot = (slot + 1) & product.slot_mask
    vector = product.vectors
    if vector == product.vector_room:
        product.full = True
        return LACKING
    product.vectors += 1
    product.slots[slot] = vector
    entries = product.entries + <int64_t>vector * width
    for at in range(options):
        entries[at] = some[at]
    for at in range(excluded):
        entries[options + at] = ~barred[at]
    for at in range(length, width):
        entries[at] = UNUSED
    product.verdict[vector] = UNDECIDED
    product.state_of[vector] = NOWHERE
    product.last_search[vector] = 0
    return vector


cdef void list_unknown(Tables *product, int32_t part) noexcept nogil:
    """List a part's state whose transitions are lacking, once."""
    if product.parts.known[part] == UNKNOWN and product.unknown < MOST_LISTED:
        product.parts.known[part] = LISTED
        product.unknown_parts[product.unknown] = part
        product.unknown += 1


cdef int32_t after(Tables *product, int32_t vector, int32_t column) noexcept nogil:
    """The vector after a character of `column`; NOWHERE, or LACKING."""
    cdef const Characters *parts = &product.parts
    cdef int32_t sample = product.samples[column], options = 0, excluded = 0
    cdef int32_t at, entry, part, target
    cdef bint changed = False
    for at in range(product.width):
        entry = product.entries[<int64_t>vector * product.width + at]
        if entry == UNUSED:
            break
        part = entry if entry >= 0 else ~entry
        if parts.known[part] != FOUND:
            list_unknown(product, part)
            return LACKING
        if sample < 128:
            target = parts.ascii[part][sample]
        else:
            target = parts.beyond[<int64_t>part * parts.classes + sample - 128]
        changed = changed or target != part
        if target < 0:
            continue
        if entry >= 0:
            options = insert(product.options, options, target, False)
        else:
            excluded = insert(product.excluded, excluded, target, True)
    return intern_vector(product, options, excluded) if changed else vector


cdef bint accepts(const Tables *product, int32_t vector) noexcept nogil:
    """Whether a string may end at a vector."""
    cdef int32_t accepted = 0, at, entry
    for at in range(product.width):
        entry = product.entries[<int64_t>vector * product.width + at]
        if entry == UNUSED:
            break
        if entry >= 0:
            accepted += product.accepting[entry]
        elif product.accepting[~entry]:
            return False
    return accepted == 1


cdef int8_t decide(Tables *product, int32_t start) noexcept nogil:
    """Whether any string is accepted from a vector: ALIVE or DEAD; UNDECIDED if something is
    lacking. A search depth first, which most often ends after a few steps."""
    cdef int8_t *verdict = product.verdict
    cdef int32_t *way = product.way
    cdef int32_t *columns = product.columns_done
    cdef int32_t high = 1, seen = 1, search, vector, column, size, at, target
    if verdict[start] != UNDECIDED:
        return verdict[start]
    product.searches += 1
    search = product.searches
    way[0], columns[0] = start, 0
    product.last_search[start] = search
    product.met[0] = start
    while high > 0:
        vector, column = way[high - 1], columns[high - 1]
        if column == 0 and (verdict[vector] == ALIVE or accepts(product, vector)):
            size = product.far[vector] if verdict[vector] == ALIVE else 0
            for at in range(high - 1, -1, -1):
                if at < high - 1:
                    size += product.widths[columns[at] - 1]
                verdict[way[at]] = ALIVE
                product.far[way[at]] = size
            return ALIVE
        if column == product.columns:
            high -= 1
            continue
        columns[high - 1] += 1
        target = after(product, vector, column)
        if target == LACKING:
            return UNDECIDED
        if target >= 0 and verdict[target] != DEAD and product.last_search[target] != search:
            product.last_search[target] = search
            product.met[seen] = target
            seen += 1
            way[high], columns[high] = target, 0
            high += 1
    for at in range(seen):
        verdict[product.met[at]] = DEAD
    return DEAD


# States: the vectors that are alive and have been met


cdef int32_t numbered(Tables *product, int32_t vector) noexcept nogil:
    """The state of a vector that is alive; LACKING if there is no room for one more."""
    cdef int32_t state = product.state_of[vector]
    if state == NOWHERE:
        state = product.states
        if state == product.state_room:
            product.full = True
            return LACKING
        product.states += 1
        product.state_of[vector] = state
        product.vector_of[state] = vector
    return state


cdef bint begin_state(Tables *product, Characters *states, int32_t state) noexcept nogil:
    """Write to `states` with which characters a state stays as it is; the other transitions are
    found when they are asked for (PARTLY). False if something is lacking."""
    cdef const Characters *parts = &product.parts
    cdef uint64_t low = ~<uint64_t>0, high = ~<uint64_t>0
    cdef int32_t at, entry, part
    if product.full:
        return False
    for at in range(product.width):
        entry = product.entries[<int64_t>product.vector_of[state] * product.width + at]
        if entry == UNUSED:
            break
        part = entry if entry >= 0 else ~entry
        if parts.known[part] != FOUND:
            list_unknown(product, part)
            return False
        low &= parts.loop_low[part]
        high &= parts.loop_high[part]
    states.loop_low[state], states.loop_high[state] = low, high
    for at in range(128):
        states.ascii[state][at] = UNKNOWN
    states.known[state] = PARTLY
    return True


cdef int32_t target_of(Tables *product, int32_t state, int32_t column) noexcept nogil:
    """The state after a character of `column`; NOWHERE, or LACKING."""
    cdef int32_t vector = product.vector_of[state]
    cdef int32_t target = after(product, vector, column)
    cdef int8_t verdict
    if target == vector:
        return state
    if target < 0:
        return target
    verdict = decide(product, target)
    if verdict == ALIVE:
        return numbered(product, target)
    return NOWHERE if verdict == DEAD else LACKING


cdef int32_t find_target(
    Tables *product, Characters *states, int32_t state, uint8_t byte
) noexcept nogil:
    """The state after an ASCII character, which is written to `states`; NOWHERE, or LACKING."""
    cdef int32_t target
    if product.full:
        return LACKING
    target = target_of(product, state, product.column[byte])
    if target != LACKING:
        states.ascii[state][byte] = target
    return target


cdef bint find_state(Tables *product, Characters *states, int32_t state) noexcept nogil:
    """Find all transitions of a state that has been begun, and write them to `states`; False if
    something is lacking."""
    cdef int32_t *reached = product.reached
    cdef int32_t column, point, at
    if product.full:
        return False
    for column in range(product.columns):
        reached[column] = target_of(product, state, column)
        if reached[column] == LACKING:
            return False
    for point in range(128):
        states.ascii[state][point] = reached[product.column[point]]
    for at in range(states.classes):
        states.beyond[<int64_t>state * states.classes + at] = reached[product.column_beyond[at]]
    states.known[state] = FOUND
    return True


cdef class LanguageProduct:
    def __cinit__(self, int32_t width, int32_t room):
        cdef Tables *c = &self.c
        if width < 1 or room < 1 or room & (room - 1):
            raise ValueError("there is room for a power of two of vectors with an entry each")
        c.width = width
        c.options = <int32_t *>calloc(width + 1, sizeof(int32_t))
        c.excluded = <int32_t *>calloc(width + 1, sizeof(int32_t))
        if c.options is NULL or c.excluded is NULL:
            raise MemoryError
        self.make_room(room)
        self.make_state_room(room)

    def __dealloc__(self):
        free(self.c.entries)
        free(self.c.verdict)
        free(self.c.far)
        free(self.c.state_of)
        free(self.c.last_search)
        free(self.c.slots)
        free(self.c.vector_of)
        free(self.c.way)
        free(self.c.columns_done)
        free(self.c.met)
        free(self.c.options)
        free(self.c.excluded)

    cdef int make_room(self, int32_t room) except -1:
        """Make room for so many vectors."""
        cdef Tables *c = &self.c
        cdef int32_t vector, at, entry
        cdef int64_t slot
        cdef uint64_t mixed
        c.entries = <int32_t *>resized(c.entries, <size_t>room * c.width * sizeof(int32_t))
        c.verdict = <int8_t *>resized(c.verdict, room)
        c.far = <int32_t *>resized(c.far, <size_t>room * sizeof(int32_t))
        c.state_of = <int32_t *>resized(c.state_of, <size_t>room * sizeof(int32_t))
        c.last_search = <int32_t *>resized(c.last_search, <size_t>room * sizeof(int32_t))
        c.way = <int32_t *>resized(c.way, <size_t>room * sizeof(int32_t))
        c.columns_done = <int32_t *>resized(c.columns_done, <size_t>room * sizeof(int32_t))
        c.met = <int32_t *>resized(c.met, <size_t>room * sizeof(int32_t))
        c.slots = <int32_t *>resized(c.slots, 2 * <size_t>room * sizeof(int32_t))
        memset(c.slots, -1, 2 * <size_t>room * sizeof(int32_t))
        c.slot_mask = 2 * <int64_t>room - 1
        c.vector_room = room
        for vector in range(c.vectors):
            mixed = 0
            for at in range(c.width):
                entry = c.entries[<int64_t>vector * c.width + at]
                if entry == UNUSED:
                    break
                mixed = mixed_with(mixed, entry)
            slot = slot_of(c, mixed)
            while c.slots[slot] != NOWHERE:
                slot = (slot + 1) & c.slot_mask
            c.slots[slot] = vector
        return 0

    cdef int make_state_room(self, int32_t room) except -1:
        """Make room for so many states."""
        self.c.vector_of = <int32_t *>resized(self.c.vector_of, <size_t>room * sizeof(int32_t))
        self.c.state_room = room
        return 0

    def take_parts(self, parts, accepting, column, samples, widths):
        reached = np.zeros(len(samples), np.int32)
        column_beyond = column[128:]
        if len(accepting) > len(parts.known) or len(column_beyond) != parts.beyond.shape[1]:
            raise ValueError("accepting states and columns are those of other parts")
        point_to(&self.c.parts, parts)
        self.c.accepting = const_uint8s(accepting)
        self.c.column = const_int32s(column)
        self.c.column_beyond = const_int32s(column_beyond)
        self.c.samples, self.c.columns = const_int32s(samples), <int32_t>len(samples)
        self.c.widths, self.c.reached = const_int32s(widths), int32s(reached)
        self.kept = parts, accepting, column, samples, widths, reached

    @property
    def width(self):
        return self.c.width

    @property
    def vectors(self):
        return self.c.vectors

    @property
    def states(self):
        return self.c.states

    @property
    def state_room(self):
        return self.c.state_room

    @property
    def full(self):
        return self.c.full

    @full.setter
    def full(self, bint value):
        self.c.full = value

    @property
    def farthest(self):
        cdef int32_t state, far = 0
        for state in range(self.c.states):
            far = max(far, self.c.far[self.c.vector_of[state]])
        return far

    def enlarge(self):
        if 2 * self.c.vectors > self.c.vector_room:
            self.make_room(2 * self.c.vector_room)
        if 2 * self.c.states > self.c.state_room:
            self.make_state_room(2 * self.c.state_room)
        self.c.full = False

    def take_lacking(self):
        cdef int32_t at
        found = [self.c.unknown_parts[at] for at in range(self.c.unknown)]
        for part in found:
            if self.c.parts.known[part] == LISTED:
                self.c.parts.known[part] = UNKNOWN  # finding them may be abandoned
        self.c.unknown = 0
        return found

    def state(self, options, excluded):
        cdef int32_t vector
        if len(options) + len(excluded) > self.c.width:
            raise ValueError(f"a vector has at most {self.c.width} entries")
        for at, number in enumerate(options):
            self.c.options[at] = self.check_part(number)
        for at, number in enumerate(excluded):
            self.c.excluded[at] = self.check_part(number)
        vector = intern_vector(&self.c, <int32_t>len(options), <int32_t>len(excluded))
        if vector == NOWHERE or vector == LACKING:
            return vector
        verdict = decide(&self.c, vector)
        if verdict == DEAD:
            return NOWHERE
        return numbered(&self.c, vector) if verdict == ALIVE else LACKING

    cdef int32_t check_part(self, int32_t part) except -1:
        if not 0 <= part < self.c.parts.states:
            raise IndexError(f"the parts have no state {part}")
        return part

    cdef int32_t vector_at(self, int32_t state) except -1:
        if not 0 <= state < self.c.states:
            raise IndexError(f"there is no state {state}")
        return self.c.vector_of[state]

    # For tests: one state

    def entries(self, int32_t state):
        cdef int32_t vector = self.vector_at(state), at
        row = [self.c.entries[<int64_t>vector * self.c.width + at] for at in range(self.c.width)]
        return [entry for entry in row if entry != UNUSED]

    def accepts(self, int32_t state):
        return accepts(&self.c, self.vector_at(state))

    def far(self, int32_t state):
        return self.c.far[self.vector_at(state)]

    def begin_state(self, states, int32_t state):
        cdef Characters characters
        self.vector_at(state)
        point_to(&characters, states)
        return begin_state(&self.c, &characters, state)

    def find_target(self, states, int32_t state, uint8_t byte):
        cdef Characters characters
        self.vector_at(state)
        point_to(&characters, states)
        return find_target(&self.c, &characters, state, byte)

    def find_state(self, states, int32_t state):
        cdef Characters characters
        self.vector_at(state)
        point_to(&characters, states)
        return find_state(&self.c, &characters, state)


cdef void *resized(void *memory, size_t size) except NULL:
    cdef void *found = realloc(memory, size)
    if found is NULL:
        raise MemoryError
    return found
