from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from maskwright.native cimport lower_bound

cpdef enum:
    NO_TOKEN = -1
    LONG = 512

cdef enum:
    # Children from which on a node counts as wide: a walk looks up which of them it goes on to,
    # instead of looking at each.
    WIDE = 12
    # In `Siblings.below`, how many bits of a node say which classes of bytes come below it. The
    # others say how many nodes do.
    CLASSES = 44


# 256 bits, one for each byte.
ctypedef uint64_t Present[4]


# Tokens with equal bytes: by token the next one, and the first and the last token that has a next.
# Few tokens have one, and looking it up would mostly wait for memory.
cdef struct Twins:
    const int32_t *next
    int32_t first
    int32_t last


cdef struct Siblings:
    # By node.
    const uint8_t *byte
    const int32_t *first
    const int32_t *children
    const int32_t *token
    # The classes of the bytes below the node, as `class_of` numbers them, and above them how many
    # nodes are below it: they are next to each other, the first child first. All classes where
    # there are too many nodes to be counted.
    const uint64_t *below
    # Of the trie of tokens that begin with a run of characters and leave it, see `note_run`; NULL
    # of others. The nodes where a token leaves the run, ascending, and by node whether it is in it.
    const int32_t *leaving
    const uint8_t *inside
    int32_t leavings
    # The run's characters in ASCII: bit n of the first for n < 64, of the second for n - 64.
    uint64_t run_low
    uint64_t run_high
    Twins twins
    int32_t roots
    int32_t tokens
    # The nodes with many children, ascending, and for each which bytes its children have; first,
    # whatever there is of them, the root's.
    const int32_t *wide
    const Present *present
    int32_t wides


cdef class SiblingTrie:
    cdef Siblings c
    cdef readonly object byte, first, children, token, twin
    cdef object wide, present, below, leaving, inside
    cdef int note_children(self) except -1
    cdef int note_below(self, uint64_t[::1] below) except -1


cdef inline int32_t class_of(uint8_t byte) noexcept nogil:
    """The class of a byte, less than `CLASSES`: lower-case letters are one or two, capitals and
    digits too, all bytes beyond ASCII are one, and so are control characters; each other is of its
    own."""
    if byte >= 0x80:
        return 0
    if c"a" <= byte <= c"z":
        return 1 if byte <= c"f" else 2
    if c"A" <= byte <= c"Z":
        return 3 if byte <= c"F" else 4
    if c"0" <= byte <= c"9":
        return 5
    if byte == c"\t":
        return 6
    if byte == c"\n":
        return 7
    if byte == c"\r":
        return 8
    if byte < 0x20 or byte == 0x7F:
        return 9
    # 33 are left, from the space to the tilde.
    return 10 + byte - 0x20 - 10 * (byte > c"9") - 26 * (byte > c"Z") - 26 * (byte > c"z")


cdef Twins twins_of(twin, const int32_t[::1] tokens) except *


cdef inline int32_t twin_of(const Twins *twins, int32_t token) noexcept nogil:
    """The next token with equal bytes, or `NO_TOKEN`."""
    return twins.next[token] if twins.first <= token <= twins.last else NO_TOKEN


cdef inline const uint64_t *bytes_of_children(const Siblings *trie, int32_t node) noexcept nogil:
    """Which bytes the children of a node have, if it is wide; NULL otherwise."""
    if trie.children[node] < WIDE:
        return NULL
    return trie.present[lower_bound(trie.wide, 1, trie.wides, node)]


cdef inline int32_t leavings_before(const Siblings *trie, int64_t node) noexcept nogil:
    """How many of the nodes where a token leaves the run come before a node."""
    return lower_bound(trie.leaving, 0, trie.leavings, node)
