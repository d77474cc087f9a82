from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint64_t

cdef enum:
    # In `CharacterArrays.known`, and as a target; see `automaton.leaf.character_arrays`.
    FOUND = 0
    NOWHERE = -1
    UNKNOWN = -2

cpdef enum:
    LISTED = -3
    PARTLY = 1
    LACKING = -4

cdef enum:
    # In a vector: after its end.
    UNUSED = -0x7FFFFFFF - 1
    # The state of the parts from which every string is accepted.
    EVERYTHING = 0

cdef enum:
    # What is known of a vector.
    UNDECIDED = 0
    ALIVE = 1
    DEAD = 2

cdef enum:
    MOST_LISTED = 1024

ctypedef int32_t Ascii[128]


# `CharacterArrays`, whose owner keeps them alive.
cdef struct Characters:
    # By state.
    Ascii *ascii
    int32_t *known
    uint64_t *loop_low
    uint64_t *loop_high
    # [states, classes]
    int32_t *beyond
    int32_t classes
    int32_t states
    # By interval.
    const int32_t *start
    const int32_t *of_interval
    int32_t intervals


cdef struct Tables:
    Characters parts
    # By state of the parts: 1 where a string may end.
    const uint8_t *accepting
    # By ASCII character, and by class of characters outside ASCII: the column. All parts treat the
    # characters of a column alike.
    const int32_t *column
    const int32_t *column_beyond
    # By column: an ASCII character of it, or 128 and a class; bytes of its shortest character, as
    # JSON spells it; and, as scratch, where a state's transitions lead.
    const int32_t *samples
    const int32_t *widths
    int32_t *reached
    int32_t columns
    # [vectors, width]: the entries of a vector.
    int32_t *entries
    int32_t width
    # By vector: what is known of it; an upper bound on the bytes, as JSON spells them, to an end,
    # of those alive; its state, or NOWHERE; and the search that met it last.
    int8_t *verdict
    int32_t *far
    int32_t *state_of
    int32_t *last_search
    int32_t vectors
    int32_t vector_room
    # A hash table of vectors, NOWHERE where it is empty; its size less one, a power of two.
    int32_t *slots
    int64_t slot_mask
    # By state: its vector.
    int32_t *vector_of
    int32_t states
    int32_t state_room
    # Of a search: the vectors on the way, the columns from which it goes on, the vectors met.
    int32_t *way
    int32_t *columns_done
    int32_t *met
    int32_t searches
    # [width + 1]: options and excluded of a vector in the making.
    int32_t *options
    int32_t *excluded
    # States of parts whose transitions are lacking.
    int32_t unknown_parts[MOST_LISTED]
    int32_t unknown
    # Whether the tables were too small.
    bint full


cdef class LanguageProduct:
    cdef Tables c
    cdef tuple kept
    cdef int make_room(self, int32_t room) except -1
    cdef int make_state_room(self, int32_t room) except -1
    cdef int32_t check_part(self, int32_t part) except -1
    cdef int32_t vector_at(self, int32_t state) except -1


cdef int point_to(Characters *characters, arrays) except -1
cdef bint begin_state(Tables *product, Characters *states, int32_t state) noexcept nogil
cdef int32_t find_target(
    Tables *product, Characters *states, int32_t state, uint8_t byte
) noexcept nogil
cdef bint find_state(Tables *product, Characters *states, int32_t state) noexcept nogil
