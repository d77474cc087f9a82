from libc.stdint cimport int32_t, int64_t


cdef class Bans:
    cdef Py_ssize_t prompt_length, ngram, least
    # The ends that are withheld before so many tokens, and those that always are.
    cdef list early, late
    # Bad words of one token, and the others by their last token but one.
    cdef list single
    cdef dict words
    cdef object banned, allowed
    cdef int32_t[::1] allowed_bits
    # The tokens of the text, where they are needed.
    cdef bint reads
    cdef int64_t *tokens
    cdef Py_ssize_t read, room
    # The tokens that may not come next.
    cdef int64_t *found
    cdef Py_ssize_t count, found_room
    cdef int find(self, list tokens, list draft) except -1
    cdef int learn(self, list tokens, list draft) except -1
    cdef int find_repeated(self, Py_ssize_t total) except -1
    cdef int find_words(self, Py_ssize_t total) except -1
    cdef int forbid(self, int64_t token) except -1
    cdef list withheld_after(self, Py_ssize_t total)
    # Write the mask of a row, of so many words, without the tokens that may not come, and without
    # the ends that are withheld. Whether there are such ends; then the mask with them is written to
    # `fallback`.
    cdef bint narrow_into(
        self, list tokens, list draft, const int32_t *mask, Py_ssize_t words, int32_t *narrowed,
        int32_t *fallback,
    ) except -1
