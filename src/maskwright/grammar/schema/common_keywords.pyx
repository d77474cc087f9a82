"""Keywords that most schemas have; see `common_keywords.pyi`."""

from maskwright.garbage cimport hide
from maskwright.grammar.schema.document_text cimport SchemaText
from maskwright.grammar.schema.schema_object cimport DocumentParser, SchemaObject
from maskwright.native cimport BUILT_FROM

from maskwright.errors import SchemaError
from maskwright.grammar.schema.document import as_array, as_mapping, as_names, escape, wrong
from maskwright.grammar.schema.drafts import Draft
from maskwright.grammar.schema.tree import (
    CLOSED_BY_DEFAULT,
    TYPES,
    AllOf,
    DigitsOnly,
    Items,
    Properties,
    ReportEntry,
    Required,
    TypeIs,
    Values,
)
from maskwright.native import require_built

require_built(__name__, BUILT_FROM)

cdef object DRAFT4 = Draft.DRAFT4
cdef dict one_type = {name: [TypeIs(frozenset([name]))] for name in sorted(TYPES)}


def read_type(SchemaObject source, setting, str place):
    cdef list asserted = one_type.get(setting) if isinstance(setting, str) else None
    if asserted is None:
        asserted = [TypeIs(type_names(setting, place))]
    types = asserted[0].types
    if "integer" not in types or "number" in types:
        return asserted
    if source.dialect.draft is DRAFT4:
        return asserted + [DigitsOnly()]
    if source.parser.options.plain_integers:
        return asserted + [DigitsOnly(preferred=True)]
    return asserted


cdef frozenset type_names(setting, str place):
    names = [setting] if isinstance(setting, str) else setting
    if not isinstance(names, list) or not names:
        wrong(setting, "the name of a type or a non-empty array of them", place)
    for name in names:
        if not isinstance(name, str) or name not in TYPES:
            known = ", ".join(sorted(TYPES))
            if name is None:
                known += '; the type of null is written "null", as a string'
            raise SchemaError(f"unknown type {name!r}; known are {known}", pointer=place)
    return hide(frozenset(names))


def read_enum(SchemaObject source, setting, str place):
    cdef tuple values = tuple([copied(value) for value in as_array(setting, place)])
    return [Values(values, source.parser.options.plain_integers)]


def read_const(SchemaObject source, setting, str place):
    return [Values((copied(setting),), source.parser.options.plain_integers)]


cdef object copied(value):
    """A value of which the tree may keep the arrays and objects: the caller may change its own."""
    if isinstance(value, list):
        return [copied(each) for each in value]
    if isinstance(value, dict):
        return {name: copied(each) for name, each in value.items()}
    return value


# One assertion for three keywords, made where the first of them is read.


def read_properties(SchemaObject source, setting, str place):
    return [properties_of(source)]


def read_pattern_properties(SchemaObject source, setting, str place):
    return [] if "properties" in source.value else [properties_of(source)]


def read_additional_properties(SchemaObject source, setting, str place):
    if "properties" in source.value or "patternProperties" in source.value:
        return []
    return [properties_of(source)]


cdef object properties_of(SchemaObject source):
    cdef dict named = {}
    cdef list patterns = []
    cdef str place
    cdef SchemaText additional
    keywords = source.value
    if "properties" in keywords:
        place = source.place("properties")
        for name, value in mapping_in(keywords["properties"], place).items():
            named[name] = source.child(value, below(place, name))
    if "patternProperties" in keywords:
        place = source.place("patternProperties")
        for name, value in mapping_in(keywords["patternProperties"], place).items():
            at = below(place, name)
            patterns.append((source.pattern(name, at), source.child(value, at)))
    additional = source.optional("additionalProperties")
    closes = closed_by(source)
    if closes:
        source.parser.enforced.append(
            ReportEntry(source.pointer, "additionalProperties", CLOSED_BY_DEFAULT)
        )
    covers_all = "additionalProperties" in keywords
    return Properties(named, tuple(patterns), additional, covers_all, closes)


cdef inline str below(str place, name):
    """The JSON Pointer of a member."""
    return place + "/" + (escape(name) if "/" in name or "~" in name else name)


cdef object closed_by(SchemaObject source):
    """See `Properties.closes`."""
    if not source.closed:
        return None
    if source.value.get("additionalProperties", False) is not False:
        return False
    says_nothing = "additionalProperties" not in source.value and "properties" in source.value
    return True if says_nothing else None


def read_items(SchemaObject source, setting, str place):
    """A schema for all items or, up to draft 2019-09, an array of schemas for the first ones.

    Schemas that declare no draft are often written for an older one. So an array is read in draft
    2020-12 as well, unless `prefixItems` shows that the draft is meant.
    """
    if source.has("prefixItems"):
        return []  # whose reader reads it
    if isinstance(setting, list):
        prefix = source.items(setting, place)
        rest = source.optional("additionalItems")
        return [Items(prefix, rest, "additionalItems" in source.value)]
    rest = source.child(setting, place)
    return [Items((), rest)]


def read_required(SchemaObject source, setting, str place):
    return [Required(names_in(setting, place))]


cdef tuple names_in(setting, str place):
    if isinstance(setting, list):
        for name in setting:
            if not isinstance(name, str):
                break
        else:
            return tuple(dict.fromkeys(setting))
    return as_names(setting, place)  # which says what is wrong


cdef dict mapping_in(setting, str place):
    return setting if isinstance(setting, dict) else as_mapping(setting, place)


def read_reference(SchemaObject source, setting, str place):
    cdef DocumentParser parser = source.parser
    cdef SchemaText schema
    cdef bint is_plain = source.resolver is None and not source.closed
    if not isinstance(setting, str):
        wrong(setting, "a string", place)
    known = parser.referenced.get(setting) if is_plain else None
    if known is not None:
        parser.met_again[known[0].parts[0]] = None
        return known
    value, resolver, target = parser.references.find(setting, source.resolver, place)
    pointer = place if target is None else target
    schema = parser.schema(value, pointer, source.dialect, resolver, True, source.closed)
    asserted = [AllOf((schema,))]
    if is_plain and isinstance(value, dict):
        parser.referenced[setting] = asserted
    return asserted


COMMON_KEYWORDS = {
    "type": read_type,
    "enum": read_enum,
    "const": read_const,
    "properties": read_properties,
    "patternProperties": read_pattern_properties,
    "additionalProperties": read_additional_properties,
    "items": read_items,
    "required": read_required,
    "$ref": read_reference,
    "$dynamicRef": read_reference,
}
