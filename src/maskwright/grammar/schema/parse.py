"""Parsing of a JSON Schema document into the closed tree of `grammar.schema.tree`.

Each keyword of the schema's draft becomes an assertion, is reported as an annotation, or is refused
with its JSON Pointer and the reason: there is no fourth case. What one keyword means is in the
tables `COMMON_KEYWORDS`, `SCALAR_KEYWORDS` (numbers and strings), `CONTAINER_KEYWORDS` (arrays and
objects) and `COMBINING_KEYWORDS` (subschemas about one value: logic, conditions, references).

Some keywords only have a meaning together: one of them reads the others, and these only check their
own setting.

Upper bounds on the branches of a value, once its unions are multiplied out, follow from the tree
alone, so they cost little; `grammar.shape.unions` finds the branches that there are, which may be
far fewer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property, partial
from math import prod
from typing import Final, cast

from maskwright.errors import SchemaError
from maskwright.garbage import hide
from maskwright.grammar.formats import format_language
from maskwright.grammar.number.interval import Interval
from maskwright.grammar.number.multiples import multiples
from maskwright.grammar.number.spellings import decimal
from maskwright.grammar.regular.terms import length
from maskwright.grammar.schema.circles import circular
from maskwright.grammar.schema.common_keywords import COMMON_KEYWORDS, read_reference
from maskwright.grammar.schema.document import (
    as_array,
    as_count,
    as_mapping,
    as_names,
    as_number,
    check,
    escape,
    loaded,
    plain,
    wrong,
)
from maskwright.grammar.schema.document_text import DocumentText
from maskwright.grammar.schema.drafts import SchemaDialect, dialect_of
from maskwright.grammar.schema.parse_options import ParseOptions
from maskwright.grammar.schema.references import References
from maskwright.grammar.schema.remarks import Remark, on_format
from maskwright.grammar.schema.schema_object import (
    DocumentParser,
    KeywordReader,
    SchemaObject,
    Visit,
)
from maskwright.grammar.schema.tree import (
    AllOf,
    AnyOf,
    Assertion,
    Contains,
    If,
    ItemCount,
    Items,
    Json,
    MultipleOf,
    Not,
    NumberIn,
    OneOf,
    PropertyCount,
    PropertyNames,
    Report,
    ReportEntry,
    Required,
    Schema,
    SchemaMaker,
    SomeMember,
    StringIn,
    TypeIs,
    Unevaluated,
    UniqueItems,
)
from maskwright.limits import CHEAP, Limits, spend

OF_CONTAINS: Final = 4.0
"""Branches that one `contains` counts as: of these an array may only have few."""


def most_branches(schemas: Iterable[Schema]) -> float:
    """An upper bound on the branches of a value of any of the schemas."""
    known: dict[Schema, float] = {}
    return max((_branches(schema, known) for schema in schemas), default=1.0)


def _branches(schema: Schema, known: dict[Schema, float]) -> float:
    found = known.get(schema)
    if found is None:
        spend(CHEAP)
        known[schema] = 1.0  # for a schema that refers to itself
        found = 1.0
        for assertion in schema.assertions:
            match assertion:
                case AllOf(parts=parts):
                    found *= prod(_branches(part, known) for part in parts)
                case AnyOf(options=options) | OneOf(options=options):
                    found *= max(1.0, sum(_branches(option, known) for option in options))
                case If(then=then, otherwise=otherwise):
                    found *= _branches(then, known) + _branches(otherwise, known)
                case Contains():
                    found *= OF_CONTAINS
                case _:
                    pass
        known[schema] = found
    return found


def _read_bound(
    source: SchemaObject, setting: Json, place: str, *, lower: bool, exclusive: bool
) -> list[Assertion]:
    if exclusive and isinstance(setting, bool):  # draft 4 has the number in the other keyword
        bound = source.value.get("minimum" if lower else "maximum")
        if not setting or bound is None:
            return []
        setting = bound
    limit = decimal(as_number(setting, place))
    if lower:
        return [NumberIn(Interval(low=limit, low_open=exclusive))]
    return [NumberIn(Interval(high=limit, high_open=exclusive))]


def _read_multiple_of(source: SchemaObject, setting: Json, place: str) -> list[Assertion]:
    divisor: Decimal = decimal(as_number(setting, place))
    if divisor <= 0:
        reason = f"a divisor is greater than 0, not {setting}"
        if divisor == 0 and isinstance(setting, float):  # 1e-400 is 0.0 when it has been read
            reason += "; a smaller one than 5e-324 is read as 0.0"
        raise SchemaError(reason, pointer=place)
    multiples(divisor, source.parser.options.limits.divisor)  # which checks the limit
    return [MultipleOf(divisor)]


def _read_format(source: SchemaObject, setting: Json, place: str) -> list[Assertion] | Remark:
    if not isinstance(setting, str):
        wrong(setting, "a string", place)
    if not source.parser.options.enforce_formats:
        return Remark("an annotation, as asked for")
    known = format_language(setting, source.draft.title)
    if known is None:
        return on_format(setting)
    if known.note:  # an enforced format may leave strings out, which the report says as well
        source.parser.annotations.append(ReportEntry(source.pointer, "format", known.note))
    return [StringIn(known.language)]


SCALAR_KEYWORDS: Final[dict[str, KeywordReader]] = {
    "minimum": partial(_read_bound, lower=True, exclusive=False),
    "maximum": partial(_read_bound, lower=False, exclusive=False),
    "exclusiveMinimum": partial(_read_bound, lower=True, exclusive=True),
    "exclusiveMaximum": partial(_read_bound, lower=False, exclusive=True),
    "multipleOf": _read_multiple_of,
    "minLength": lambda _, setting, place: [StringIn(length(as_count(setting, place), None))],
    "maxLength": lambda _, setting, place: [StringIn(length(0, as_count(setting, place)))],
    "pattern": lambda source, setting, place: [StringIn(source.pattern(setting, place))],
    "format": _read_format,
}


MANY: Final = 100
"""Items or members that are found without much work."""


def _least(source: SchemaObject, setting: Json, place: str) -> int:
    """A least count, which may take long to find values for."""
    least = as_count(setting, place)
    source.parser.intricate |= least > MANY
    return least


def _read_prefix_items(source: SchemaObject, setting: Json, place: str) -> list[Assertion]:
    prefix = source.items(as_array(setting, place), place)
    return [Items(prefix, source.optional("items"), "items" in source.value)]


def _read_additional_items(
    source: SchemaObject, setting: Json, place: str
) -> list[Assertion] | Remark:
    if not isinstance(source.value.get("items"), list):
        return Remark("without an array in 'items' it says nothing")
    return []  # the reader of `items` reads it


def _read_contains(source: SchemaObject, setting: Json, place: str) -> list[Assertion]:
    least, most = 1, None
    if source.has("minContains"):
        least = as_count(source.value["minContains"], source.place("minContains"))
    if source.has("maxContains"):
        most = as_count(source.value["maxContains"], source.place("maxContains"))
    source.parser.choices *= OF_CONTAINS
    return [Contains(source.condition(setting, place), least, most)]


def _check_contains_count(source: SchemaObject, setting: Json, place: str) -> list[Assertion]:
    as_count(setting, place)
    return []  # `_read_contains` reads it


def _read_dependencies(source: SchemaObject, setting: Json, place: str) -> list[Assertion]:
    """`dependencies` and the two keywords that have replaced it: an array names properties that
    are required where `name` is present, a schema has to hold there."""
    assertions: list[Assertion] = []
    for name, dependent in as_mapping(setting, place).items():
        below = f"{place}/{escape(name)}"
        if isinstance(dependent, list | str):  # draft 3 wrote a single name as a string
            names = (dependent,) if isinstance(dependent, str) else as_names(dependent, below)
            free = Schema(below)
            # "Without `name`, or with `other`" as one assertion, which unlike `If` is no union.
            assertions += (SomeMember({other: free}, (), (name,)) for other in names)
        else:
            source.parser.choices *= 2
            present = Schema(below, (TypeIs(frozenset(["object"])), Required((name,))))
            assertions.append(If(present, source.child(dependent, below), Schema(below)))
    return assertions


def _read_old_dependencies(
    source: SchemaObject, setting: Json, place: str
) -> list[Assertion] | Remark:
    """`dependencies`, which since draft 2019-09 may be anybody's name for anything."""
    if not source.draft.is_old and not _are_dependencies(setting):
        return Remark(
            f"not a keyword of {source.draft.title}, and no object of schemas and arrays of names"
        )
    return _read_dependencies(source, setting, place)


def _are_dependencies(setting: Json) -> bool:
    return isinstance(setting, dict) and all(
        isinstance(each, dict | bool)
        or (isinstance(each, list) and all(isinstance(name, str) for name in each))
        for each in setting.values()
    )


CONTAINER_KEYWORDS: Final[dict[str, KeywordReader]] = {
    "minItems": lambda source, setting, place: [ItemCount(_least(source, setting, place), None)],
    "maxItems": lambda _, setting, place: [ItemCount(0, as_count(setting, place))],
    "uniqueItems": lambda _, setting, place: [UniqueItems()] if setting is True else [],
    "prefixItems": _read_prefix_items,
    "additionalItems": _read_additional_items,
    "contains": _read_contains,
    "minContains": _check_contains_count,
    "maxContains": _check_contains_count,
    "propertyNames": lambda source, setting, place: [PropertyNames(source.child(setting, place))],
    "minProperties": lambda source, setting, place: [
        PropertyCount(_least(source, setting, place), None)
    ],
    "maxProperties": lambda _, setting, place: [PropertyCount(0, as_count(setting, place))],
    "dependentRequired": _read_dependencies,
    "dependentSchemas": _read_dependencies,
    "dependencies": _read_old_dependencies,
}


FEW_OPTIONS: Final = 2
"""Options of a `oneOf` up to which it hardly multiplies."""


def _read_any_of(source: SchemaObject, setting: Json, place: str) -> list[Assertion]:
    options = source.children(setting, place)
    _count(source, len(options))
    return [AnyOf(options)]


def _read_one_of(source: SchemaObject, setting: Json, place: str) -> list[Assertion]:
    options = source.children(setting, place)
    source.parser.widest = max(source.parser.widest, len(options))
    source.parser.intricate |= len(options) > FEW_OPTIONS
    _count(source, len(options))
    return [OneOf(options)]


def _count(source: SchemaObject, options: int) -> None:
    """Count the options of a union."""
    source.parser.choices *= max(1, options)
    source.parser.options_read += options


def _read_not(source: SchemaObject, setting: Json, place: str) -> list[Assertion]:
    source.parser.negates = True
    return [Not(source.condition(setting, place))]


def _read_if(source: SchemaObject, setting: Json, place: str) -> list[Assertion]:
    then, otherwise = source.optional("then"), source.optional("else")
    source.parser.choices *= 2
    return [If(source.condition(setting, place), then, otherwise)]


def _check_branch(source: SchemaObject, setting: Json, place: str) -> list[Assertion] | Remark:
    """`then` and `else`, which `_read_if` reads."""
    return [] if "if" in source.value else Remark("without 'if' it says nothing")


def _read_unevaluated(
    source: SchemaObject, setting: Json, place: str, *, kind: str
) -> list[Assertion]:
    source.parser.intricate = True
    return [Unevaluated(kind, source.child(setting, place))]


def _read_recursive_reference(source: SchemaObject, setting: Json, place: str) -> list[Assertion]:
    if source.resolver is None:  # without anchors `$recursiveRef` is `$ref`
        return read_reference(source, setting, place)
    if not isinstance(setting, str):  # which is always "#"
        wrong(setting, "a string", place)
    value, resolver = source.resolver.find_recursive()
    schema = source.parser.schema(
        value, place, source.dialect, resolver, entered=True, closed=source.closed
    )
    return [AllOf((schema,))]


COMBINING_KEYWORDS: Final[dict[str, KeywordReader]] = {
    "allOf": lambda source, setting, place: [AllOf(source.children(setting, place))],
    "anyOf": _read_any_of,
    "oneOf": _read_one_of,
    "not": _read_not,
    "if": _read_if,
    "then": _check_branch,
    "else": _check_branch,
    "unevaluatedProperties": partial(_read_unevaluated, kind="properties"),
    "unevaluatedItems": partial(_read_unevaluated, kind="items"),
    "$recursiveRef": _read_recursive_reference,
}


__all__ = ["ParseOptions", "ParsedSchema", "Visit", "parse_document", "parse_schema"]

READERS: Final[dict[str, KeywordReader]] = {
    **COMMON_KEYWORDS,
    **SCALAR_KEYWORDS,
    **CONTAINER_KEYWORDS,
    **COMBINING_KEYWORDS,
}
"""The reader of each keyword that asserts something in some draft."""

MANY_NEGATED: Final = 8
"""Options of unions from which on a `not` may multiply them."""


@dataclass(eq=False)
class ParsedSchema:
    """A document's tree, and the report of what was done with each keyword."""

    root: Schema
    report: Report
    text: bytes | None
    """What was parsed (see `DocumentText.text`)."""
    widest: int
    """The number of options of the longest `oneOf`."""
    schemas: Mapping[Visit, Schema]
    """Every schema that the root leads to, by where it was read."""
    _many_choices: bool
    """Whether there are enough unions for their number to matter once they are multiplied out."""
    _intricate: bool
    """Whether there is a keyword that may exceed a limit even in small numbers."""
    _limits: Limits

    @property
    def branches(self) -> float:
        """An upper bound on the branches of a value once its unions are multiplied out; 1 where the
        document has too few unions for that to matter."""
        return self._most_branches if self._many_choices else 1.0

    @cached_property
    def _most_branches(self) -> float:
        return most_branches(self.schemas.values())

    @property
    def one_ofs(self) -> Iterator[OneOf]:
        """Every `oneOf` of the document."""
        for schema in self.schemas.values():
            yield from (each for each in schema.assertions if isinstance(each, OneOf))

    @property
    def intricate(self) -> bool:
        """Whether there are keywords that may exceed a limit even in small numbers."""
        return self._intricate or self.branches > self._limits.alternatives


def parse_schema(source: Json | SchemaMaker, options: ParseOptions) -> ParsedSchema:
    """Parse a schema document (a dict or bool, JSON text, or a model of pydantic).

    Raises `SchemaError` and its subclasses with the JSON Pointer of what is wrong, `LimitError`.
    """
    return parse_document(check(loaded(source), options.limits), options)


def _empty_circles(parser: DocumentParser, root: Schema) -> None:
    """Leave no value to the schemas that refer to themselves about one and the same value, and
    refuse the document if its root is one of them."""
    if not circular(parser.met_again):  # which every circle has in it
        return
    found = circular(parser.schemas.values())
    if root in found:
        raise SchemaError(
            "the schema refers to itself without end, about one and the same value; a recursive"
            " reference has to stand in a property or an item",
            pointer=found[root].pointer,
        )
    for schema in found:
        schema.never, schema.assertions = True, ()
    note = "refers to itself without end, about one and the same value: no value satisfies it"
    pointers = dict.fromkeys(circle.pointer for circle in found.values())
    parser.annotations.extend(ReportEntry(pointer, "", note) for pointer in pointers)


def parse_document(text: DocumentText, options: ParseOptions) -> ParsedSchema:
    """Parse a document that has been checked, with the errors of `parse_schema`."""
    noted: list[ReportEntry] = []
    written = text.text
    if not text.is_plain:
        document, noted = plain(cast(Json, text.document))
        text = check(document, options.limits)
    document = cast(Json, text.document)
    dialect = SchemaDialect.of_draft(options.draft)
    if isinstance(document, dict) and "$schema" in document:
        dialect = dialect_of(document, options.documents, dialect, "")
    references = References(text, dialect.draft, options.documents)
    parser = DocumentParser(options, references)
    parser.annotations.extend(noted)
    if references.plain and text.text is not None:
        parser.text = text
    root = parser.schema(
        document, "", dialect, references.root(), entered=True, closed=options.closed
    )
    parser.read(READERS)
    if text.has_references:
        _empty_circles(parser, root)
    many_choices = parser.choices > options.limits.alternatives
    intricate = parser.intricate or (parser.negates and parser.options_read > MANY_NEGATED)
    return hide(
        ParsedSchema(
            root,
            hide(Report(parser.enforced, parser.annotations)),
            written,
            parser.widest,
            hide(parser.schemas),
            many_choices,
            intricate,
            options.limits,
        )
    )
