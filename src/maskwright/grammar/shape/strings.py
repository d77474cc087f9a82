"""The strings that satisfy a schema, by algebra alone: unions are not multiplied out."""

from __future__ import annotations

from maskwright.errors import SchemaError
from maskwright.grammar.regular.terms import ANYTHING, EMPTY, Regular, alt, both, complement
from maskwright.grammar.schema.tree import AllOf, AnyOf, Assertion, If, Not, OneOf, Schema, TypeIs
from maskwright.grammar.shape.scalars import strings_of
from maskwright.grammar.shape.unevaluated import ResolvedAssertions


class Strings:
    """The strings (their values, not their spellings) of each schema, computed once."""

    def __init__(self, resolved: ResolvedAssertions) -> None:
        self._resolved = resolved
        self._known: dict[Schema, Regular] = {}
        self._open: set[Schema] = set()

    def of(self, schema: Schema) -> Regular:
        """Raises `SchemaError` for a schema that refers to itself about the same value."""
        known = self._known.get(schema)
        if known is not None:
            return known
        if schema in self._open:
            raise SchemaError("the schema refers to itself without end", pointer=schema.pointer)
        self._open.add(schema)
        try:
            result = EMPTY if schema.never else ANYTHING
            for assertion in self._resolved.assertions(schema):
                result = both(result, self._satisfying(assertion))
        finally:
            self._open.discard(schema)
        self._known[schema] = result
        return result

    def _satisfying(self, assertion: Assertion) -> Regular:
        match assertion:
            case TypeIs(types=types):
                return ANYTHING if "string" in types else EMPTY
            case AllOf(parts=parts):
                return both(ANYTHING, *(self.of(part) for part in parts))
            case AnyOf(options=options):
                return alt(*(self.of(option) for option in options))
            case OneOf(options=options):
                return _exactly_one([self.of(option) for option in options])
            case Not(schema=inner):
                return complement(self.of(inner))
            case If(condition=condition, then=then, otherwise=otherwise):
                held = self.of(condition)
                return alt(
                    both(held, self.of(then)),
                    both(complement(held), self.of(otherwise)),
                )
            case _:
                return strings_of(assertion)


def _exactly_one(languages: list[Regular]) -> Regular:
    live = [language for language in languages if language is not EMPTY]
    if len(live) < 2:
        return alt(*live)
    result: list[Regular] = []
    for at, language in enumerate(live):
        others = alt(*(o for k, o in enumerate(live) if k != at))
        result.append(both(language, complement(others)))
    return alt(*result)
