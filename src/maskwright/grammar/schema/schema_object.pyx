"""One schema object while it is read; see `schema_object.pyi`."""

from cpython.object cimport PyObject, PyTypeObject, newfunc

from maskwright.garbage cimport hide, hide_whole, show_circles
from maskwright.grammar.schema.document_text cimport DocumentText, SchemaText
from maskwright.native cimport BUILT_FROM

from maskwright.errors import Construct, LimitError, RegexError, SchemaError, UnsupportedSchemaError
from maskwright.grammar.pattern.translate import search
from maskwright.grammar.schema.document import check_names, no_schema, wrong
from maskwright.grammar.schema.drafts import (
    ANNOTATIONS,
    HOLDING,
    NAMING,
    Draft,
    SchemaDialect,
    dialect_of,
)
from maskwright.grammar.schema.remarks import (
    Remark,
    on_name,
    on_name_in_vain,
    on_schema,
    pattern_remarks,
    suspected,
)
from maskwright.grammar.schema.tree import Entries, Schema
from maskwright.limits import CHEAP
from maskwright.native import require_built
from maskwright.steps cimport spend

require_built(__name__, BUILT_FROM)

cdef extern from "Python.h":
    Py_UCS4 PyUnicode_READ_CHAR(object, Py_ssize_t)

Visit = KeywordReader = object  # for what is checked of types

cdef frozenset annotating = ANNOTATIONS, holding = frozenset(HOLDING)
cdef frozenset naming = frozenset((*NAMING, *HOLDING))
# Of the dialect of each draft what a parser looks up; `_kind` says which keywords hold.
cdef list dialects = [
    (SchemaDialect.of_draft(draft), draft.is_old, draft.name.encode() + b":") for draft in Draft
]
cdef newfunc new = (<PyTypeObject *>Schema).tp_new
cdef object hidden_by_reference = Remark(
    "hidden by $ref, as this draft has it; put both into 'allOf'", "hidden-keyword"
)


cdef class DocumentParser:
    def __init__(self, options, references):
        self.options, self.references = options, references
        self.enforced, self.annotations = Entries(), Entries()
        self._enforced, self._annotations = self.enforced.flat, self.annotations.flat
        self.schemas, self.referenced, self.met_again, self.waiting = {}, {}, {}, []
        self.choices = 1.0

    cpdef SchemaText schema(
        self, value, str pointer, dialect, resolver, bint entered=False, bint closed=False
    ):
        cdef SchemaText schema
        cdef SchemaObject source
        if value is True or value is False:
            schema = new_schema(pointer)
            schema.never = value is False
            return schema
        if not isinstance(value, dict):
            no_schema(value, pointer)
        key = id(value)
        if resolver is not None or closed:
            key = key, resolver and resolver.scope(), closed
        known = self.schemas.get(key)
        if known is not None:
            self.met_again[known] = None
            return <SchemaText>known
        schema = new_schema(pointer)
        self.schemas[key] = schema
        if is_named(value, pointer):
            if "$schema" in value:
                dialect = dialect_of(value, self.options.documents, dialect, pointer)
        if self.text is not None:
            self._use(dialect)
            if self._kind is not None:
                self.text.place(schema, value, self._kind + b"closed:" if closed else self._kind)
        if resolver is not None and not entered:
            resolver = resolver.enter(value, dialect.draft, pointer)
        source = SchemaObject.__new__(SchemaObject)
        source.parser, source.value, source.pointer = self, value, pointer
        source.dialect, source.resolver, source.closed = dialect, resolver, closed
        source.schema = schema
        self.waiting.append(source)
        return schema

    cdef int _use(self, dialect) except -1:
        """Look up what has to be known of a schema's dialect."""
        if dialect is self._dialect:
            return 0
        self._dialect, self._keywords = dialect, dialect.keywords
        for known, is_old, kind in dialects:
            if known is dialect:
                self._is_old, self._kind = is_old, kind
                return 0
        self._is_old = dialect.draft.is_old
        self._kind = None  # the text doesn't say which keywords hold
        return 0

    def read(self, dict readers):
        cdef SchemaObject source
        cdef list level
        try:
            while self.waiting:
                level, self.waiting = self.waiting, []
                spend(CHEAP * len(level))
                for source in level:
                    self._read_object(source, readers)
        finally:
            show_circles(self.met_again)  # which every circle has in it

    cdef int _read_object(self, SchemaObject source, dict readers) except -1:
        """Have a schema assert what its keywords do; each gets its line in the report."""
        cdef list enforced = self._enforced, annotations = self._annotations
        cdef list assertions = [], unknown = None
        cdef frozenset keywords
        cdef str place = source.pointer
        cdef Py_ssize_t before = len(enforced)
        cdef bint is_keyword, is_hidden
        self._use(source.dialect)
        keywords, is_hidden = self._keywords, self._is_old and "$ref" in source.value
        try:
            for keyword, setting in source.value.items():
                reader = readers.get(keyword)
                is_keyword = reader is not None and (
                    keyword in keywords or (keyword == "additionalItems" and source.has_tuple())
                )
                if is_keyword and not (is_hidden and keyword != "$ref"):
                    place = source.place(keyword)
                    asserted = reader(source, setting, place)
                    if isinstance(asserted, list):
                        assertions += <list>asserted
                        note(enforced, source.pointer, keyword, "", "")
                        continue
                    remark = asserted
                    note(annotations, source.pointer, keyword, remark.note, remark.rule)
                elif is_keyword:
                    remark = hidden_by_reference
                    note(annotations, source.pointer, keyword, remark.note, remark.rule)
                elif keyword in annotating:
                    note(annotations, source.pointer, keyword, "", "")
                elif unknown is None:
                    unknown = [keyword]
                else:
                    unknown.append(keyword)
        except LimitError as error:
            error.complete(construct=Construct.schema(place))
            raise
        demands_nothing = None
        if len(enforced) == before and keywords.isdisjoint(source.value):
            demands_nothing = on_schema(source.value, source.draft, is_root=not source.pointer)
        if demands_nothing is not None:
            note(annotations, source.pointer, "", demands_nothing.note, demands_nothing.rule)
        if unknown is not None:
            remark_later = on_name if demands_nothing is None else on_name_in_vain
            for keyword in unknown:
                setting = source.value[keyword]
                suspicion = ""
                if isinstance(setting, dict) or keyword == "nullable":
                    suspicion = suspected(keyword, setting, source.value)
                about = hide((keyword, source.draft, suspicion))
                note(annotations, source.pointer, keyword, remark_later, about)
        source.schema.assertions = hide_whole(tuple(assertions))
        return 0


cdef inline SchemaText new_schema(str pointer):
    cdef SchemaText made = <SchemaText>new(Schema, <PyObject *>(), NULL)
    made.pointer = pointer
    return made


cdef inline int note(list entries, str pointer, keyword, about, rule) except -1:
    """Add an entry to a report, by its parts, or by a function for the last two; see `Entries`."""
    entries.append(pointer)
    entries.append(keyword)
    entries.append(about)
    entries.append(rule)
    return 0


cdef bint is_named(value, str pointer) except -1:
    """Whether a schema object has a keyword that names it or holds others. Checks its setting."""
    cdef bint found = False
    for name, setting in value.items():
        if name and PyUnicode_READ_CHAR(name, 0) in (u"$", u"d") and name in naming:
            if not is_plain_setting(name, setting):
                check_names(value, pointer)
            found = True
    return found


cdef bint is_plain_setting(name, setting) except -1:
    """Whether nothing is wrong with the setting of a keyword for which `check_names` looks."""
    if isinstance(setting, str):
        return name not in holding
    if not isinstance(setting, dict) or name not in holding:
        return False
    for schema in (<dict>setting).values():
        if not isinstance(schema, (dict, bool)):
            return False
    return True


cdef class SchemaObject:
    def __init__(
        self, DocumentParser parser, value, str pointer, dialect, resolver, bint closed=False
    ):
        self.parser, self.value, self.pointer = parser, value, pointer
        self.dialect, self.resolver, self.closed = dialect, resolver, closed

    @property
    def draft(self):
        return self.dialect.draft

    def has(self, keyword):
        return keyword in self.value and keyword in self.dialect.keywords

    def has_tuple(self):
        return isinstance(self.value.get("items"), list)

    cpdef str place(self, keyword):
        return self.pointer + "/" + keyword

    cpdef SchemaText child(self, setting, str place):
        return self.parser.schema(
            setting, place, self.dialect, self.resolver, False, self.closed
        )

    def condition(self, setting, str place):
        return self.parser.schema(setting, place, self.dialect, self.resolver)

    def children(self, setting, str place):
        if not isinstance(setting, list) or not setting:
            wrong(setting, "a non-empty array of schemas", place)
        return self.items(setting, place)

    def items(self, setting, str place):
        return tuple([self.child(each, f"{place}/{at}") for at, each in enumerate(setting)])

    def optional(self, keyword):
        return self.child(self.value.get(keyword, True), self.place(keyword))

    def pattern(self, setting, str place):
        if not isinstance(setting, str):
            wrong(setting, "a string", place)
        self.parser.annotations.extend(pattern_remarks(setting, place))
        try:
            return search(setting, self.parser.options.limits)
        except RegexError as error:
            kind = UnsupportedSchemaError if error.unsupported else SchemaError
            raise kind(f"in the pattern: {error.message}", pointer=place) from None
        except LimitError as error:
            error.place(Construct.schema(place))
            raise


