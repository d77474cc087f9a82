"""The part of a schema that keeps values from matching the whole: whether values match the parts of
a document, each part for itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from maskwright.automaton.satisfy.solver import Solver
from maskwright.errors import Construct, LimitError, SchemaError, UnsatisfiableSchemaError
from maskwright.grammar.schema.parse import ParsedSchema, ParseOptions, parse_schema
from maskwright.grammar.schema.tree import AnyOf, Assertion, Json, OneOf, Schema
from maskwright.immutable import Immutable
from maskwright.limits import DEFAULT_LIMITS, Work
from maskwright.workbench.pointer import local_target, pointer_of, value_at

_DOCUMENT: Final = "urn:maskwright:schema"


class SolvedParts:
    """The parts of one document, which is parsed once and has one solver, so that what is found
    for one part is used for those around it."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document
        self._solver = Solver("schema", DEFAULT_LIMITS)
        self._known: dict[bytes, bool] = {}
        """By the keys of schemas, which are equal for equal parts."""
        self._schemas: dict[int, list[Schema]] = {}
        """By the identity of the JSON object; more than one where a dynamic reference has several
        meanings."""
        self._add(parse_schema(document, ParseOptions()))

    def is_impossible(self, part: Json, pointer: str) -> bool:
        """Whether no value matches `part`, which stands at `pointer` of the document. False where
        this can't be decided within the limits of a grammar, or the part is no schema."""
        if not isinstance(part, dict):
            return part is False
        try:
            with Work(DEFAULT_LIMITS, Construct.schema(pointer)):
                return not any(map(self._has_values, self._parsed(part, pointer)))
        except (SchemaError, LimitError):
            return False

    def share_values(
        self, one: tuple[Json, str], other: tuple[Json, str], around: tuple[Json, str]
    ) -> bool:
        """Whether a value matches both of two options of a union and the other keywords of the
        schema `around` them, each given with its pointer. False where this can't be decided within
        the limits of a grammar."""
        try:
            with Work(DEFAULT_LIMITS, Construct.schema(other[1])):
                found = [self._parsed(part, pointer) for part, pointer in (one, other, around)]
                if any(len(each) != 1 for each in found):
                    return False
                [first], [second], [whole] = found
                rest = Schema(whole.pointer, _without_union(whole, second), whole.never)
                return self._solver.satisfiable(frozenset([first, second, rest]))
        except (SchemaError, LimitError):
            return False

    def _parsed(self, part: Json, pointer: str) -> list[Schema]:
        if id(part) not in self._schemas:  # no keyword leads to a definition without use
            self._parse(pointer)
        return self._schemas[id(part)]

    def _has_values(self, schema: Schema) -> bool:
        key = schema.key
        known = None if key is None else self._known.get(key)
        if known is None:
            known = self._solver.satisfiable(frozenset([schema]))
            if key is not None:
                self._known[key] = known
        return known

    def _parse(self, pointer: str) -> None:
        """Parse a part that the root of the document doesn't lead to."""
        options = ParseOptions(documents={_DOCUMENT: self._document})
        self._add(parse_schema({"$ref": f"{_DOCUMENT}#{pointer}"}, options))

    def _add(self, parsed: ParsedSchema) -> None:
        for visit, schema in parsed.schemas.items():
            identity = visit if isinstance(visit, int) else visit[0]
            self._schemas.setdefault(identity, []).append(schema)


def _without_union(schema: Schema, option: Schema) -> tuple[Assertion, ...]:
    """The assertions of a schema without the union that has `option`."""
    return tuple(
        assertion
        for assertion in schema.assertions
        if not (isinstance(assertion, AnyOf | OneOf) and option in assertion.options)
    )


class Contradiction(Immutable):
    """The innermost part of a schema that no value matches, though one has to."""

    pointer: str
    message: str


def contradiction(schema: Json) -> Contradiction | None:
    """Why no value matches a schema that has none; None where it isn't seen. Follows what has to
    match: required properties, options if none can be taken, items of arrays that need some, and
    references."""
    if not isinstance(schema, dict):
        return None
    parts, pointer, part, seen = SolvedParts(schema), "", schema, {""}
    while True:
        forbidden = _forbidden(pointer, part)
        if forbidden is not None:
            return forbidden
        inner = _inner(schema, pointer, part, parts)
        if inner is None:
            break
        if inner[0] in seen:
            message = "no value matches this: each would contain another one, without end"
            return Contradiction(inner[0], message)
        pointer, part = inner
        seen.add(pointer)
        if not isinstance(part, dict):
            return Contradiction(pointer, "no value matches false")
    if not pointer:
        return None
    return Contradiction(pointer, "no value matches this: its keywords contradict each other")


def naming_the_part(error: UnsatisfiableSchemaError, schema: Json) -> UnsatisfiableSchemaError:
    """The error with the place of the contradiction, if that is seen; otherwise the error itself.
    `schema`: the one that no value matches."""
    found = contradiction(schema) if error.pointer == "" else None
    if found is None:
        return error
    message = f"{error.reason}: {found.message}"
    return UnsatisfiableSchemaError(message, pointer=found.pointer, param=error.param)


def _forbidden(pointer: str, part: dict[str, Any]) -> Contradiction | None:
    """A required property that the same schema doesn't allow."""
    if part.get("type") != "object" or part.get("additionalProperties") is not False:
        return None
    if "patternProperties" in part:
        return None
    for index, name in enumerate(part.get("required", [])):
        if name not in part.get("properties", {}):
            message = f"{name!r} is required, but additionalProperties forbids it"
            return Contradiction(f"{pointer}/required/{index}", message)
    return None


def _inner(
    schema: dict[str, Any], pointer: str, part: dict[str, Any], parts: SolvedParts
) -> tuple[str, Any] | None:
    for at, inner in _needed(schema, pointer, part):
        if parts.is_impossible(inner, at):
            return at, inner
    for keyword in ("anyOf", "oneOf"):
        options = part.get(keyword, [])
        places = [f"{pointer}/{keyword}/{index}" for index in range(len(options))]
        if options and all(map(parts.is_impossible, options, places)):
            return places[0], options[0]
    return None


def _needed(
    schema: dict[str, Any], pointer: str, part: dict[str, Any]
) -> Iterator[tuple[str, Any]]:
    """The parts that have to have values if this part is to have one, with their pointers."""
    target = local_target(part)
    if target is not None and (referred := value_at(schema, target)) is not None:
        yield target, referred
    for index, each in enumerate(part.get("allOf", [])):
        yield f"{pointer}/allOf/{index}", each
    if part.get("type") == "object":
        properties = part.get("properties", {})
        for name in part.get("required", []):
            if name in properties:
                yield pointer + pointer_of("properties", name), properties[name]
    if part.get("type") == "array" and part.get("minItems", 0) > 0 and "prefixItems" not in part:
        yield f"{pointer}/items", part.get("items", True)
