"""The text of a document, and the schemas that stand in it; see `document_text.pyi`.

A value is written as a byte for its type and what it consists of: text as its size and UTF-8,
arrays and objects as the number of values and these. So no text is the beginning of another.
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.dict cimport PyDict_CheckExact, PyDict_Next, PyDict_Size
from cpython.float cimport PyFloat_CheckExact
from cpython.list cimport PyList_CheckExact, PyList_GET_ITEM, PyList_GET_SIZE
from cpython.long cimport PyLong_CheckExact
from cpython.ref cimport PyObject
from cpython.unicode cimport PyUnicode_CheckExact
from libc.math cimport isfinite
from libc.stdint cimport UINT32_MAX, int64_t, uint8_t, uint32_t, uint64_t, uintptr_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcmp, memcpy

from maskwright.garbage cimport hide
from maskwright.native cimport BUILT_FROM
from maskwright.native import require_built

require_built(__name__, BUILT_FROM)

cdef extern from "Python.h":
    const char *PyUnicode_AsUTF8AndSize(object, Py_ssize_t *) except? NULL
    Py_UCS4 PyUnicode_READ_CHAR(object, Py_ssize_t)
    int64_t PyLong_AsLongLongAndOverflow(object, int *) except? -1
    int Py_EnterRecursiveCall(const char *) except *
    void Py_LeaveRecursiveCall()

LARGE = 100_000

cdef Py_ssize_t large = LARGE

cdef frozenset REFERENCES = frozenset(("$ref", "$dynamicRef", "$recursiveRef"))
cdef frozenset ANCHORS = frozenset(("$anchor", "$dynamicAnchor", "$recursiveAnchor"))
cdef Py_ssize_t made = 0


class Vanished(float):
    __slots__ = ()


cdef class DocumentText:
    def __cinit__(self, document, Py_ssize_t most_nodes, Py_ssize_t most_depth):
        cdef Level *level
        cdef PyObject *name
        cdef PyObject *value
        self.document = document
        self.is_json = self.is_plain = self._is_exact = True
        self._take(document, most_depth)
        while self._depth and self.nodes <= most_nodes:
            level = &self._levels[self._depth - 1]
            if level.span < 0:
                if level.at < PyList_GET_SIZE(<object>level.value):
                    level.at += 1
                    self._take(<object>PyList_GET_ITEM(<object>level.value, level.at - 1), most_depth)
                    continue
            elif PyDict_Next(<object>level.value, &level.at, &name, &value):
                self._see(<object>name, <object>value)
                self._take(<object>value, most_depth)
                continue
            else:
                self._spans[level.span].end = self._size
                self._spans[level.span].refers = level.refers
            self._depth -= 1
            if self._depth:
                self._levels[self._depth - 1].refers |= level.refers
        if self._is_exact and self.is_json and self.nodes <= most_nodes:
            self.text = PyBytes_FromStringAndSize(<char *>self._written, self._size)
            self._index()

    def __dealloc__(self):
        free(self._written)
        free(self._levels)
        free(self._spans)
        free(self._slots)

    def has_ids(self, name):
        return self._has_ids if name == "$id" else self._has_old_ids

    cdef int _take(self, value, Py_ssize_t most_depth) except -1:
        """Write a value, or begin to."""
        cdef int64_t whole
        cdef double number
        cdef int overflow = 0
        self.nodes += 1
        if self._depth > most_depth:
            self.is_json = False
        elif isinstance(value, str):
            self._is_exact &= PyUnicode_CheckExact(value)
            self._write_text(b"s", value)
        elif value is True or value is False:
            self._write(b"t" if value is True else b"f", NULL, 0)
        elif isinstance(value, dict):
            self._open(value, True)
        elif isinstance(value, list):
            self._open(value, False)
        elif isinstance(value, int):
            self._is_exact &= PyLong_CheckExact(value)
            whole = PyLong_AsLongLongAndOverflow(value, &overflow)
            if overflow:
                self._write_text(b"l", hex(value))
            else:
                self._write(b"i", &whole, sizeof(whole))
        elif isinstance(value, float):
            if not PyFloat_CheckExact(value):
                self._is_exact = False
                self.is_json &= not isinstance(value, Vanished)
            number = value
            self.is_json &= isfinite(number)
            self._write(b"d", &number, sizeof(number))
        elif value is None:
            self.is_plain = False
            self._write(b"n", NULL, 0)
        else:
            self.is_json = False
        return 0

    cdef int _open(self, value, bint is_object) except -1:
        """Begin an array or object."""
        cdef uint32_t count = PyDict_Size(value) if is_object else PyList_GET_SIZE(value)
        cdef Level *levels
        cdef Span *spans
        cdef Py_ssize_t span = -1
        if self._depth == self._deepest:
            levels = <Level *>realloc(self._levels, 2 * (self._deepest + 8) * sizeof(Level))
            if levels is NULL:
                raise MemoryError
            self._levels, self._deepest = levels, 2 * (self._deepest + 8)
        if is_object:
            self._is_exact &= PyDict_CheckExact(value)
            self.is_plain &= PyDict_CheckExact(value)
            if self._count == self._most_spans:
                spans = <Span *>realloc(self._spans, 2 * (self._most_spans + 16) * sizeof(Span))
                if spans is NULL:
                    raise MemoryError
                self._spans, self._most_spans = spans, 2 * (self._most_spans + 16)
            span = self._count
            self._count += 1
            self._spans[span].value, self._spans[span].start = <void *>value, self._size
        else:
            self._is_exact &= PyList_CheckExact(value)
        self._levels[self._depth].value = <void *>value
        self._levels[self._depth].at, self._levels[self._depth].span = 0, span
        self._levels[self._depth].refers = False
        self._depth += 1
        return self._write(b"{" if is_object else b"[", &count, sizeof(count))

    cdef int _see(self, name, value) except -1:
        """Write a name, and note what it says of references."""
        if not isinstance(name, str):
            self.is_json = False
            return 0
        self._is_exact &= PyUnicode_CheckExact(name)
        self._write_text(b"s", name)
        if not name or PyUnicode_READ_CHAR(name, 0) not in (u"$", u"i"):
            return 0
        self._levels[self._depth - 1].refers |= PyUnicode_READ_CHAR(name, 0) == u"$"
        if isinstance(value, (dict, list)):
            return 0
        if name in REFERENCES and isinstance(value, str):
            self.has_references = True
            self.has_anchors |= value != "#" and not value.startswith("#/")
        elif name in ANCHORS:
            self.has_anchors = True
        elif isinstance(value, str) and self._depth > 1:
            self._has_ids |= name == "$id"
            self._has_old_ids |= name == "id"
        return 0

    cdef int _write_text(self, uint8_t kind, value) except -1:
        cdef Py_ssize_t size
        cdef uint32_t length
        cdef const char *content
        try:
            content = PyUnicode_AsUTF8AndSize(value, &size)
        except UnicodeEncodeError:  # half of a surrogate pair
            value = str.encode(value, "utf-8", "surrogatepass")
            content, size = PyBytes_AS_STRING(value), len(value)
        self._is_exact &= size <= UINT32_MAX
        length = <uint32_t>size
        self._write(kind, &length, sizeof(length))
        self._size -= 1
        self._write(self._written[self._size], content, size)
        return 0

    cdef int _write(self, uint8_t kind, const void *content, Py_ssize_t size) except -1:
        cdef Py_ssize_t end = self._size + 1 + size
        cdef uint8_t *written
        if end > self._capacity:
            written = <uint8_t *>realloc(self._written, 2 * end + 512)
            if written is NULL:
                raise MemoryError
            self._written, self._capacity = written, 2 * end + 512
        self._written[self._size] = kind
        if size:
            memcpy(self._written + self._size + 1, content, size)
        self._size = end
        return 0

    cdef int _index(self) except -1:
        """Enter all spans into the table by which `place` finds them."""
        cdef Py_ssize_t span, slot, size = 8
        while size < 2 * self._count:
            size *= 2
        self._slots = <Py_ssize_t *>calloc(size, sizeof(Py_ssize_t))
        if self._slots is NULL:
            raise MemoryError
        self._mask = size - 1
        for span in range(self._count):
            slot = digest(self._spans[span].value) & self._mask
            while self._slots[slot]:
                slot = (slot + 1) & self._mask
            self._slots[slot] = span + 1
        return 0

    cdef int place(self, SchemaText schema, value, bytes kind) except -1:
        """Have a schema know its text. `kind` says what else decides what it means."""
        cdef Py_ssize_t slot = digest(<void *>value) & self._mask
        cdef Span *span
        cdef bint is_whole
        while self._slots[slot]:
            span = &self._spans[self._slots[slot] - 1]
            if span.value == <void *>value:
                is_whole = span.end - span.start == len(self.text)
                if is_whole or not (span.refers or len(self.text) > large):
                    schema._kind, schema._text = kind, self.text
                    schema._start, schema._end = span.start, span.end
                return 0
            slot = (slot + 1) & self._mask
        return 0


def document_of(bytes text):
    cdef Py_ssize_t at = 0
    return read_value(text, &at)


cdef object read_value(bytes text, Py_ssize_t *at):
    """The value that is written at `at`, which is moved on to its end."""
    cdef const uint8_t *begin = <const uint8_t *>PyBytes_AS_STRING(text) + at[0]
    cdef uint32_t number, count
    cdef int64_t whole
    cdef double real
    cdef dict members
    at[0] = end_of_head(<const uint8_t *>PyBytes_AS_STRING(text), at[0])
    if begin[0] == c"t" or begin[0] == c"f":
        return begin[0] == c"t"
    if begin[0] == c"n":
        return None
    if begin[0] == c"i":
        memcpy(&whole, begin + 1, sizeof(whole))
        return whole
    if begin[0] == c"d":
        memcpy(&real, begin + 1, sizeof(real))
        return real
    memcpy(&count, begin + 1, sizeof(count))
    if begin[0] == c"s" or begin[0] == c"l":
        content = text[at[0] - count : at[0]].decode("utf-8", "surrogatepass")
        return content if begin[0] == c"s" else int(content, 16)
    Py_EnterRecursiveCall(b" while a document is made of its text")
    try:
        if begin[0] == c"[":
            return [read_value(text, at) for number in range(count)]
        members = {}
        for number in range(count):
            name = read_value(text, at)
            members[name] = read_value(text, at)
        return members
    finally:
        Py_LeaveRecursiveCall()


cdef inline uint64_t digest(void *address) noexcept:
    return (<uint64_t><uintptr_t>address * <uint64_t>0x9E3779B97F4A7C15) >> 20


cdef bytes without_annotations(bytes text, Py_ssize_t start, Py_ssize_t end):
    """The part of a text that is one value, without members that assert nothing."""
    cdef Py_ssize_t size = 0
    cdef uint8_t *written = <uint8_t *>malloc(end - start)
    if written is NULL:
        raise MemoryError
    copy_value(<const uint8_t *>PyBytes_AS_STRING(text), start, written, &size, False)
    try:
        return PyBytes_FromStringAndSize(<char *>written, size)
    finally:
        free(written)


cdef Py_ssize_t copy_value(
    const uint8_t *text, Py_ssize_t at, uint8_t *out, Py_ssize_t *size, bint is_literal
) noexcept:
    """Append the value at `at`; returns where it ends. `is_literal`: whether it is no schema, nor
    holds any, so that each of its members counts."""
    cdef uint32_t number, count, kept = 0
    cdef Py_ssize_t begin = size[0], end = end_of_head(text, at)
    cdef bint is_object = text[at] == c"{"
    memcpy(out + begin, text + at, end - at)
    size[0] += end - at
    if not is_object and text[at] != c"[":
        return end
    memcpy(&count, text + at + 1, sizeof(count))
    for number in range(count):
        at = end
        if is_object:
            end = end_of_head(text, at)
            if not is_literal and asserts_nothing(text + at, end - at, text[end]):
                end = end_of_head(text, end)
                continue
            memcpy(out + size[0], text + at, end - at)
            size[0] += end - at
        kept += 1
        end = copy_value(
            text, end, out, size, is_literal or (is_object and is_constant(text + at, end - at))
        )
    memcpy(out + begin + 1, &kept, sizeof(kept))
    return end


cdef Py_ssize_t end_of_head(const uint8_t *text, Py_ssize_t at) noexcept:
    """Where a value ends; of an array or object, where its first value begins."""
    cdef uint8_t kind = text[at]
    cdef uint32_t length = 0
    if kind == c"t" or kind == c"f" or kind == c"n":
        return at + 1
    if kind == c"i" or kind == c"d":
        return at + 1 + sizeof(int64_t)
    if kind == c"s" or kind == c"l":
        memcpy(&length, text + at + 1, sizeof(length))
    return at + 1 + sizeof(length) + length


cdef bint asserts_nothing(const uint8_t *name, Py_ssize_t size, uint8_t kind) noexcept:
    """Whether a member is an annotation, by its written name and the type of its value: where names
    are those of properties, their values are objects, arrays or booleans."""
    if kind == c"s":
        return is_name(name, size, b"description") or is_name(name, size, b"title") or (
            is_name(name, size, b"default")
        )
    return (kind == c"i" or kind == c"d") and is_name(name, size, b"default")


cdef bint is_constant(const uint8_t *name, Py_ssize_t size) noexcept:
    """Whether the values of a member are the very values that a schema allows."""
    return is_name(name, size, b"enum") or is_name(name, size, b"const")


cdef inline bint is_name(const uint8_t *name, Py_ssize_t size, bytes other) noexcept:
    cdef Py_ssize_t head = 1 + sizeof(uint32_t)
    cdef Py_ssize_t length = len(other)
    return size == head + length and not memcmp(name + head, PyBytes_AS_STRING(other), length)


@cython.auto_pickle(False)
cdef class SchemaText:
    def __init__(self, str pointer not None, tuple assertions=(), bint never=False):
        self.pointer, self.assertions, self.never = pointer, assertions, never

    def __cinit__(self):
        global made
        self.number = made
        made += 1
        self.assertions = ()
        hide(self)

    @property
    def key(self):
        if self._text is not None:
            self._kind += without_annotations(self._text, self._start, self._end)
            self._text = None
        return self._kind

    def __repr__(self):
        return f"Schema({self.pointer or '/'})"
