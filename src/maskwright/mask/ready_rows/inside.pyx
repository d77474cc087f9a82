"""Which tokens stay inside a JSON string or a text: trie × automaton over characters.

The bytes of a token are read as JSON spells characters: as UTF-8, or escaped. So the automaton
knows neither bytes nor escapes, and the walk needs none of the leaf table's rows. A token may end
within a character; it stays inside if a character that it begins can follow.
"""

from typing import NamedTuple

from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memset

import numpy as np

from maskwright.automaton.leaf.spelling cimport (
    ANY_BYTES,
    BETWEEN,
    Character,
    Points,
    points_of,
    read_byte,
)
from maskwright.mask.ready_rows.product cimport (
    FOUND,
    LACKING,
    LISTED,
    UNKNOWN,
    Characters,
    LanguageProduct,
    Tables,
    begin_state,
    find_state,
    find_target,
    point_to,
)
from maskwright.mask.ready_rows.tokens cimport Nodes, Subtrees
from maskwright.native cimport BUILT_FROM, const_int32s, lower_bound
from maskwright.native import require_built
from maskwright.vocab.trie cimport twin_of

require_built(__name__, BUILT_FROM)


class Measure(NamedTuple):
    fewest: object
    least: int
    most: int
    begun: int = 0
    beyond: int = 1
    between: object = np.zeros(0, np.int32)


# More characters than any string has.
cdef int64_t NO_ROOM = <int64_t>1 << 40


# `Measure`, whose owner keeps the arrays alive.
cdef struct Count:
    # [lengths, states]
    const int32_t *fewest
    int64_t lengths
    int64_t states
    int64_t least
    int64_t most
    int64_t begun
    int64_t beyond
    const int32_t *between
    int32_t stops


# What is at one depth of the present path through the trie: the automaton's state, the character
# that has been begun, and the characters read. `end`: the node after all below this depth. `room`,
# `is_over`: see `walk_room`.
cdef struct Step:
    int32_t state
    int32_t end
    Character character
    int64_t count
    int64_t room
    bint is_over


cdef int read_measure(Count *count, measure) except -1:
    fewest, between = measure.fewest, measure.between
    count.fewest = const_int32s(fewest.reshape(-1))
    count.lengths, count.states = fewest.shape
    count.least, count.most = measure.least, measure.most
    count.begun, count.beyond = measure.begun, measure.beyond
    count.between, count.stops = const_int32s(between), <int32_t>len(between)
    return 0


cdef inline int64_t fewest_after(const Count *count, int32_t state, int64_t read) noexcept nogil:
    """How many characters a string has at least that has come to `state` with `read` of them, if it
    is one of the automaton's."""
    cdef int64_t missing = count.least - read if count.least > read else 0
    return read + count.fewest[missing * count.states + state]


cdef inline bint alive(const Count *count, int32_t state, int64_t read) noexcept nogil:
    """Whether a string can end that has come to `state` with `read` characters."""
    return count.lengths == 0 or fewest_after(count, state, read) <= count.most


cdef inline int64_t counted(const Count *count, int64_t read, int32_t point) noexcept nogil:
    """The count after one more character."""
    cdef int32_t at
    if count.stops == 0:
        return read + 1
    for at in range(count.stops):
        if point == count.between[at]:
            return 0
    return read + (1 if point < 0x80 else count.beyond)


cdef int32_t interval_of(const Characters *characters, int32_t point) noexcept nogil:
    """The interval that a character outside ASCII falls into; see `CharacterArrays`."""
    return max(0, lower_bound(characters.start, 0, characters.intervals, <int64_t>point + 1) - 1)


cdef inline int32_t target_of(
    const Characters *characters, int32_t state, int32_t point
) noexcept nogil:
    """The state after a character."""
    cdef int32_t kind
    if point < 0x80:
        return characters.ascii[state][point]
    kind = characters.of_interval[interval_of(characters, point)]
    return characters.beyond[<int64_t>state * characters.classes + kind]


cdef inline int64_t room_of(const Count *count, int32_t state, int64_t read) noexcept nogil:
    """How many characters a string has at least that has come to `state` with `read` of them;
    `NO_ROOM` if it can't end. 0 where nothing is bounded."""
    cdef int64_t room
    if count.lengths == 0:
        return 0
    room = fewest_after(count, state, read)
    return room if room <= count.most else NO_ROOM


cdef int64_t least_room_within(
    const Characters *characters,
    const Count *count,
    int32_t state,
    int64_t read,
    int32_t low,
    int32_t high,
) noexcept nogil:
    """The least `room_of` after one of the characters from `low` to `high`, but a surrogate."""
    cdef int64_t least = NO_ROOM
    cdef int32_t point, target, at
    for point in range(low, min(high, 0x7F) + 1):
        target = characters.ascii[state][point]
        if target >= 0:
            least = min(least, room_of(count, target, counted(count, read, point)))
            if least <= read:  # none is less
                return least
    if high < 0x80:
        return least
    at = interval_of(characters, max(low, 0x80))
    while at < characters.intervals and characters.start[at] <= high:
        target = characters.beyond[
            <int64_t>state * characters.classes + characters.of_interval[at]
        ]
        if target >= 0:
            point = max(low, characters.start[at])
            least = min(least, room_of(count, target, counted(count, read, point)))
            if least <= read:
                return least
        at += 1
    return least


cdef int64_t least_room(
    const Characters *characters,
    const Count *count,
    int32_t state,
    int64_t read,
    Character begun,
) noexcept nogil:
    """How many characters a string has at least in which a character has been begun; `NO_ROOM` if
    it can't be completed. 0 where nothing is bounded."""
    cdef Points points
    cdef int64_t least = NO_ROOM
    cdef int32_t at
    if begun.part >= ANY_BYTES:  # counted before the walk, and allowed
        return room_of(count, state, read)
    points_of(begun, &points)
    for at in range(points.count):
        if least <= read:  # none is less
            break
        least = min(
            least,
            least_room_within(characters, count, state, read, points.first[at], points.last[at]),
        )
    return least


cdef Step *steps(Subtrees subtrees) except NULL:
    """Room for each depth of a trie, and one more."""
    cdef Step *found = <Step *>calloc(subtrees.depth + 2, sizeof(Step))
    if found is NULL:
        raise MemoryError
    return found


cdef inline void list_missing(
    const Characters *characters, int32_t state, int32_t[::1] missing, int32_t *listed
) noexcept nogil:
    """List a state whose transitions are not known, once, if there is room."""
    if characters.known[state] == UNKNOWN and listed[0] < missing.shape[0]:
        characters.known[state] = LISTED
        missing[listed[0]] = state
        listed[0] += 1


cdef int check(
    Subtrees subtrees, const Characters *automaton, const Count *count, int32_t state
) except -1:
    if not 0 <= state < automaton.states:
        raise IndexError(f"the automaton has no state {state}")
    if count.begun < 0 or count.least < 0:
        raise ValueError(f"{count.begun} characters have been read of at least {count.least}")
    if count.lengths and count.least >= count.lengths:
        raise IndexError(f"what strings of {count.least} characters need has not been measured")
    return 0


# Nodes that a walk has left out, since the transitions of the state before them are not known.
cdef struct Part:
    int32_t begin
    int32_t end
    Step before


# What a walk for a row found out: how often a state was met whose transitions are not known, and
# the characters for which a string must have room so that an end can follow each token.
cdef struct Walked:
    int64_t lacking
    int64_t needed
    bint has_no_memory


cdef class Unwalked:
    cdef Part *parts
    cdef int32_t count, room
    cdef int64_t needed
    cdef bint has_begun

    def __dealloc__(self):
        free(self.parts)

    cdef bint add(self, int32_t begin, int32_t end, Step before) noexcept nogil:
        """Whether there is memory for it."""
        cdef int32_t room = 2 * self.count + 64
        cdef Part *longer
        if self.count == self.room:
            longer = <Part *>realloc(self.parts, room * sizeof(Part))
            if longer is NULL:
                return False
            self.parts, self.room = longer, room
        self.parts[self.count] = Part(begin, end, before)
        self.count += 1
        return True


def walk_string(
    Subtrees subtrees not None,
    characters,
    measure,
    int32_t state,
    int32_t part,
    int32_t value,
    int32_t[::1] out not None,
    int32_t[::1] missing not None,
    bint plain,
    LanguageProduct product,
    Unwalked rest not None,
):
    cdef Characters automaton
    cdef Count count
    cdef Walked walked = Walked(0, 0, False)
    cdef Tables *tables = NULL if product is None else &product.c
    cdef int32_t listed = 0, at, parts_before
    cdef Part *parts
    cdef Step *path
    point_to(&automaton, characters)
    read_measure(&count, measure)
    check(subtrees, &automaton, &count, state)
    if 32 * out.shape[0] < len(subtrees.trie.twin):
        raise ValueError(f"a row of {out.shape[0]} words has no bits for all tokens")
    if tables is not NULL and automaton.states < tables.state_room:
        raise ValueError("the product may have more states than there is room for")
    cdef Step first = Step(
        state, subtrees.c.nodes, Character(part, value), count.begun, 0, False
    )  # fmt: skip
    # Bounds are measured by the states found so far, and a product finds single transitions.
    if not rest.has_begun or tables is not NULL or count.lengths > 0:
        memset(&out[0], 0, out.shape[0] * sizeof(int32_t))
        rest.count, rest.needed, rest.has_begun = 0, 0, True
        if not rest.add(0, subtrees.c.nodes, first):
            raise MemoryError
    path = steps(subtrees)
    parts, parts_before, walked.needed = rest.parts, rest.count, rest.needed
    rest.parts, rest.count, rest.room = NULL, 0, 0
    with nogil:
        for at in range(parts_before):
            path[subtrees.c.depth[parts[at].begin] - 1] = parts[at].before
            walk_for_row(
                &subtrees.c, &automaton, &count, path, parts[at].begin, parts[at].end, &out[0],
                missing, &listed, plain, tables, &walked, rest,
            )  # fmt: skip
    free(path)
    free(parts)
    if walked.has_no_memory:
        raise MemoryError
    rest.needed = walked.needed
    return walked.lacking, walked.needed


cdef void walk_for_row(
    const Nodes *trie,
    Characters *automaton,
    const Count *count,
    Step *path,
    int32_t at,
    int32_t end,
    int32_t *out,
    int32_t[::1] missing,
    int32_t *listed,
    bint plain,
    Tables *product,
    Walked *walked,
    Unwalked rest,
) noexcept nogil:
    """Walk the nodes from `at` to before `end`."""
    cdef bint bounded = count.lengths > 0, found, fits, is_whole
    cdef int32_t depth, here, target, place, token
    cdef int64_t read, longest, room
    cdef Character begun
    cdef uint8_t byte
    while at < end:
        depth, byte = trie.depth[at], trie.byte[at]
        here, begun, read = path[depth - 1].state, path[depth - 1].character, path[depth - 1].count
        found = automaton.known[here] >= 0
        if not found and product is not NULL:
            found = begin_state(product, automaton, here)
        if not found:
            list_missing(automaton, here, missing, listed)
            walked.lacking += 1
            if not rest.add(at, path[depth - 1].end, path[depth - 1]):
                walked.has_no_memory = True
            at = path[depth - 1].end
            continue
        if (
            begun.part == BETWEEN
            and trie.low[at] & ~automaton.loop_low[here] == 0
            and trie.high[at] & ~automaton.loop_high[here] == 0
        ):
            longest = read + count.beyond * trie.height[at]
            fits = True
            if bounded:
                # All lengths up to the longest occur; with a least length, some may not do.
                longest += count.fewest[here]
                fits = longest <= count.most and count.least <= read
            if fits:
                walked.needed = max(walked.needed, longest)
                for place in range(trie.first[at], trie.first[trie.skip[at]]):
                    token = trie.order[place]
                    out[token >> 5] |= <int32_t>(<uint32_t>1 << (token & 31))
                at = trie.skip[at]
                continue
        target = -1
        if begun.part == BETWEEN and byte < 0x80 and (plain or byte != 0x5C):
            if plain or (byte >= 0x20 and byte != 0x22):
                target = automaton.ascii[here][byte]
                if product is not NULL and target == UNKNOWN:
                    target = find_target(product, automaton, here, byte)
                    walked.lacking += target == LACKING
                read = counted(count, read, byte)
        else:
            begun = read_byte(byte, begun)
            is_whole = automaton.known[here] == FOUND
            if product is not NULL and not is_whole:
                is_whole = find_state(product, automaton, here)
                walked.lacking += not is_whole
            if not is_whole:
                begun.part = -1
            if begun.part == BETWEEN and begun.value < 0:
                target = here
            elif begun.part == BETWEEN:
                target = target_of(automaton, here, begun.value)
                read = counted(count, read, begun.value)
            elif begun.part > 0:
                room = 0
                if trie.token[at] >= 0:  # which ends within a character
                    room = least_room(automaton, count, here, read, begun)
                if room < NO_ROOM:
                    target = here
                    walked.needed = max(walked.needed, room)
        if target < 0 or (begun.part == BETWEEN and not alive(count, target, read)):
            at = trie.skip[at]
            continue
        if begun.part == BETWEEN and bounded:
            walked.needed = max(walked.needed, fewest_after(count, target, read))
        token = trie.token[at]
        while token >= 0:
            out[token >> 5] |= <int32_t>(<uint32_t>1 << (token & 31))
            token = twin_of(&trie.twins, token)
        path[depth].state, path[depth].character, path[depth].count = target, begun, read
        path[depth].end = trie.skip[at]
        at += 1


def walk_room(
    Subtrees subtrees not None,
    characters,
    measure,
    int32_t state,
    int32_t part,
    int32_t value,
    int16_t[::1] needs not None,
    int32_t[::1] missing not None,
    bint plain,
):
    cdef Characters automaton
    cdef Count count
    cdef int64_t lacking
    point_to(&automaton, characters)
    read_measure(&count, measure)
    check(subtrees, &automaton, &count, state)
    if count.lengths == 0 or needs.shape[0] < len(subtrees.trie.twin):
        raise ValueError("each token needs a place, and characters a bound")
    cdef Step *path = steps(subtrees)
    path[0] = Step(state, 0, Character(part, value), 0, 0, False)
    with nogil:
        lacking = walk_for_needs(
            &subtrees.c, &automaton, &count, path, &needs[0], missing, plain
        )
    free(path)
    return lacking


cdef int64_t room_within(
    const Characters *automaton,
    const Count *count,
    int32_t state,
    int64_t read,
    Character begun,
    int64_t room,
) noexcept nogil:
    """The least room, from `room` on, in which a character can be completed that has been begun;
    `TOO_MUCH` if there is none."""
    cdef int64_t farthest = 0, last, most, at
    for at in range(count.states):
        if count.fewest[at] < TOO_MUCH:
            farthest = max(farthest, count.fewest[at])
    last = max(room, min(count.most, read + count.beyond + farthest))
    for most in range(room, last + 1):
        # What counting begins anew after keeps the bound of the measure.
        if least_room(automaton, count, state, read + count.most - most, begun) < NO_ROOM:
            return most
    return TOO_MUCH


cdef int64_t walk_for_needs(
    const Nodes *trie,
    Characters *automaton,
    const Count *count,
    Step *path,
    int16_t *needs,
    int32_t[::1] missing,
    bint plain,
) noexcept nogil:
    cdef int64_t lacking = 0, need, least
    cdef int32_t listed = 0, at = 0, depth, target, token
    cdef Step here
    cdef uint8_t byte
    while at < trie.nodes:
        depth, byte = trie.depth[at], trie.byte[at]
        here = path[depth - 1]
        if automaton.known[here.state] < 0:
            list_missing(automaton, here.state, missing, &listed)
            lacking += 1
            at = trie.skip[at]
            continue
        target = -1
        if here.character.part == BETWEEN and byte < 0x80 and (plain or byte != 0x5C):
            if plain or (byte >= 0x20 and byte != 0x22):
                target = automaton.ascii[here.state][byte]
                here.count = counted(count, here.count, byte)
                here.is_over |= here.count == 0
        else:
            here.character = read_byte(byte, here.character)
            if here.character.part == BETWEEN and here.character.value >= 0:
                target = target_of(automaton, here.state, here.character.value)
                here.count = counted(count, here.count, here.character.value)
                here.is_over |= here.count == 0
            elif here.character.part >= 0:
                target = here.state
        need = here.room
        if target >= 0 and here.character.part == BETWEEN:
            if here.count + count.fewest[target] > count.most:
                target = -1
            elif not here.is_over:
                here.room = need = max(here.room, here.count + count.fewest[target])
        elif target >= 0 and trie.token[at] >= 0:
            least = room_within(
                automaton, count, here.state, here.count, here.character,
                count.most if here.is_over else here.room,
            )  # fmt: skip
            need = here.room if here.is_over and least < TOO_MUCH else least
        if target < 0:
            at = trie.skip[at]
            continue
        token = trie.token[at]
        while token >= 0:
            needs[token] = <int16_t>min(need, TOO_MUCH)
            token = twin_of(&trie.twins, token)
        here.state = target
        path[depth] = here
        at += 1
    return lacking
