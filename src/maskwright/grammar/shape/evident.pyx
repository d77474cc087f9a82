"""Schemas that evidently have a value; see `evident.pyi`."""

from decimal import Decimal
from fractions import Fraction

cimport cython

from maskwright.garbage cimport hide
from maskwright.grammar.regular.terms import EMPTY, is_text
from maskwright.grammar.schema.document_text cimport SchemaText
from maskwright.grammar.schema.tree import (
    ABOUT,
    TYPES,
    AllOf,
    AnyOf,
    DigitsOnly,
    ItemCount,
    Items,
    MultipleOf,
    NumberIn,
    Properties,
    PropertyCount,
    Required,
    StringIn,
    TypeIs,
    UniqueItems,
    Values,
)
from maskwright.grammar.shape.lone cimport alone
from maskwright.grammar.shape.shape import conjunction_of, joint_count
from maskwright.limits import CHEAP
from maskwright.native cimport BUILT_FROM
from maskwright.native import require_built
from maskwright.steps cimport spend

require_built(__name__, BUILT_FROM)

cdef enum:
    MOST_LEVELS = 64  # levels of required values that are looked at, one within another
    MOST_PARTS = 64  # schemas of one conjunction that are looked at, with those they refer to
    MOST_VALUES = 4096  # values within one; a text with more may be too long to be completed

# Whole numbers up to here have a short spelling.
cdef object PLAIN = 10**15

cdef frozenset ALL = TYPES
cdef dict KINDS = ABOUT
cdef frozenset INTEGER = frozenset(("integer",))


@cython.no_gc  # what is known refers to schemas alone
cdef class EvidentValues:
    cdef readonly dict known
    # How many values an evident one has in it, with itself; 0 where none is evident.
    cdef dict _sizes
    cdef Py_ssize_t _level

    def __init__(self, dict known not None):
        self.known, self._sizes = known, {}

    def has_value(self, frozenset conjunction not None):
        cdef SchemaText part
        found = self.known.get(conjunction)
        if found is not None:
            return found
        for part in conjunction:
            if part.never:
                found = self.known[conjunction] = False
                return found
        if self._size(conjunction, ALL) == 0:
            return None
        found = self.known[conjunction] = True
        return found

    def doubtful(self, tuple conjunctions not None):
        cdef list others = []
        cdef Py_ssize_t at
        for at, conjunction in enumerate(conjunctions):
            if not self.has_value(<frozenset?>conjunction):
                others.append(at)
        return others

    cdef Py_ssize_t _size(self, frozenset conjunction, frozenset types) except -1:
        """The values within an evident one of one of the types ("integer" is a type beside
        "number"); 0 if none is evident, or it has too many."""
        cdef tuple key = (conjunction, types)
        cdef Py_ssize_t found
        known = self._sizes.get(key)
        if known is not None:
            return known
        if self._level == MOST_LEVELS:
            return 0
        self._sizes[hide(key)] = 0  # for a value that is required within itself
        self._level += 1
        try:
            found = self._find(conjunction, types)
        finally:
            self._level -= 1
        if found > MOST_VALUES:
            found = 0
        self._sizes[key] = found
        return found

    cdef Py_ssize_t _find(self, frozenset conjunction, frozenset types) except -1:
        cdef dict about = {}
        cdef list others = [], waiting = list(conjunction)
        cdef Py_ssize_t looked_at = 0, size
        cdef SchemaText part
        spend(CHEAP)
        while looked_at < len(waiting):
            part = waiting[looked_at]
            if part.never or looked_at == MOST_PARTS:
                return 0
            looked_at += 1
            for assertion in part.assertions:
                cls = type(assertion)
                if cls is TypeIs:
                    named = assertion.types
                    types = types & (named | INTEGER if "number" in named else named)
                elif cls is AllOf:
                    waiting += assertion.parts
                else:
                    kind = KINDS.get(cls)
                    if kind is None:
                        others.append(assertion)
                    elif kind in about:
                        (<list>about[kind]).append(assertion)
                    else:
                        about[kind] = [assertion]
        if not others:
            return self._one_of(types, about)
        if about or len(others) > 1:
            return 0
        assertion = others[0]
        if type(assertion) is Values:
            for value in assertion.values:
                if is_evident(value, types):
                    return 1
        elif type(assertion) is AnyOf:
            for option in assertion.options:
                size = self._size(hide(frozenset((option,))), types)
                if size:
                    return size
        return 0

    cdef Py_ssize_t _one_of(self, frozenset types, dict about) except -1:
        """The size of a value of one of the types that evidently meets what is said of its type."""
        cdef Py_ssize_t size = 0
        for kind in types:
            if ("number" if kind == "integer" else kind) not in about:
                return 1
        if "string" in types and has_string(about["string"]):
            return 1
        if ("number" in types or "integer" in types) and has_whole_number(about["number"]):
            return 1
        if "array" in types:
            size = self._array(about["array"])
        if not size and "object" in types:
            size = self._object(about["object"])
        return size

    cdef Py_ssize_t _array(self, list assertions) except -1:
        cdef list counts = [each for each in assertions if type(each) is ItemCount]
        cdef list items = [each for each in assertions if type(each) is Items]
        cdef Py_ssize_t total = 1, size, at
        least, most = joint_count(counts) if counts else (0, None)
        if most is not None and most < least:
            return 0
        if least == 0:
            for each in assertions:
                if type(each) not in (ItemCount, Items, UniqueItems):
                    return 0
            return 1
        if len(items) + len(counts) < len(assertions) or least > MOST_PARTS:
            return 0
        for at in range(least):
            size = self._size(of_all([item_of(one, at) for one in items]), ALL)
            if not size:
                return 0
            total += size
        return total

    cdef Py_ssize_t _object(self, list assertions) except -1:
        """The size of the object of the required members alone, if it is evidently one."""
        cdef dict names = {}
        cdef list properties = [], counts = []
        cdef Py_ssize_t total = 1, size
        for assertion in assertions:
            cls = type(assertion)
            if cls is Required:
                names.update(dict.fromkeys(assertion.names))
            elif cls is Properties:
                properties.append(assertion)
            elif cls is PropertyCount:
                counts.append(assertion)
            else:
                return 0
        if counts:
            least, most = joint_count(counts)
            if not least <= len(names) <= (len(names) if most is None else most):
                return 0
        for name in names:
            size = self._member(name, properties)
            if not size:
                return 0
            total += size
        return total

    cdef Py_ssize_t _member(self, str name, list properties) except -1:
        cdef list values = []
        if not name.isascii() and not is_text(name):
            return 0
        for each in properties:
            if each.patterns:
                return 0
            values.append(each.named.get(name, each.additional))
        return self._size(of_all(values), ALL)


cdef frozenset of_all(list schemas):
    """See `conjunction_of`; mostly of one schema."""
    return alone(<SchemaText>schemas[0]) if len(schemas) == 1 else conjunction_of(schemas)


cdef object item_of(items, Py_ssize_t at):
    return items.prefix[at] if at < <Py_ssize_t>len(items.prefix) else items.rest


cdef bint has_string(list assertions) except -1:
    if len(assertions) != 1 or type(assertions[0]) is not StringIn:
        return False
    language = assertions[0].language
    return language.plain and language is not EMPTY


cdef bint has_whole_number(list assertions) except -1:
    """Whether 0 or a whole number near a bound meets all of the assertions."""
    cdef list near = [0]
    for each in assertions:
        if type(each) is NumberIn:
            for bound in (each.interval.low, each.interval.high):
                if bound is not None and abs(bound) < PLAIN:
                    near += [int(bound), int(bound) + 1, int(bound) - 1]
    for number in near:
        for each in assertions:
            if not is_met(each, number):
                break
        else:
            return True
    return False


cdef bint is_met(assertion, number) except -1:
    cls = type(assertion)
    if cls is NumberIn:
        return Decimal(number) in assertion.interval
    if cls is MultipleOf:
        return not assertion.negative and (
            # A remainder of decimals is refused where the quotient has many digits.
            number == 0 or Fraction(number) % Fraction(assertion.divisor) == 0
        )
    return cls is DigitsOnly and not assertion.negative


cdef bint is_evident(value, frozenset types) except -1:
    """Whether a value of an enumeration evidently has a text, and a type that is allowed. An array
    or object may contain half of a surrogate pair, which has none."""
    if value is None:
        return "null" in types
    if isinstance(value, bool):
        return "boolean" in types
    if isinstance(value, str):
        return "string" in types and is_text(value)
    return isinstance(value, int) and "integer" in types
