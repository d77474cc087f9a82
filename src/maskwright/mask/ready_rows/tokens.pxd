from libc.stdint cimport int16_t, int32_t, uint8_t, uint64_t

from maskwright.vocab.trie cimport Twins

cpdef enum:
    # The kind of a token's text.
    NONE = 0
    ASCII = 1
    BEYOND = 2
    BROKEN = 3

cpdef enum:
    # Bits of `Subtrees.low`.
    BEYOND_ASCII = 0
    SPECIAL = 1


# A trie laid out depth first, and what its subtrees hold.
cdef struct Nodes:
    int32_t nodes
    const uint8_t *byte
    const int16_t *depth
    const int32_t *skip
    const int32_t *token
    Twins twins
    # By node.
    const uint64_t *low
    const uint64_t *high
    const int32_t *height
    const int32_t *first
    # All tokens, in the order of the trie.
    const int32_t *order


cdef class Subtrees:
    cdef Nodes c
    cdef readonly object trie, low, high, height, first, order
    cdef readonly int32_t depth
