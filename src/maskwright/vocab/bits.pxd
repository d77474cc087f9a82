"""Bits of a word of 64. GCC and Clang, and so Zig's compiler, have these."""

from libc.stdint cimport uint64_t

cdef extern from *:
    # How many are set.
    int ones "__builtin_popcountll"(uint64_t word) noexcept nogil
    # Of a word that is not 0: the number of the lowest that is set.
    int lowest "__builtin_ctzll"(uint64_t word) noexcept nogil
