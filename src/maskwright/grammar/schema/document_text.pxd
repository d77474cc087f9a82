from libc.stdint cimport uint8_t


cdef struct Span:
    void *value  # an object of the document
    Py_ssize_t start, end  # its place in the text
    bint refers  # whether a name within it begins with "$"


cdef struct Level:
    void *value  # an array or object that the pass is in
    Py_ssize_t at  # where it goes on
    Py_ssize_t span  # of an object; -1: an array
    bint refers  # see `Span`


cdef class SchemaText


cdef class DocumentText:
    cdef readonly object document
    cdef readonly bytes text
    cdef readonly Py_ssize_t nodes
    cdef readonly bint is_json, is_plain, has_references, has_anchors
    cdef bint _has_ids, _has_old_ids, _is_exact
    cdef uint8_t *_written
    cdef Level *_levels
    cdef Span *_spans
    cdef Py_ssize_t *_slots  # the number of each span plus 1, by a digest of its object's address
    cdef Py_ssize_t _size, _capacity, _depth, _deepest, _count, _most_spans, _mask
    cdef int _take(self, value, Py_ssize_t most_depth) except -1
    cdef int _open(self, value, bint is_object) except -1
    cdef int _see(self, name, value) except -1
    cdef int _write(self, uint8_t kind, const void *content, Py_ssize_t size) except -1
    cdef int _write_text(self, uint8_t kind, value) except -1
    cdef int _index(self) except -1
    cdef int place(self, SchemaText schema, value, bytes kind) except -1


cdef class SchemaText:
    cdef public str pointer
    cdef public tuple assertions
    cdef public bint never
    cdef public object negation, outline
    cdef readonly Py_ssize_t number
    cdef bytes _kind, _text  # before the key is cut; then the key and None
    cdef Py_ssize_t _start, _end
    cdef object __weakref__
