"""What extension modules share: how they were built, and where the elements of an array are."""

from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint64_t

cdef extern from *:
    """
    /* Kept in the module, so that setup.py finds it there. */
    __attribute__((used)) static const char maskwright_built[] = MASKWRIGHT_BUILT;
    """
    # A digest of the sources of a module and their paths, for `maskwright.native`.
    const char *BUILT_FROM "MASKWRIGHT_SOURCES"

# Where the first element of an array is, NULL if it has none. Whoever keeps the address keeps the
# array alive. What is only read may be read-only: arrays that are mapped from a file are.


cdef inline int32_t *int32s(array) except? NULL:
    cdef int32_t[::1] view = array
    return &view[0] if view.shape[0] else NULL


cdef inline uint8_t *uint8s(array) except? NULL:
    cdef uint8_t[::1] view = array
    return &view[0] if view.shape[0] else NULL


cdef inline uint64_t *uint64s(array) except? NULL:
    cdef uint64_t[::1] view = array
    return &view[0] if view.shape[0] else NULL


cdef inline const int32_t *const_int32s(array) except? NULL:
    cdef const int32_t[::1] view = array
    return &view[0] if view.shape[0] else NULL


cdef inline const int64_t *const_int64s(array) except? NULL:
    cdef const int64_t[::1] view = array
    return &view[0] if view.shape[0] else NULL


cdef inline const uint8_t *const_uint8s(array) except? NULL:
    cdef const uint8_t[::1] view = array
    return &view[0] if view.shape[0] else NULL


cdef inline const int16_t *const_int16s(array) except? NULL:
    cdef const int16_t[::1] view = array
    return &view[0] if view.shape[0] else NULL


cdef inline const uint64_t *const_uint64s(array) except? NULL:
    cdef const uint64_t[::1] view = array
    return &view[0] if view.shape[0] else NULL


cdef inline int32_t lower_bound(
    const int32_t *ascending, int32_t low, int32_t high, int64_t wanted
) noexcept nogil:
    """The first place from `low` to `high` - 1 whose number is `wanted` or a greater one; `high` if
    there is none."""
    cdef int32_t middle
    while low < high:
        middle = (low + high) // 2
        if ascending[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low
