"""What is likely to be a mistake in a schema that can be used, or more than was meant; and what has
to change for a schema to work at other services.

Among others: options and properties that no value matches, options that share values, required
properties that no schema for the same object lists, patterns that say less than they seem to, and
names and values that models rarely write as they stand.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import Any, Final

from msgspec import Struct, field

from maskwright.automaton.value.finite_values import canonical
from maskwright.errors import InputError
from maskwright.grammar.pattern.parse import parse_pattern
from maskwright.grammar.pattern.translate import search
from maskwright.grammar.pattern.tree import Anchor, Choice, Class, Concat, Pattern, Quantified
from maskwright.grammar.schema.document import plain
from maskwright.grammar.schema.drafts import BY_NAME
from maskwright.grammar.schema.tree import Json, Report
from maskwright.limits import DEFAULT_LIMITS, Work
from maskwright.workbench.findings.finding import Finding, is_endless, odd_value, reported
from maskwright.workbench.pointer import (
    entry_pointer,
    local_target,
    pointer_of,
    reference_tokens,
    value_at,
)
from maskwright.workbench.schema.no_values import SolvedParts

_COMBINED: Final = ("allOf", "anyOf", "oneOf")
_CONDITIONS: Final = ("not", "if")
_FOLLOWING: Final = ("then", "else")
_ELSEWHERE: Final = frozenset({"$ref", "$dynamicRef", "$recursiveRef", "patternProperties"})
"""Keywords by which a property may be described although its name isn't listed."""


class _SameValue(Struct):
    """The schemas for one value: one schema and all within its unions and conditions."""

    names: set[str] = field(default_factory=set[str])
    """The properties that any of them lists."""
    is_known: bool = True
    """Whether there are no others that are described elsewhere."""


def unlisted(parts: Iterable[tuple[str, dict[str, Any]]]) -> Iterator[Finding]:
    """Required properties that may have any value and come after all that are listed. `parts`: all
    schemas of a document with their pointers, the outer ones first."""
    parts = list(parts)
    groups: dict[int, _SameValue] = {}
    conditions: set[int] = set()
    for _, part in parts:
        group = groups.setdefault(id(part), _SameValue())
        group.names.update(_by_name(part, "properties"))
        group.is_known &= _ELSEWHERE.isdisjoint(part)
        group.is_known &= part.get("additionalProperties", True) is True
        for keyword, inner in _for_same_value(part):
            groups[id(inner)] = group
            if keyword in _CONDITIONS or id(part) in conditions:
                conditions.add(id(inner))
    for pointer, part in parts:
        group = groups[id(part)]
        if not group.is_known or id(part) in conditions:
            continue
        for index, name in enumerate(part.get("required", [])):
            if name not in group.names:
                message = f"{name!r} is required but not among the properties: it comes after them,"
                at = f"{pointer}/required/{index}"
                yield Finding(at, "warning", "required-unlisted", f"{message} with any value")


def _by_name(schema: dict[str, Any], keyword: str) -> dict[str, Any]:
    """The setting of a keyword that holds something by name; empty for any other."""
    setting = schema.get(keyword)
    return setting if isinstance(setting, dict) else {}


def _for_same_value(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The schemas within a schema that are about the same value, with their keywords."""
    for keyword in _COMBINED:
        options = schema.get(keyword)
        for inner in options if isinstance(options, list) else ():
            if isinstance(inner, dict):
                yield keyword, inner
    for keyword in (*_CONDITIONS, *_FOLLOWING):
        if isinstance(schema.get(keyword), dict):
            yield keyword, schema[keyword]
    for inner in _by_name(schema, "dependentSchemas").values():
        if isinstance(inner, dict):
            yield "dependentSchemas", inner


MOST_VALUES: Final = 1_000
"""Values of one `enum` that are looked at."""


def is_endless_pattern(pattern: Any) -> bool:
    """Whether a pattern of a schema leaves open how long a string is. False where this can't be
    decided within the limits of a grammar."""
    try:
        with Work(DEFAULT_LIMITS):
            return is_endless(search(pattern))
    except (InputError, TypeError):
        return False


def open_pattern(pointer: str, schema: dict[str, Any]) -> Iterator[Finding]:
    """A pattern that isn't bound to the beginning or the end of the string."""
    pattern = schema.get("pattern")
    if not isinstance(pattern, str):
        return
    try:
        tree = parse_pattern(pattern, DEFAULT_LIMITS, None)
    except InputError:
        return
    at = pointer + pointer_of("pattern")
    begins, ends = _is_bound(tree, 0), _is_bound(tree, -1)
    if not begins and not ends:
        message = "any text may stand before and after what this pattern matches; ^ and $ bind it"
        yield Finding(at, "warning", "open-pattern", message)
    elif not begins or not ends:
        where, anchor = ("before", "^") if ends else ("after", "$")
        message = f"any text may stand {where} what this pattern matches; {anchor} binds it"
        yield Finding(at, "note", "open-pattern", message)


def _is_bound(tree: Pattern, at: int) -> bool:
    """Whether a pattern says what its string begins (`at` 0) or ends (-1) with. Any text that is
    written out, as by `.*`, was meant."""
    match tree:
        case Concat(parts=parts):
            return bool(parts) and _is_bound(parts[at], at)
        case Choice(options=options):
            return all(_is_bound(option, at) for option in options)
        case Anchor(kind=kind):
            return kind == ("start", "end")[at]
        case Quantified(body=Class(), least=0, most=None):
            return True
        case Quantified(body=body):
            return _is_bound(body, at)
        case Class():
            return False
        case _:
            return True  # a look to the side


def token_traps(pointer: str, schema: dict[str, Any]) -> Iterator[Finding]:
    """Names and values that models rarely write as they stand, and values that are nearly equal."""
    for name in _by_name(schema, "properties"):
        if (odd := odd_value(name)) is not None:
            yield _trap(pointer + pointer_of("properties", name), f"the name {name!r} {odd}")
    const = schema.get("const")
    if isinstance(const, str) and (odd := odd_value(const)) is not None:
        yield _trap(pointer + pointer_of("const"), f"{const!r} {odd}")
    values = schema.get("enum")
    if not isinstance(values, list) or len(values) > MOST_VALUES:
        return
    alike: defaultdict[str, list[str]] = defaultdict(list)
    for index, value in enumerate(values):
        if not isinstance(value, str):
            continue
        if (odd := odd_value(value)) is not None:
            yield _trap(pointer + pointer_of("enum", index), f"{value!r} {odd}")
        like = alike["".join(value.casefold().split())]
        if value in like:
            continue  # which is no trap
        like.append(value)
        if len(like) == 2:
            difference = f"{value!r} differs from {like[0]!r} in case or white space only"
            yield _trap(pointer + pointer_of("enum", index), f"{difference}: a model takes either")


def _trap(pointer: str, message: str) -> Finding:
    return Finding(pointer, "warning", "token-trap", message)


MOST_OPTIONS: Final = 12
"""Options of an `anyOf` or `oneOf` up to which each is compared with each."""
_KINDS: Final = frozenset({"type", "$ref", "enum", "const", "properties", "pattern", "format"})
"""Keywords that say what kind of value an option is. Others, such as `required` alone, only add a
condition to what stands beside the union, and are meant to hold together."""


def impossible(pointer: str, schema: dict[str, Any], parts: SolvedParts) -> Iterator[Finding]:
    """Options, items and properties that no value satisfies."""
    for keyword in ("anyOf", "oneOf"):
        for index, option in enumerate(schema.get(keyword, [])):
            at = f"{pointer}/{keyword}/{index}"
            if parts.is_impossible(option, at):
                message = "this option is never taken: no value matches it"
                yield Finding(at, "warning", "unsatisfiable", message)
    items = schema.get("items")
    if isinstance(items, dict) and parts.is_impossible(items, f"{pointer}/items"):
        message = "there is never an item here: no value matches it"
        yield Finding(f"{pointer}/items", "warning", "unsatisfiable", message)
    for name, value in _by_name(schema, "properties").items():
        at = pointer + pointer_of("properties", name)
        if value is not False and parts.is_impossible(value, at):
            message = f"the property {name!r} never occurs: no value matches it"
            yield Finding(at, "warning", "unsatisfiable", message)


def shared_values(pointer: str, schema: dict[str, Any], parts: SolvedParts) -> Iterator[Finding]:
    """Options with values that another option has, too. Each later option is reported once."""
    for keyword in ("anyOf", "oneOf"):
        options = schema.get(keyword, [])
        if len(options) > MOST_OPTIONS:
            continue
        reported: set[int] = set()
        for (first, one), (second, other) in combinations(enumerate(options), 2):
            if second in reported or not (_says_kind(one) and _says_kind(other)):
                continue
            at = f"{pointer}/{keyword}"
            pair = (one, f"{at}/{first}"), (other, f"{at}/{second}")
            if parts.share_values(*pair, around=(schema, pointer)):
                reported.add(second)
                yield _shared(keyword, f"{at}/{second}", f"{at}/{first}")


def _shared(keyword: str, pointer: str, other: str) -> Finding:
    if keyword == "oneOf":
        message = f"values that match this option and #{other} as well are refused"
        return Finding(pointer, "warning", "ambiguous", message)
    message = f"a value may match this option and #{other} as well"
    return Finding(pointer, "note", "ambiguous", message)


def _says_kind(option: Any) -> bool:
    return isinstance(option, dict) and not _KINDS.isdisjoint(option)


_BOUNDS: Final = {
    "string": ("maxLength", "format"),
    "array": ("maxItems",),
    "object": ("maxProperties",),
}
"""Keywords that bound values of a type."""
_REASONS: Final = frozenset(
    {"reason", "reasons", "reasoning", "thought", "thoughts", "explanation", "rationale"}
)
"""Names of properties in which a model gives reasons for what it writes after them."""
_LISTS: Final = ("anyOf", "oneOf", "allOf", "prefixItems", "items")
_SINGLE: Final = (
    *("items", "additionalItems", "unevaluatedItems", "contains"),
    *("additionalProperties", "unevaluatedProperties", "propertyNames"),
    *("not", "if", "then", "else"),
)
"""Keywords that hold schemas: in a list, or one."""
_OF_TYPES: Final = {
    keyword: types
    for types, keywords in (
        (("string",), "minLength maxLength pattern"),
        (("number", "integer"), "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf"),
        (("array",), "items prefixItems minItems maxItems uniqueItems contains"),
        (("object",), "properties required additionalProperties patternProperties propertyNames"),
        (("object",), "minProperties maxProperties dependentRequired"),
    )
    for keyword in keywords.split()
}
"""Keywords that demand nothing of values of other types."""


def lint_schema(schema: Json, report: Report) -> list[Finding]:
    """What is found in a schema that has been compiled; `report` is the grammar's."""
    found = reported(report)
    found += [Finding(entry_pointer(e), "note", "narrowed", e.note) for e in report.narrowed]
    schema, _ = plain(schema)
    if not isinstance(schema, dict):
        return found
    used = set(_references(schema))
    parts = SolvedParts(schema)
    whole = [*subschemas(schema), *_elsewhere(schema)]
    found += unlisted(whole)
    for pointer, part in whole:
        found += _unbounded(pointer, part)
        found += _order(pointer, part)
        found += _unused(pointer, part, used)
        found += _without_effect(pointer, part)
        found += open_pattern(pointer, part)
        found += token_traps(pointer, part)
        found += _repeated(pointer, part)
        found += impossible(pointer, part, parts)
        found += shared_values(pointer, part, parts)
    return found


def subschemas(schema: Json, pointer: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every schema object of a document, with its pointer, the outer ones first."""
    if not isinstance(schema, dict):
        return
    yield pointer, schema
    for keyword, setting in schema.items():
        at = pointer + pointer_of(keyword)
        if keyword in BY_NAME:
            for name, inner in _by_name(schema, keyword).items():
                yield from subschemas(inner, at + pointer_of(name))
        elif isinstance(setting, list) and keyword in _LISTS:
            for index, inner in enumerate(setting):
                yield from subschemas(inner, f"{at}/{index}")
        elif keyword in _SINGLE:
            yield from subschemas(setting, at)


def _elsewhere(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """As `subschemas`, those that stand where no keyword holds schemas, and to which a reference
    leads: in the components of an API's description, or in a tool."""
    parts = [*subschemas(schema)]
    seen = {pointer for pointer, _ in parts}
    while parts:
        targets = {local_target(part) for _, part in parts}
        referred = {target for target in targets if target is not None}
        found = [subschemas(value_at(schema, each), each) for each in sorted(referred - seen)]
        parts = [each for inner in found for each in inner if each[0] not in seen]
        seen |= referred | {pointer for pointer, _ in parts}
        yield from parts


def types_of(schema: dict[str, Any]) -> list[str]:
    """The types that a schema names."""
    found = schema.get("type", [])
    return [found] if isinstance(found, str) else list(found)


def _unbounded(pointer: str, schema: dict[str, Any]) -> Iterator[Finding]:
    """Parts that a model may fill until its tokens are used up."""
    if "enum" in schema or "const" in schema:
        return
    for kind in types_of(schema):
        bounds = _BOUNDS.get(kind, ("maxLength",))
        if kind not in _BOUNDS or any(keyword in schema for keyword in bounds):
            continue
        if kind == "string" and "pattern" in schema and not is_endless_pattern(schema["pattern"]):
            continue
        if kind == "object" and schema.get("additionalProperties", True) is False:
            continue
        if kind == "array" and schema.get("items", True) is False:
            continue
        extra = " or additionalProperties: false" if kind == "object" else ""
        message = f"a model may fill this {kind} without end; {bounds[0]}{extra} bounds it"
        yield Finding(pointer, "note", f"unbounded-{kind}", message)


def _order(pointer: str, schema: dict[str, Any]) -> Iterator[Finding]:
    """Properties come in the order in which the schema lists them."""
    for name in [*_by_name(schema, "properties")][1:]:
        if name.lower() in _REASONS:
            message = f"{name!r} comes after what it gives reasons for; list it first"
            at = pointer + pointer_of("properties", name)
            yield Finding(at, "warning", "reasons-last", message)


def _repeated(pointer: str, schema: dict[str, Any]) -> Iterator[Finding]:
    """Values that stand in an `enum` more than once; JSON Schema asks that each be there once."""
    values = schema.get("enum")
    if not isinstance(values, list) or len(values) > MOST_VALUES:
        return
    places: dict[str, int] = {}
    for index, value in enumerate(values):
        first = places.setdefault(canonical(json.dumps(value)), index)
        if first < index:
            message = f"this is equal to value {first + 1} of the enum, and adds nothing to it"
            yield Finding(pointer + pointer_of("enum", index), "warning", "repeated-value", message)


def _references(value: Any) -> Iterator[str]:
    """The pointers that local references name, and those around them."""
    if isinstance(value, dict):
        for keyword in ("$ref", "$dynamicRef"):
            reference = value.get(keyword)
            if isinstance(reference, str):
                yield reference.removeprefix("#")
        for inner in value.values():
            yield from _references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _references(inner)


def _unused(pointer: str, schema: dict[str, Any], used: set[str]) -> Iterator[Finding]:
    """Definitions that nothing refers to. One that has a name of its own may be meant by it."""
    for keyword in ("$defs", "definitions"):
        for name, definition in _by_name(schema, keyword).items():
            at = pointer + pointer_of(keyword, name)
            is_named = isinstance(definition, dict) and any(
                anchor in definition for anchor in ("$id", "id", "$anchor", "$dynamicAnchor")
            )
            if not is_named and not any(one == at or one.startswith(f"{at}/") for one in used):
                yield Finding(at, "warning", "unused-definition", "nothing refers to this")


def _without_effect(pointer: str, schema: dict[str, Any]) -> Iterator[Finding]:
    """Keywords for values of a type that the schema doesn't allow."""
    types = types_of(schema)
    for keyword in schema if types else ():
        meant = _OF_TYPES.get(keyword)
        if meant is not None and not set(meant) & {*types}:
            message = f"{keyword} demands nothing here: it is about {meant[0]}s, the type is "
            message += " or ".join(types)
            yield Finding(pointer + pointer_of(keyword), "warning", "no-effect", message)


UNSUPPORTED: Final = (
    *("allOf", "not", "if", "then", "else"),
    *("dependentRequired", "dependentSchemas", "patternProperties", "propertyNames"),
)
MOST_PROPERTIES: Final = 5_000
MOST_LEVELS: Final = 10
MOST_ENUM_VALUES: Final = 1_000
MOST_CHARACTERS: Final = 120_000
"""Characters of all names, enumerated values and constants together."""


def openai_strict(schema: Json) -> list[Finding]:
    """Where a schema breaks the rules of OpenAI's strict mode, as its documentation of early 2026
    has them."""
    if not isinstance(schema, dict):
        return [_broken("", "root", "the root has to be an object schema")]
    found: list[Finding] = []
    if types_of(schema) != ["object"] or "anyOf" in schema:
        message = "the root has to be of type object, and no anyOf"
        found.append(_broken("", "root", message))
    for pointer, part in subschemas(schema):
        found += _of_object(pointer, part)
        for keyword in UNSUPPORTED:
            if keyword in part:
                message = f"{keyword} is not supported"
                found.append(_broken(pointer + pointer_of(keyword), "unsupported", message))
    return [*found, *_sizes(schema)]


def _broken(pointer: str, rule: str, message: str) -> Finding:
    return Finding(pointer, "error", f"openai-strict-{rule}", message)


def _of_object(pointer: str, schema: dict[str, Any]) -> Iterator[Finding]:
    if "object" not in types_of(schema) and "properties" not in schema:
        return
    if schema.get("additionalProperties", True) is not False:
        message = "additionalProperties has to be false"
        yield _broken(pointer, "additional", message)
    for name in schema.get("properties", {}):
        if name not in schema.get("required", []):
            message = f"{name!r} has to be required; an optional value is a union with null"
            yield _broken(pointer + pointer_of("properties", name), "required", message)


def _sizes(schema: dict[str, Any]) -> Iterator[Finding]:
    properties = values = characters = 0
    for pointer, part in subschemas(schema):
        names = [*part.get("properties", {}), *part.get("$defs", {})]
        listed = [*part.get("enum", []), *([part["const"]] if "const" in part else [])]
        properties += len(part.get("properties", {}))
        values += len(part.get("enum", []))
        characters += sum(map(len, names)) + sum(len(str(value)) for value in listed)
        depth = sum(token in ("properties", "items") for token in reference_tokens(pointer))
        if depth == MOST_LEVELS + 1:
            yield _broken(pointer, "depth", f"nested deeper than {MOST_LEVELS} levels")
    for count, most, what in (
        (properties, MOST_PROPERTIES, "properties"),
        (values, MOST_ENUM_VALUES, "values in enums"),
        (characters, MOST_CHARACTERS, "characters in names and listed values"),
    ):
        if count > most:
            yield _broken("", "size", f"{count:,} {what}; {most:,} are allowed")
