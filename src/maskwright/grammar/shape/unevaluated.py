"""`unevaluatedProperties` and `unevaluatedItems`, resolved into keywords that need no memory.

What a schema has evaluated depends on which of its branches hold. So the schema is split into
*cases*: in each, every branch is known to hold or not to hold. In one case the names and
items that are evaluated are known, and "unevaluated" becomes "additional".
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod

from msgspec.structs import replace

from maskwright.errors import Construct, LimitError
from maskwright.grammar.regular.terms import Regular
from maskwright.grammar.schema.tree import (
    AllOf,
    AnyOf,
    Assertion,
    Contains,
    If,
    Items,
    OneOf,
    Properties,
    Schema,
    Unevaluated,
    negated,
)
from maskwright.grammar.shape.one_of import Rivals
from maskwright.immutable import Immutable
from maskwright.limits import DEFAULT_LIMITS, Limits, spend


class ResolvedAssertions:
    """The assertions of schemas without `Unevaluated`, each resolved once.

    It has to be once: the cases are new schemas, and what is found out about a schema is kept by
    its identity.
    """

    def __init__(self, limits: Limits = DEFAULT_LIMITS) -> None:
        self._limits = limits
        self._resolved: dict[Schema, tuple[Assertion, ...]] = {}

    def assertions(self, schema: Schema) -> tuple[Assertion, ...]:
        """What `schema` asserts. Raises `LimitError` for too many cases."""
        for assertion in schema.assertions:
            if type(assertion) is Unevaluated:
                break
        else:  # as in nearly all schemas
            return schema.assertions
        resolved = self._resolved.get(schema)
        if resolved is None:
            options = (Schema(schema.pointer, case.assertions) for case in self._cases(schema))
            resolved = self._resolved[schema] = (AnyOf(tuple(options)),)
        return resolved

    def _cases(self, schema: Schema) -> list[_Case]:
        """The cases in which a schema holds, its own `Unevaluated` applied to each of them."""
        if schema.never:
            return []
        cases = [_Case()]
        for assertion in schema.assertions:
            if isinstance(assertion, Unevaluated):
                continue
            options = self._cases_of_assertion(assertion, schema)
            if len(cases) * len(options) > self._limits.alternatives:
                raise self._too_many_cases(schema)
            cases = _products(cases, options)
        for assertion in schema.assertions:
            if isinstance(assertion, Unevaluated):
                apply = _apply_to_members if assertion.kind == "properties" else _apply_to_items
                cases = [apply(case, assertion.schema) for case in cases]
        return cases

    def _cases_of_assertion(self, assertion: Assertion, schema: Schema) -> list[_Case]:
        """The cases in which one assertion of `schema` holds."""
        match assertion:
            case Properties(named=named, patterns=patterns, covers_all=covers_all):
                languages = tuple(language for language, _ in patterns)
                return [_Case((assertion,), tuple(named), languages, covers_all)]
            case Items(prefix=prefix, covers_all=covers_all):
                return [_Case((assertion,), items=len(prefix), every_item=covers_all)]
            case Contains(schema=contained):
                return [_Case((assertion,), contained=(contained,))]
            case AllOf(parts=parts):
                cases = [_Case()]
                for part in parts:
                    cases = _products(cases, self._cases(part))
                return cases
            case AnyOf(options=options):
                return self._cases_of_options(options, schema, exactly_one=False)
            case OneOf(options=options):
                return self._cases_of_options(options, schema, exactly_one=True)
            case If(condition=condition, then=then, otherwise=otherwise):
                held = _products(self._cases(condition), self._cases(then))
                failed = _products([_failed(condition)], self._cases(otherwise))
                return held + failed
            case _:
                return [_Case((assertion,))]

    def _cases_of_options(
        self, options: tuple[Schema, ...], schema: Schema, *, exactly_one: bool
    ) -> list[_Case]:
        """All ways in which some of the options hold and the others do not."""
        held = [self._cases(option) for option in options]
        if (
            not exactly_one
            and prod(1 + len(cases) for cases in held) - 1 > self._limits.alternatives
        ):
            raise self._too_many_cases(schema)
        failed = [_failed(option) for option in options]
        cases: list[_Case] = []
        for ways in _ways_of_one(options) if exactly_one else _ways(len(options)):
            spend(len(ways))
            way = [_Case()]
            for at, holds in ways.items():
                way = _products(way, held[at] if holds else [failed[at]])
            cases += way
            if len(cases) > self._limits.alternatives:
                raise self._too_many_cases(schema)
        return cases

    def _too_many_cases(self, schema: Schema) -> LimitError:
        return LimitError(
            "'unevaluatedProperties' or 'unevaluatedItems' has to distinguish more than"
            f" {self._limits.alternatives:,} cases",
            limit="alternatives",
            value=self._limits.alternatives,
            construct=Construct.schema(schema.pointer),
            way_out="use fewer branches in the keywords beside it",
        )


class _Case(Immutable):
    """Assertions that hold, and the members and items that they have evaluated."""

    assertions: tuple[Assertion, ...] = ()
    names: tuple[str, ...] = ()
    patterns: tuple[Regular, ...] = ()
    every_member: bool = False
    items: int = 0
    """How many of the first items."""
    contained: tuple[Schema, ...] = ()
    """Items that satisfy one of these, which `contains` evaluates wherever they stand."""
    every_item: bool = False

    def joined(self, other: _Case) -> _Case:
        """The case in which both hold."""
        return _Case(
            self.assertions + other.assertions,
            self.names + other.names,
            self.patterns + other.patterns,
            self.every_member or other.every_member,
            max(self.items, other.items),
            self.contained + other.contained,
            self.every_item or other.every_item,
        )


def _products(left: list[_Case], right: list[_Case]) -> list[_Case]:
    return [one.joined(other) for one, other in product(left, right)]


def _apply_to_members(case: _Case, schema: Schema) -> _Case:
    """`schema` as the schema of the members that a case has not evaluated."""
    if case.every_member:
        return case
    free = Schema(schema.pointer)
    named = dict.fromkeys(case.names, free)
    patterns = tuple((pattern, free) for pattern in case.patterns)
    closes = None if schema.never else False
    members = Properties(named, patterns, schema, closes=closes)
    return replace(case, assertions=(*case.assertions, members), every_member=True)


def _apply_to_items(case: _Case, schema: Schema) -> _Case:
    """`schema` as the schema of the items that a case has not evaluated."""
    if case.every_item:
        return case
    free = Schema(schema.pointer)
    rest = schema
    if case.contained:
        rest = Schema(schema.pointer, (AnyOf((*case.contained, schema)),))
    items = Items(tuple([free] * case.items), rest)
    return replace(case, assertions=(*case.assertions, items), every_item=True)


def _failed(schema: Schema) -> _Case:
    """The case in which a schema doesn't hold: then it evaluates nothing."""
    return _Case((AllOf((negated(schema),)),))


def _ways(count: int) -> Iterator[dict[int, bool]]:
    """Whether each of `count` options holds, if at least one does."""
    for held in product((True, False), repeat=count):
        if any(held):
            yield dict(enumerate(held))


def _ways_of_one(options: tuple[Schema, ...]) -> Iterator[dict[int, bool]]:
    """Whether options hold if exactly one does, but for those that surely don't beside it."""
    rivals = Rivals(options)
    for chosen in range(len(options)):
        yield {chosen: True} | dict.fromkeys(rivals.of(chosen), False)
