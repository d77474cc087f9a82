"""Which tokens stay inside a JSON string or a text that is one of a list of words: trie × list.

A place in the list is a range of words that begin alike, and how many characters that is. The next
character narrows the range, found by halving it. So a list of names, of which each object has
another one, needs no automaton; see `mask.ready_rows.inside` for the walk over one.
"""

from libc.stdint cimport int32_t, uint8_t, uint32_t
from libc.stdlib cimport calloc, free

import numpy as np

from maskwright.automaton.leaf.spelling cimport (
    ANY_BYTES,
    BETWEEN,
    Character,
    Points,
    points_of,
    read_byte,
)
from maskwright.mask.ready_rows.tokens cimport Nodes, Subtrees
from maskwright.native cimport BUILT_FROM, const_int32s
from maskwright.native import require_built
from maskwright.vocab.trie cimport twin_of

require_built(__name__, BUILT_FROM)


# `WordPoints`, whose owner keeps the arrays alive.
cdef struct Listed:
    const int32_t *points
    const int32_t *starts


# The words from number `low` to before `high`, whose first `depth` characters are alike.
cdef struct Place:
    int32_t low
    int32_t high
    int32_t depth


# What is at one depth of the present path through the trie.
cdef struct Step:
    Place place
    Character character


cdef class WordPoints:
    cdef Listed c
    cdef readonly object points, starts

    def __init__(self, words):
        lengths = np.fromiter(map(len, words), np.int32, len(words))
        self.starts = np.concatenate([np.zeros(1, np.int32), np.cumsum(lengths, dtype=np.int32)])
        self.points = np.frombuffer("".join(words).encode("utf-32-le"), np.int32)
        self.c.points, self.c.starts = const_int32s(self.points), const_int32s(self.starts)

    @property
    def nbytes(self):
        return self.points.nbytes + self.starts.nbytes


cdef inline int32_t first_from(const Listed *words, Place place, int32_t point) noexcept nogil:
    """The first word of a place whose next character is `point` or a later one. A word that ends
    there has none, and comes first."""
    cdef int32_t low = place.low, high = place.high, middle, at
    while low < high:
        middle = (low + high) // 2
        at = words.starts[middle] + place.depth
        if at == words.starts[middle + 1] or words.points[at] < point:
            low = middle + 1
        else:
            high = middle
    return low


cdef inline Place after(const Listed *words, Place place, int32_t point) noexcept nogil:
    """The place after a character, which is empty where no word has it next."""
    cdef Place found
    found.low = first_from(words, place, point)
    place.low = found.low
    found.high = first_from(words, place, point + 1)
    found.depth = place.depth + 1
    return found


cdef bint may_become(const Listed *words, Place place, Character begun) noexcept nogil:
    """Whether the next character of a word can be one that has been begun."""
    cdef Points points
    cdef int32_t at, first
    if begun.part >= ANY_BYTES:  # its target, which is there, is known already
        return True
    points_of(begun, &points)
    for at in range(points.count):
        first = first_from(words, place, points.first[at])
        if first < place.high:
            if words.points[words.starts[first] + place.depth] <= points.last[at]:
                return True
    return False


def walk_words(
    Subtrees subtrees not None,
    WordPoints words not None,
    int32_t low,
    int32_t high,
    int32_t depth,
    int32_t part,
    int32_t value,
    int32_t[::1] out not None,
    bint plain,
):
    if not (0 <= low < high < len(words.starts) and 0 <= depth):
        raise IndexError(f"the list has no words from {low} to {high}")
    if (words.starts[low + 1 : high + 1] - words.starts[low:high]).min() < depth:
        raise ValueError(f"a word has fewer than {depth} characters")
    if 32 * out.shape[0] < len(subtrees.trie.twin):
        raise ValueError(f"a row of {out.shape[0]} words has no bits for all tokens")
    cdef Step *path = <Step *>calloc(subtrees.depth + 2, sizeof(Step))
    if path is NULL:
        raise MemoryError
    path[0] = Step(Place(low, high, depth), Character(part, value))
    with nogil:
        walk(&subtrees.c, &words.c, path, &out[0], plain)
    free(path)


cdef void walk(
    const Nodes *trie, const Listed *words, Step *path, int32_t *out, bint plain
) noexcept nogil:
    cdef int32_t at = 0, token
    cdef uint8_t byte
    cdef bint stays
    cdef Step here
    while at < trie.nodes:
        here, byte = path[trie.depth[at] - 1], trie.byte[at]
        stays = True
        if here.character.part == BETWEEN and byte < 0x80 and (plain or byte != 0x5C):
            stays = plain or (byte >= 0x20 and byte != 0x22)
            if stays:
                here.place = after(words, here.place, byte)
        else:
            here.character = read_byte(byte, here.character)
            if here.character.part == BETWEEN and here.character.value >= 0:
                here.place = after(words, here.place, here.character.value)
            elif here.character.part > BETWEEN and trie.token[at] >= 0:
                # A token that ends within a character.
                stays = may_become(words, here.place, here.character)
            else:
                stays = here.character.part >= BETWEEN
        if not stays or here.place.low == here.place.high:
            at = trie.skip[at]
            continue
        token = trie.token[at]
        while token >= 0:
            out[token >> 5] |= <int32_t>(<uint32_t>1 << (token & 31))
            token = twin_of(&trie.twins, token)
        path[trie.depth[at]] = here
        at += 1
