from maskwright.grammar.schema.document_text cimport DocumentText, SchemaText


cdef class SchemaObject


cdef class DocumentParser:
    cdef readonly object options, references
    cdef readonly object enforced, annotations
    cdef public DocumentText text
    cdef readonly dict schemas, referenced, met_again
    cdef public double choices
    cdef public Py_ssize_t widest, options_read
    cdef public bint negates, intricate
    cdef readonly list waiting
    cdef list _enforced, _annotations
    cdef object _dialect
    cdef frozenset _keywords
    cdef bytes _kind
    cdef bint _is_old
    cpdef SchemaText schema(
        self, value, str pointer, dialect, resolver, bint entered=*, bint closed=*
    )
    cdef int _use(self, dialect) except -1
    cdef int _read_object(self, SchemaObject source, dict readers) except -1


cdef class SchemaObject:
    cdef readonly DocumentParser parser
    cdef readonly object value
    cdef readonly str pointer
    cdef readonly object dialect, resolver
    cdef readonly bint closed
    cdef readonly SchemaText schema
    cpdef str place(self, keyword)
    cpdef SchemaText child(self, setting, str place)
