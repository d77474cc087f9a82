from maskwright.engine.request.progress cimport Progress


cdef class Mailbox:
    cdef readonly Progress record
    cdef readonly object _ready
    cdef object acquire, give_back
    cdef public list _unread
    cdef readonly object _apart
    cdef public object _waiter
    cdef public bint _wakes_once, _streams, _throttled
    cdef public Py_ssize_t _waiting
    cdef Py_ssize_t buffer, behind
    cdef bint has_published
    # What has come since the last of `_unread`, in parts.
    cdef list texts, tokens, scores
    cdef object shortened_at
    cdef int put(self, delta, Py_ssize_t tokens, bint is_last) except -1
    cdef int put_token(self, str text, token, shortened_at) except -1
    cdef int put_text(self, str text, list tokens, list scores, shortened_at) except -1
    cdef int deliver(self, bint is_last) except -1
    cdef int join_parts(self) except -1
    cdef bint is_behind(self) except -1
