from libc.stdint cimport int32_t, uint8_t

cpdef enum:
    NO_TOKEN = -1
    LONG = 512


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


cdef class SiblingTrie:
    cdef Siblings c
    cdef readonly object byte, first, children, token, twin
