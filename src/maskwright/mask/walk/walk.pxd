from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from maskwright.automaton.machine.step cimport Machine, MachineArrays
from maskwright.mask.walk.row_table cimport Addition, Ready, RowTable
from maskwright.vocab.trie cimport Siblings, SiblingTrie

cpdef enum:
    UNMEASURED = -5
    LEAF_NEED = -11
    NODE_NEED = -12

cdef enum:
    # Most leaves that can be left one after another without reading a byte.
    CHAIN = 8
    # Entries of a walk's caches of exits and of steps, a power of two.
    MEMO = 64


# A configuration, and the dynamic exits passed on the way to it; see
# `MachineArrays.pass_dynamic_exit`.
cdef struct Passing:
    int32_t leaf
    int32_t node
    int32_t passed


# What is at one depth of the present path through the trie.
cdef struct Depth:
    # The configuration, followed by those that can be reached by leaving leaves without reading a
    # byte; extended when needed.
    Passing chain[CHAIN]
    # The number of known elements of the chain; negative if there are no others.
    int32_t known
    # The next trie node to visit, and the end of its siblings; or, where nodes between are left out,
    # the next of `places` and their end.
    const int32_t *places
    int32_t cursor
    int32_t stop
    # Which bytes these siblings have, where they are many; NULL otherwise.
    const uint64_t *present
    # Bit b of 256 is set if some leaf of the chain accepts byte b.
    uint64_t living[4]


# An exit taken in this walk: label << 32 | node (-1 is empty), and where it leads if no dynamic
# exit has been passed before.
cdef struct Left:
    int64_t key
    Passing behind


# The bytes with which a leaf state (-1 is empty) goes on to another one: those of ASCII, as in
# `Siblings.run_low`, and the classes of which it is all bytes, as `class_of` numbers them.
cdef struct Step:
    int32_t leaf
    int32_t target
    uint64_t low
    uint64_t high
    uint64_t classes


cdef enum Phase:
    WALKING
    RESTING


# The state of a walk, which it keeps while it is stopped for something that it lacks.
cdef struct State:
    Phase phase
    # How many of `PrecomputedMask.rests` have been walked.
    int32_t rested
    int32_t depth
    # How many trie nodes were visited.
    int64_t visited
    # The most bytes needed after any of the tokens, if that is measured.
    int32_t most_needed
    # How many tokens have been listed.
    int32_t listed
    # Which part of `PrecomputedMask.skipped` applies after the first byte of the path.
    int32_t skipped_part
    Addition row
    Left left[MEMO]
    Step steps[MEMO]


cdef class Scratch:
    cdef State state
    cdef Depth *depths
    cdef readonly int32_t height, words


cdef class Spelling:
    cdef readonly object data, start, eos
    cdef const uint8_t *bytes_
    cdef const int64_t *starts
    cdef const int64_t *ends
    cdef Py_ssize_t size, end_tokens


cdef class UpperBounds:
    cdef object array
    cdef int32_t *c
    cdef int32_t size


cdef class PrecomputedMask:
    cdef readonly Ready ready
    cdef readonly tuple rests
    cdef readonly object skipped
    cdef const uint8_t *skip
    cdef readonly int32_t leaf


cdef class Walk:
    cdef readonly MachineArrays machine
    cdef readonly RowTable rows
    cdef readonly SiblingTrie trie
    cdef readonly Spelling spelling
    cdef readonly Scratch scratch
    cdef readonly UpperBounds leaf_bounds, node_bounds
    cdef int begin(self, int32_t leaf, int32_t node, PrecomputedMask known) except -1
    cpdef int32_t find_row(
        self,
        int32_t leaf,
        int32_t node,
        PrecomputedMask known,
        int32_t limit,
        bint resumed,
        int32_t[:, ::1] found,
    ) except -2
    cpdef int64_t take_token(self, int32_t leaf, int32_t node, int32_t token) except -2
