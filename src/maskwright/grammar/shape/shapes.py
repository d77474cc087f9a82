"""The shapes of the conjunctions of a schema document.

Strings are computed by regular algebra alone: regular languages are closed under union,
intersection and complement, so unions need not be multiplied out, and negation needs no rewriting.
For the other types unions are multiplied out, one type at a time. An array that satisfies
assertions without unions is one `ArrayShape`. Properties are in the order in which the schema names
them, as someone who reads it sees them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from typing import Final

from maskwright.errors import LimitError
from maskwright.garbage import hide
from maskwright.grammar.regular.derivative import common
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
from maskwright.grammar.schema.options import Numbers, PropertyOrder
from maskwright.grammar.schema.tree import (
    TYPES,
    AllOf,
    AnyOf,
    Assertion,
    If,
    Not,
    OneOf,
    Properties,
    Required,
    Schema,
    TypeIs,
    about_the_value,
)
from maskwright.grammar.shape.containers import array_shape, object_shape
from maskwright.grammar.shape.lone import lone_shape
from maskwright.grammar.shape.one_of import ExclusiveUnions, Possible
from maskwright.grammar.shape.scalars import (
    NumberOptions,
    literals_of,
    numbers_of,
    strings_of,
)
from maskwright.grammar.shape.shape import (
    ArrayShape,
    Conjunction,
    ObjectShape,
    Shape,
    construct_of,
    in_order,
    referenced,
    target_of,
)
from maskwright.grammar.shape.unevaluated import ResolvedAssertions
from maskwright.grammar.shape.unions import Branches
from maskwright.limits import DEFAULT_LIMITS, Limits

_FEW: Final = 3
"""Options of `oneOf` that are each combined with the complement of the others."""


class StringLanguages:
    """The strings (their values, not their spellings) that satisfy each schema."""

    def __init__(self, resolved: ResolvedAssertions) -> None:
        self._resolved = resolved
        self._languages: dict[Schema, Regular] = {}

    def language(self, schema: Schema) -> Regular:
        """The strings that satisfy a schema, computed once."""
        known = self._languages.get(schema)
        if known is not None:
            return known
        language = EMPTY if schema.never else ANYTHING
        for assertion in self._resolved.assertions(schema):
            language = common(language, self._satisfying(assertion))
        self._languages[schema] = language
        return language

    def _satisfying(self, assertion: Assertion) -> Regular:
        match assertion:
            case TypeIs(types=types):
                return ANYTHING if "string" in types else EMPTY
            case AllOf(parts=parts):
                return common(ANYTHING, *(self.language(part) for part in parts))
            case AnyOf(options=options):
                return alt(*(self.language(option) for option in options))
            case OneOf(options=options):
                return _exactly_one([self.language(option) for option in options])
            case Not(schema=inner):
                return complement(self.language(inner))
            case If(condition=condition, then=then, otherwise=otherwise):
                held = self.language(condition)
                return alt(
                    common(held, self.language(then)),
                    common(complement(held), self.language(otherwise)),
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
    """The strings of exactly one of some languages; at most one of these is a list of words."""
    if len(live) < 2:
        return alt(*live)
    if len(live) > _FEW and not any(isinstance(each, Words | Complement) for each in live):
        return exactly_one(live)
    exclusive: list[Regular] = []
    for at, language in enumerate(live):
        others = alt(*(other for k, other in enumerate(live) if k != at))
        exclusive.append(intersection(language, complement(others)))
    return alt(*exclusive)


def name_order(schemas: Iterable[Schema]) -> dict[str, int]:
    """The place of each declared name: by first appearance in the document, depth first.

    A subschema about the same value (in `allOf`, `anyOf`, `$ref`, `if`, …) counts where it stands
    among the keywords of its schema, so that what is written first comes first.
    """
    places: dict[str, int] = {}
    seen: set[Schema] = set()
    stack: list[Schema | Assertion] = []
    stack += reversed([*schemas])
    while stack:
        match stack.pop():
            case Schema() as schema:
                if schema not in seen:
                    seen.add(schema)
                    stack += reversed(schema.assertions)
            case Properties(named=named):
                for name in named:
                    places.setdefault(name, len(places))
            case Not():
                pass
            case assertion:
                stack += reversed(about_the_value(assertion))
    return places


class Shapes:
    """The shapes of one schema document, each computed once."""

    def __init__(
        self,
        limits: Limits = DEFAULT_LIMITS,
        possible: Possible = lambda _: True,
        numbers: Numbers = "any",
        order: PropertyOrder = "schema",
    ) -> None:
        """`possible` decides which options of a `oneOf` share an instance; by default, all do.
        `numbers`: how they are written, and `order`: whether it makes a difference which names an
        alternative declares; see `compile_json_schema`."""
        self._limits = limits
        self._order: PropertyOrder = order
        self._numbers = NumberOptions(limits.divisor, numbers == "plain")
        self.known: Final[dict[Conjunction, Shape]] = {}
        """The normal forms that have been found."""
        self._orders: dict[Conjunction, dict[str, int]] = {}
        self._resolved = hide(ResolvedAssertions(limits))
        self._strings = hide(StringLanguages(self._resolved))
        self._possible = possible

    @cached_property
    def _branches(self) -> Branches:
        exclusive = ExclusiveUnions(self._limits, self._possible)
        ordered = self._order == "schema"
        return Branches(exclusive, self._resolved, self._limits, ordered=ordered)

    def normal_form(self, conjunction: Conjunction) -> Shape:
        """Return the normal form of a conjunction. Raises `LimitError`."""
        shape = self.known.get(conjunction)
        if shape is None:
            try:
                shape = self.known[conjunction] = self._find(conjunction)
            except LimitError as error:
                error.complete(construct=construct_of(conjunction))
                raise
        return shape

    def _find(self, conjunction: Conjunction) -> Shape:
        """The normal form, which a reference shares with what it refers to."""
        target = target_of(conjunction)
        if target is conjunction:
            return self._compute(conjunction)
        shape = self.known.get(target)
        if shape is None:
            shape = self.known[target] = self._compute(target)
        return shape

    def _compute(self, conjunction: Conjunction) -> Shape:
        shape = self._lone(conjunction)
        if shape is not None:
            return shape
        types = _types(conjunction)
        strings = EMPTY
        if "string" in types:
            strings = common(ANYTHING, *(self._strings.language(s) for s in in_order(conjunction)))
        scalars: list[Regular] = []
        if "null" in types or "boolean" in types:
            for kind in ("null", "boolean"):
                branches = self._branches.branches(conjunction, kind)
                scalars += [literals_of(branch, kind) for branch in branches]
        if "number" in types or "integer" in types:
            branches = self._branches.branches(conjunction, "number")
            scalars += [numbers_of(branch, self._numbers) for branch in branches]
        arrays: list[ArrayShape] = []
        if "array" in types:
            branches = self._branches.branches(conjunction, "array")
            arrays = [shape for branch in branches if (shape := array_shape(branch)) is not None]
        objects: list[ObjectShape] = []
        if "object" in types:
            branches = self._branches.branches(conjunction, "object")
            alternatives = (self._object(branch, conjunction) for branch in branches)
            objects = [shape for shape in alternatives if shape is not None]
        return Shape(strings, alt(*scalars), tuple(arrays), tuple(objects))

    def _lone(self, conjunction: Conjunction) -> Shape | None:
        """The shape of one schema without unions, or of none; None for others."""
        if len(conjunction) > 1:
            return None
        assertions: tuple[Assertion, ...] = ()
        for schema in conjunction:
            if schema.never:
                return None
            assertions = self._resolved.assertions(schema)

        shape = self._without_unions(assertions, conjunction)
        if shape is None and len(assertions) == 1 and isinstance(assertions[0], AnyOf | OneOf):
            return self._union(assertions[0], conjunction)
        return shape

    def _without_unions(
        self, assertions: tuple[Assertion, ...], conjunction: Conjunction
    ) -> Shape | None:
        def objects_of(branch: list[Assertion]) -> ObjectShape | None:
            return None if _lacks_required(branch) else self._object(branch, conjunction)

        return lone_shape(assertions, self._numbers, objects_of)

    def _union(self, union: AnyOf | OneOf, conjunction: Conjunction) -> Shape | None:
        """The shape of options without unions, of which one at most is for arrays and one for
        objects; of `oneOf` also for strings, and for other scalars. None for others. Options for
        objects order their names among each other."""
        found: list[Shape] = []
        declaring = 0
        for option in map(referenced, union.options):
            if option.never:
                continue
            assertions = self._resolved.assertions(option)
            declaring += any(isinstance(each, Properties) for each in assertions)
            shape = self._without_unions(assertions, conjunction)
            if shape is None or declaring > 1:
                return None
            found.append(shape)
        arrays = tuple([array for shape in found for array in shape.arrays])
        objects = tuple([each for shape in found for each in shape.objects])
        if len(arrays) > 1 or len(objects) > 1:
            return None
        strings = [shape.strings for shape in found if shape.strings is not EMPTY]
        scalars = [shape.scalars for shape in found if shape.scalars is not EMPTY]
        if isinstance(union, OneOf) and max(len(strings), len(scalars)) > 1:
            return None
        return Shape(alt(*strings), alt(*scalars), arrays, objects)

    def _object(self, branch: list[Assertion], conjunction: Conjunction) -> ObjectShape | None:
        return object_shape(branch, self._strings.language, lambda: self._places(conjunction))

    def _places(self, conjunction: Conjunction) -> dict[str, int]:
        """The place of each name that a conjunction declares, in all of its branches."""
        places = self._orders.get(conjunction)
        if places is None:
            places = self._orders[conjunction] = name_order(in_order(conjunction))
        return places


def _types(conjunction: Conjunction) -> frozenset[str]:
    """The types that the schemas' own `type` keywords allow; "integer" with "number"."""
    types = TYPES
    for schema in conjunction:
        if schema.never:
            return frozenset()
        for assertion in schema.assertions:
            if isinstance(assertion, TypeIs):
                named = assertion.types
                types &= named | {"integer"} if "number" in named else named
    return types


def _lacks_required(branch: list[Assertion]) -> bool:
    """Whether a property is required whose schema is `false`."""
    absent = {
        name
        for each in branch
        if isinstance(each, Properties)
        for name, schema in each.named.items()
        if schema.never
    }
    return any(isinstance(each, Required) and not absent.isdisjoint(each.names) for each in branch)
