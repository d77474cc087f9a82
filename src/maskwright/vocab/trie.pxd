from libc.stdint cimport int32_t, uint8_t, uint64_t

cpdef enum:
    NO_TOKEN = -1
    LONG = 512

cdef enum:
    # Children from which on a node counts as wide: a walk looks up which of them it goes on to,
    # instead of looking at each.
    WIDE = 12


# 256 bits, one for each byte.
ctypedef uint64_t Present[4]


cdef struct Siblings:
    # By node.
    const uint8_t *byte
    const int32_t *first
    const int32_t *children
    const int32_t *token
    # By token.
    const int32_t *twin
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
    cdef object wide, present
    cdef int note_children(self) except -1


cdef inline const uint64_t *bytes_of_children(const Siblings *trie, int32_t node) noexcept nogil:
    """Which bytes the children of a node have, if it is wide; NULL otherwise."""
    cdef int32_t low = 1, high = trie.wides, middle
    if trie.children[node] < WIDE:
        return NULL
    while low < high:
        middle = (low + high) // 2
        if trie.wide[middle] < node:
            low = middle + 1
        else:
            high = middle
    return trie.present[low]
