"""Whether values match the parts of a schema document, each part for itself."""

from __future__ import annotations

from typing import Any, Final

from maskwright.automaton.satisfy.solver import Solver
from maskwright.errors import Construct, LimitError, SchemaError
from maskwright.grammar.schema.parse import ParsedSchema, ParseOptions, parse_schema
from maskwright.grammar.schema.tree import AnyOf, Assertion, Json, OneOf, Schema
from maskwright.limits import DEFAULT_LIMITS, Work

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
