"""The shape of one schema without unions; see `lone.pyi`."""

cimport cython

from maskwright.garbage cimport hide
from maskwright.grammar.regular.terms import EMPTY, is_text, words
from maskwright.grammar.schema.document_text cimport SchemaText
from maskwright.grammar.schema.tree import (
    ABOUT,
    TYPES,
    Items,
    NotValues,
    Properties,
    PropertyCount,
    Required,
    TypeIs,
    Values,
)
from maskwright.grammar.shape.containers import array_shape
from maskwright.grammar.shape.scalars import lone_scalars, scalars_of
from maskwright.grammar.shape.shape import NEVER, ArrayShape, ObjectShape, Shape, joint_count
from maskwright.native cimport BUILT_FROM
from maskwright.native import require_built

require_built(__name__, BUILT_FROM)

cdef frozenset ALL = TYPES, ANY = frozenset(), INTEGER = frozenset(("integer",))
cdef dict KINDS = ABOUT, NO_NAMES = {}


def lone_shape(tuple assertions, options, objects_of):
    cdef frozenset types = ALL
    cdef list narrowing = [], arrays = [], objects = []
    cdef bint lists = False, excludes = False, is_of_strings = False
    for assertion in assertions:
        cls = type(assertion)
        kind = KINDS.get(cls)
        if kind == "object":
            objects.append(assertion)
        elif kind == "array":
            arrays.append(assertion)
        elif kind is not None:
            narrowing.append(assertion)
        elif cls is TypeIs:
            named = assertion.types
            types = types & (named | INTEGER if "number" in named else named)
        elif cls is NotValues:
            excludes = True
        elif cls is Values and not has_containers(assertion.values):
            is_of_strings = not lists and has_strings_alone(assertion.values)
            lists = True
            listed = assertion.values
        else:
            return None
    if is_of_strings and not narrowing and not excludes:
        strings, scalars = words(listed) if "string" in types else EMPTY, EMPTY
    elif lists or excludes:
        strings, scalars = scalars_of(assertions, types, options)
    else:
        strings, scalars = lone_scalars(tuple(narrowing), types, options)
    array = found = None
    if not lists and "array" in types:
        array = array_of(arrays)
    if not lists and "object" in types:
        found = object_of(objects)
        if found is NotImplemented:
            found = objects_of(objects)
    return Shape(
        strings, scalars, () if array is None else (array,), () if found is None else (found,)
    )


cdef bint has_containers(tuple values) except -1:
    for value in values:
        if isinstance(value, (list, dict)):
            return True
    return False


cdef bint has_strings_alone(tuple values) except -1:
    for value in values:
        if type(value) is not str:
            return False
    return True


cdef frozenset alone(SchemaText schema):
    """See `conjunction_of`; of a schema on its own."""
    return hide(frozenset((schema,))) if schema.assertions or schema.never else ANY


cdef object array_of(list assertions):
    rest = ANY
    if len(assertions) == 1 and type(assertions[0]) is Items and not assertions[0].prefix:
        rest = alone(assertions[0].rest)
    elif assertions:
        return array_shape(assertions)
    return ArrayShape((), rest, 0, None, (), False, False)


cdef object object_of(list assertions):
    """The objects that meet the assertions, None if there are none; `NotImplemented` where more is
    said than which members there may be and must be, and how many."""
    cdef dict required = {}
    cdef list counts = []
    properties = None
    for assertion in assertions:
        cls = type(assertion)
        if cls is Properties:
            if properties is not None or assertion.patterns or assertion.closes:
                return NotImplemented
            properties = assertion
        elif cls is Required:
            required.update(dict.fromkeys(assertion.names))
        elif cls is PropertyCount:
            counts.append(assertion)
        else:
            return NotImplemented
    least, most = joint_count(counts) if counts else (0, None)
    if most is not None and most < max(least, len(required)):
        return None
    return object_with(properties, required, least, most)


cdef object object_with(properties, dict required, least, most):
    cdef list names, values = []
    cdef SchemaText schema
    cdef Py_ssize_t at
    named, others = NO_NAMES, ANY
    if properties is not None:
        named, others = properties.named, alone(properties.additional)
    names = list(named)
    for name in required:
        schema = named.get(name)
        if schema is None:
            names.append(name)
        elif schema.never:
            return None
    for name in names:
        if not (<str>name).isascii() and not is_text(name):
            values.append(NEVER)
        else:
            schema = named.get(name)
            values.append(others if schema is None else alone(schema))
    needed = hide(frozenset([at for at, name in enumerate(names) if name in required]))
    value = hide(tuple(values))
    return ObjectShape(
        tuple(names), len(named), value, needed, (), OthersAlike(others), (), least, most
    )


@cython.no_gc
cdef class OthersAlike:
    """What the value of any name must satisfy that a shape doesn't list: the same for all."""
    cdef object value

    def __init__(self, value):
        self.value = value

    def __call__(self, mask):
        return self.value
