"""The strings that satisfy a schema, by regular algebra alone.

Regular languages are closed under union, intersection and complement, so unions need not be
multiplied out for strings, and negation needs no rewriting.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from maskwright.errors import SchemaError
from maskwright.grammar.regular.terms import (
    ANYTHING,
    EMPTY,
    Complement,
    Regular,
    Words,
    alt,
    complement,
    exactly_one,
    intersection,
    words,
)
from maskwright.grammar.schema.tree import AllOf, AnyOf, Assertion, If, Not, OneOf, Schema, TypeIs
from maskwright.grammar.shape.scalars import strings_of
from maskwright.grammar.shape.unevaluated import ResolvedAssertions

_FEW: Final = 3
"""Options of `oneOf` that are each combined with the complement of the others."""


class StringLanguages:
    """The strings (their values, not their spellings) that satisfy each schema."""

    def __init__(self, resolved: ResolvedAssertions) -> None:
        self._resolved = resolved
        self._languages: dict[Schema, Regular] = {}
        self._open: set[Schema] = set()

    def language(self, schema: Schema) -> Regular:
        """The strings that satisfy a schema, computed once.

        Raises `SchemaError` for a schema that refers to itself about one and the same value."""
        known = self._languages.get(schema)
        if known is not None:
            return known
        if schema in self._open:
            raise SchemaError(
                "the schema refers to itself without end, about one and the same value; a recursive"
                " reference has to stand in a property or an item",
                pointer=schema.pointer,
            )
        self._open.add(schema)
        try:
            language = EMPTY if schema.never else ANYTHING
            for assertion in self._resolved.assertions(schema):
                language = intersection(language, self._satisfying(assertion))
        finally:
            self._open.discard(schema)
        self._languages[schema] = language
        return language

    def _satisfying(self, assertion: Assertion) -> Regular:
        match assertion:
            case TypeIs(types=types):
                return ANYTHING if "string" in types else EMPTY
            case AllOf(parts=parts):
                return intersection(ANYTHING, *(self.language(part) for part in parts))
            case AnyOf(options=options):
                return alt(*(self.language(option) for option in options))
            case OneOf(options=options):
                return _exactly_one([self.language(option) for option in options])
            case Not(schema=inner):
                return complement(self.language(inner))
            case If(condition=condition, then=then, otherwise=otherwise):
                held = self.language(condition)
                return alt(
                    intersection(held, self.language(then)),
                    intersection(complement(held), self.language(otherwise)),
                )
            case _:
                return strings_of(assertion)


def _exactly_one(languages: list[Regular]) -> Regular:
    """The strings of exactly one of the languages."""
    live = [language for language in languages if language is not EMPTY]
    if len(live) < 2:  # as in most `oneOf`: one option is for strings, the others for other types
        return alt(*live)
    lists = [each for each in live if isinstance(each, Words) and not each.depth]
    if len(lists) < 2:
        return _of_one(live)
    listed = Counter(word for each in lists for word in each.table.strings[each.low : each.high])
    once = words([word for word, count in listed.items() if count == 1])
    others = [each for each in live if not (isinstance(each, Words) and not each.depth)]
    if not others:
        return once
    return alt(
        intersection(once, complement(alt(*others))),
        intersection(_of_one(others), complement(words(list(listed)))),
    )


def _of_one(live: list[Regular]) -> Regular:
    """The strings of exactly one of some languages, of which at most one is a list of words."""
    if len(live) < 2:
        return alt(*live)
    if len(live) > _FEW and not any(isinstance(each, Words | Complement) for each in live):
        return exactly_one(live)
    exclusive: list[Regular] = []
    for at, language in enumerate(live):
        others = alt(*(other for k, other in enumerate(live) if k != at))
        exclusive.append(intersection(language, complement(others)))
    return alt(*exclusive)
