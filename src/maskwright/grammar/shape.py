"""The normal form: for each JSON type, what a value of it must look like.

A *conjunction* is a set of schemas that must all hold. Its `Shape` is a union over types: one
regular language for the values of strings, one for the spellings of the other scalars, and a list
of alternatives each for arrays and objects. Strings are computed by algebra alone; for the other
types unions are multiplied out, one type at a time. Sub-schemas stay conjunctions and are looked at
only when they are reached, so recursion costs nothing here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Final, TypeGuard

from maskwright.errors import LimitError, SchemaError, UnsupportedSchemaError
from maskwright.grammar import numbers
from maskwright.grammar.derivative import contains
from maskwright.grammar.evaluation import evaluated
from maskwright.grammar.negation import denied
from maskwright.grammar.numbers import Interval
from maskwright.grammar.order import name_order
from maskwright.grammar.outline import apart, members_apart
from maskwright.grammar.regular import (
    ANYTHING,
    EMPTY,
    Regular,
    alt,
    both,
    complement,
    is_text,
    words,
)
from maskwright.grammar.schema import (
    TYPES,
    AllOf,
    AnyOf,
    Assertion,
    Contains,
    DigitsOnly,
    If,
    ItemCount,
    Items,
    Json,
    MultipleOf,
    Not,
    NotValues,
    NumberIn,
    OneOf,
    Properties,
    PropertyCount,
    PropertyNames,
    RepeatedItems,
    Required,
    Schema,
    SomeMember,
    StringIn,
    TypeIs,
    UniqueItems,
    Values,
    negated,
    value_schema,
)
from maskwright.grammar.translate import full_match
from maskwright.limits import DEFAULT_LIMITS, Limits, spend

Conjunction = frozenset[Schema]

ANY: Final[Conjunction] = frozenset()
NEVER: Final[Conjunction] = frozenset([Schema("", never=True)])

_MOST_COUNTED: Final = 6
"""Counted `contains` of one array: an item may satisfy any of them or not."""
_UNITING: Final = frozenset((AllOf, AnyOf, OneOf, Not, If, Values))
"""Assertions that bring in other schemas about the same value."""
_NARROWING: Final = (StringIn, NumberIn, MultipleOf, DigitsOnly)
"""Assertions about scalars that are equal only where they mean the same; `1` equals `true`."""
_OF_INTEGERS: Final = TypeIs(frozenset(["integer"]))
_OF_TYPE: Final = {name: Schema("", (TypeIs(frozenset([name])),)) for name in sorted(TYPES)}


@dataclass(frozen=True, slots=True)
class Contained:
    """`least` to `most` items from `start` on satisfy `schema`."""

    schema: Schema
    least: int
    most: int | None
    start: int


@dataclass(frozen=True, slots=True, eq=False)
class ArrayShape:
    prefix: tuple[Conjunction, ...]
    rest: Conjunction
    least: int
    most: int | None
    contains: tuple[Contained, ...]
    unique: bool

    def item(self, index: int) -> Conjunction:
        return self.prefix[index] if index < len(self.prefix) else self.rest


@dataclass(frozen=True, slots=True, eq=False)
class Wanted:
    """A member with one of these names and a value that satisfies one of the schemas beside it, or
    one of some names missing.

    Names and languages are indexes into those of the shape; a name of the shape is not looked up
    in `languages`."""

    names: Mapping[int, tuple[Schema, ...]]
    languages: tuple[tuple[int, Schema], ...]
    absent: int
    """The names one of which may be missing instead, as bits."""


@dataclass(frozen=True, slots=True, eq=False)
class ObjectShape:
    """`names` are the declared properties in order, then those that are only required or wanted."""

    names: tuple[str, ...]
    declared: int
    values: tuple[Conjunction, ...]
    """What the value of each name must satisfy."""
    required: frozenset[int]
    """Indexes into `names`."""
    languages: tuple[Regular, ...]
    """The languages of names that tell the other members apart."""
    others: Callable[[tuple[bool, ...]], Conjunction]
    """What the value of another name must satisfy, by its membership in each language."""
    some: tuple[Wanted, ...]
    """For each of these, some member is like it."""
    least: int
    most: int | None


@dataclass(frozen=True, slots=True)
class Shape:
    strings: Regular
    """The values (not spellings) of strings."""
    scalars: Regular
    """The spellings of numbers, booleans and null."""
    arrays: tuple[ArrayShape, ...]
    objects: tuple[ObjectShape, ...]


Possible = Callable[[Conjunction], bool]
"""Whether some value satisfies a conjunction."""


class Shapes:
    """The shapes of one schema document, each computed once."""

    def __init__(self, limits: Limits = DEFAULT_LIMITS) -> None:
        self._limits = limits
        self._known: dict[Conjunction, Shape] = {}
        self._exclusive: dict[tuple[OneOf, str], AnyOf] = {}
        self._strings_known: dict[Schema, Regular] = {}
        self._orders: dict[Conjunction, dict[str, int]] = {}
        self._open: set[object] = set()
        self._meetings = 0
        self._orders: dict[Conjunction, dict[str, int]] = {}
        self.possible: Possible = lambda _: True
        """Set by the owner: lets a `oneOf` see which of its branches can't meet."""

    def of(self, conjunction: Conjunction) -> Shape:
        shape = self._known.get(conjunction)
        if shape is None:
            shape = self._known[conjunction] = self._compute(conjunction)
        return shape

    def _compute(self, conjunction: Conjunction) -> Shape:
        if len(conjunction) == 1:
            (schema,) = conjunction
            assertions = evaluated(schema, self._limits)
            if not schema.never and _UNITING.isdisjoint(map(type, assertions)):
                return self._lone(assertions, conjunction)
        types = self._types(conjunction)
        strings = EMPTY
        if "string" in types:
            strings = both(ANYTHING, *(self._strings(s) for s in _sorted(conjunction)))
        scalars: list[Regular] = []
        if "null" in types or "boolean" in types:
            for kind in ("null", "boolean"):
                scalars += [_literals(branch, kind) for branch in self.branches(conjunction, kind)]
        if "number" in types or "integer" in types:
            branches = self.branches(conjunction, "number")
            scalars += [_numbers(branch, self._limits.divisor) for branch in branches]
        arrays: list[ArrayShape] = []
        if "array" in types:
            found = (_array(branch) for branch in self.branches(conjunction, "array"))
            arrays = [shape for shape in found if shape is not None]
        objects: list[ObjectShape] = []
        if "object" in types:
            found = (
                self._object(branch, conjunction) for branch in self.branches(conjunction, "object")
            )
            objects = [shape for shape in found if shape is not None]
        return Shape(strings, alt(*scalars), tuple(arrays), tuple(objects))

    def _lone(self, assertions: tuple[Assertion, ...], conjunction: Conjunction) -> Shape:
        """The shape of one schema without unions: as `_compute` has it, without multiplying out."""
        types = self._types(conjunction)
        if any(isinstance(each, NotValues) for each in assertions):
            strings, scalars = _scalars(assertions, types, self._limits.divisor)
        else:
            narrowing = tuple(each for each in assertions if isinstance(each, _NARROWING))
            strings, scalars = lone_scalars(narrowing, types, self._limits.divisor)
        others: list[Assertion] = [each for each in assertions if not isinstance(each, TypeIs)]
        array = _array(others) if "array" in types else None
        shape = None
        if "object" in types and not _lacks_required(others):
            shape = self._object(others, conjunction)
        return Shape(
            strings,
            scalars,
            () if array is None else (array,),
            () if shape is None else (shape,),
        )

    @staticmethod
    def _types(conjunction: Conjunction) -> frozenset[str]:
        """The types that the schemas' own `type` keywords leave."""
        types = frozenset(("null", "boolean", "number", "integer", "string", "array", "object"))
        for schema in conjunction:
            if schema.never:
                return frozenset()
            for assertion in schema.assertions:
                if isinstance(assertion, TypeIs):
                    named = assertion.types
                    types &= named | {"integer"} if "number" in named else named
        return types

    # Strings

    def _strings(self, schema: Schema) -> Regular:
        """The strings that satisfy a schema."""
        known = self._strings_known.get(schema)
        if known is not None:
            return known
        self._enter(("string", schema), schema)
        try:
            result = EMPTY if schema.never else ANYTHING
            for assertion in evaluated(schema, self._limits):
                result = both(result, self._strings_of(assertion, schema))
        finally:
            self._open.discard(("string", schema))
        self._strings_known[schema] = result
        return result

    def _strings_of(self, assertion: Assertion, schema: Schema) -> Regular:
        match assertion:
            case TypeIs(types=types):
                return ANYTHING if "string" in types else EMPTY
            case AllOf(parts=parts):
                return both(ANYTHING, *(self._strings(part) for part in parts))
            case AnyOf(options=options):
                return alt(*(self._strings(option) for option in options))
            case OneOf(options=options):
                return _exactly_one([self._strings(option) for option in options])
            case Not(schema=inner):
                return complement(self._strings(inner))
            case If(condition=condition, then=then, otherwise=otherwise):
                held = self._strings(condition)
                return alt(
                    both(held, self._strings(then)),
                    both(complement(held), self._strings(otherwise)),
                )
            case _:
                return _strings_of_one(assertion)

    def _enter(self, key: object, schema: Schema) -> None:
        if key in self._open:
            raise SchemaError("the schema refers to itself without end", pointer=schema.pointer)
        self._open.add(key)

    # Branches

    def branches(self, conjunction: Conjunction, kind: str) -> list[list[Assertion]]:
        """Multiply out unions for one type: conjunctions of assertions that are not unions.

        `kind` "number" stands for integers too. A branch in which another type is asserted is left
        out.
        """
        done: list[list[Assertion]] = []
        stack = [_Branch(tuple((schema, frozenset[Schema]()) for schema in _sorted(conjunction)))]
        while stack:
            branch = stack.pop()
            while branch.schemas and branch.alive:
                self._absorb(branch, kind)
            if not branch.alive:
                continue
            if not branch.unions:
                done.append(branch.assertions)
                continue
            chosen = min(branch.unions, key=lambda entry: len(entry[0].options))
            branch.unions.remove(chosen)
            union, path = chosen
            stack += [branch.fork(option, path) for option in reversed(union.options)]
            if len(stack) + len(done) > self._limits.alternatives:
                place = next(iter(conjunction)).pointer or "the root"
                raise LimitError(
                    f"the unions at {place} multiply to more than"
                    f" {self._limits.alternatives:,} alternatives",
                    limit="alternatives",
                )
        return done

    def _absorb(self, branch: _Branch, kind: str) -> None:
        """Take one schema into a branch."""
        spend()
        (schema, path), branch.schemas = branch.schemas[0], branch.schemas[1:]
        if schema.never or schema in path:  # what holds only if itself holds does not hold
            branch.alive = False
        if schema in branch.seen or not branch.alive:
            return
        branch.seen = branch.seen | {schema}
        for assertion in evaluated(schema, self._limits):
            self._take(branch, assertion, kind, path | {schema})
            if not branch.alive:
                return

    def _take(
        self, branch: _Branch, assertion: Assertion, kind: str, path: frozenset[Schema]
    ) -> None:
        match assertion:
            case TypeIs(types=types):
                if kind not in types and not (kind == "number" and "integer" in types):
                    branch.alive = False
                elif kind == "number" and "number" not in types:
                    branch.assertions.append(assertion)
            case AllOf(parts=parts):
                branch.schemas = (*((part, path) for part in parts), *branch.schemas)
            case AnyOf():
                branch.unions.append((assertion, path))
            case OneOf():
                branch.unions.append((self._one_of(assertion, kind), path))
            case Not(schema=schema) if not schema.never:
                branch.unions.append((denied(schema, self._limits), path))
            case If(condition=condition, then=then, otherwise=otherwise):
                pointer = condition.pointer
                options = (
                    Schema(pointer, (AllOf((condition, then)),)),
                    Schema(pointer, (AllOf((negated(condition), otherwise)),)),
                )
                branch.unions.append((AnyOf(options), path))
            case Values(values=values) if kind in ("array", "object"):
                wanted = list if kind == "array" else dict
                options = tuple(value_schema(v, "") for v in values if isinstance(v, wanted))
                branch.unions.append((AnyOf(options), path))
            case Required(names=names):
                branch.required |= set(names)
                branch.assertions.append(assertion)
                branch.alive = not (branch.required & branch.absent)
            case Properties(named=named):
                branch.absent |= {name for name, schema in named.items() if schema.never}
                for other in branch.assertions:
                    if isinstance(other, Properties):
                        branch.absent |= _clashing(named, other.named)
                branch.assertions.append(assertion)
                branch.alive = not (branch.required & branch.absent)
            case _:
                branch.assertions.append(assertion)

    def _one_of(self, assertion: OneOf, kind: str) -> AnyOf:
        """Exactly one option: each, without the others that it can meet in a value of the type."""
        key = (assertion, kind)
        known = self._exclusive.get(key)
        if known is not None:
            return known
        if key in self._open:  # asked for while deciding it: take nothing for granted
            return self._without_others(assertion, lambda left, right: True)
        self._open.add(key)
        memo: dict[frozenset[Schema], bool] = {}

        def meet(left: Schema, right: Schema) -> bool:
            pair = frozenset((left, right, _OF_TYPE[kind]))
            if pair not in memo:
                if kind == "object" and members_apart(left, right):
                    memo[pair] = False
                else:
                    self._meetings += 1
                    if self._meetings > self._limits.alternatives:
                        raise LimitError(
                            f"'oneOf' compares more than {self._limits.alternatives:,} pairs of"
                            " alternatives",
                            limit="alternatives",
                            pointer=left.pointer,
                        )
                    memo[pair] = self.possible(pair)
            return memo[pair]

        try:
            found = self._exclusive[key] = self._without_others(assertion, meet)
        finally:
            self._open.discard(key)
        return found

    @staticmethod
    def _without_others(assertion: OneOf, meet: Callable[[Schema, Schema], bool]) -> AnyOf:
        options: list[Schema] = []
        for at, option in enumerate(assertion.options):
            others = [o for k, o in enumerate(assertion.options) if k != at]
            met = [
                negated(other) for other in others if other is not option and meet(option, other)
            ]
            if any(other is option for other in others):
                met.append(negated(option))
            options.append(Schema(option.pointer, (AllOf((option, *met)),)) if met else option)
        return AnyOf(tuple(options))

    # Objects

    def _object(self, branch: list[Assertion], conjunction: Conjunction) -> ObjectShape | None:
        every: list[Properties] = []
        required: dict[str, None] = {}
        some: list[SomeMember] = []
        allowed: list[Regular] = []
        least, most = 0, None
        for assertion in branch:
            match assertion:
                case Properties():
                    every.append(assertion)
                case Required(names=names):
                    required.update(dict.fromkeys(names))
                case SomeMember():
                    some.append(assertion)
                case PropertyNames(schema=schema, negative=negative):
                    names = self._strings(schema)
                    if negative:
                        other = ((complement(names), Schema(schema.pointer)),)
                        some.append(SomeMember({}, other))
                    elif names is not ANYTHING:
                        allowed.append(names)
                case PropertyCount():
                    least = max(least, assertion.least)
                    most = _least_of(most, assertion.most)
                case _:
                    pass
        if most is not None and most < max(least, len(required)):
            return None
        declared = list(dict.fromkeys(name for each in every for name in each.named))
        if sum(bool(each.named) for each in every) > 1:
            places = self._orders.get(conjunction)
            if places is None:
                places = self._orders[conjunction] = name_order(_sorted(conjunction))
            declared.sort(key=lambda name: places.get(name, len(places)))
        return _object_shape(every, declared, list(required), some, allowed, least, most)


Path = frozenset[Schema]
"""The schemas whose assertions led to a place: meeting one again is recursion without end."""


@dataclass(slots=True)
class _Branch:
    """One alternative in the making."""

    schemas: tuple[tuple[Schema, Path], ...]
    assertions: list[Assertion] = field(default_factory=list[Assertion])
    unions: list[tuple[AnyOf, Path]] = field(default_factory=list[tuple[AnyOf, Path]])
    seen: frozenset[Schema] = frozenset()
    required: set[str] = field(default_factory=set[str])
    absent: set[str] = field(default_factory=set[str])
    alive: bool = True

    def fork(self, option: Schema, path: Path) -> _Branch:
        return _Branch(
            ((option, path),),
            self.assertions.copy(),
            self.unions.copy(),
            self.seen,
            self.required.copy(),
            self.absent.copy(),
        )


def _clashing(left: Mapping[str, Schema], right: Mapping[str, Schema]) -> set[str]:
    """The names that both have, with schemas that show to exclude each other."""
    if len(left) > len(right):
        left, right = right, left
    return {n for n, schema in left.items() if n in right and apart((schema,), right[n])}


def _sorted(conjunction: Conjunction) -> list[Schema]:
    return sorted(conjunction, key=lambda schema: schema.number)


def _least_of(left: int | None, right: int | None) -> int | None:
    if left is None or right is None:
        return right if left is None else left
    return min(left, right)


def _exactly_one(languages: list[Regular]) -> Regular:
    live = [language for language in languages if language is not EMPTY]
    if len(live) < 2:
        return alt(*live)
    result: list[Regular] = []
    for at, language in enumerate(live):
        others = alt(*(o for k, o in enumerate(live) if k != at))
        result.append(both(language, complement(others)))
    return alt(*result)


def _scalars(
    assertions: tuple[Assertion, ...], types: frozenset[str], divisor: int
) -> tuple[Regular, Regular]:
    """The strings and the other scalars of one schema without unions."""
    strings = EMPTY
    if "string" in types:
        strings = both(ANYTHING, *map(_strings_of_one, assertions))
    others: list[Assertion] = [each for each in assertions if not isinstance(each, TypeIs)]
    scalars = [_literals(others, kind) for kind in ("null", "boolean") if kind in types]
    if "number" in types:
        scalars.append(_numbers(others, divisor))
    elif "integer" in types:
        scalars.append(_numbers([_OF_INTEGERS, *others], divisor))
    return strings, alt(*scalars)


lone_scalars = lru_cache(maxsize=1_024)(_scalars)


def _strings_of_one(assertion: Assertion) -> Regular:
    """The strings that satisfy an assertion that is no union."""
    match assertion:
        case StringIn(language=language):
            return language
        case Values(values=values):
            return words([v for v in values if isinstance(v, str)])
        case NotValues(values=values):
            return complement(words([v for v in values if isinstance(v, str)]))
        case _:
            return ANYTHING


def _lacks_required(branch: list[Assertion]) -> bool:
    """Whether a required property may have no value, as far as that shows in its schema."""
    absent = {
        name
        for each in branch
        if isinstance(each, Properties)
        for name, schema in each.named.items()
        if schema.never
    }
    return any(isinstance(each, Required) and not absent.isdisjoint(each.names) for each in branch)


def _literals(branch: list[Assertion], kind: str) -> Regular:
    allowed: list[Json] = [None] if kind == "null" else [True, False]
    for assertion in branch:
        match assertion:
            case Values(values=values):
                allowed = [a for a in allowed if any(v is a for v in values)]
            case NotValues(values=values):
                allowed = [a for a in allowed if not any(v is a for v in values)]
            case _:
                pass
    return words(["null" if a is None else str(a).lower() for a in allowed])


def _numbers(branch: list[Assertion], most: int) -> Regular:
    """`most`: the limit `divisor`."""
    integer = any(isinstance(a, TypeIs) for a in branch)
    interval = _joint([a.interval for a in branch if isinstance(a, NumberIn)])
    values: list[int | float] | None = None
    excluded: set[Decimal] = set()
    divisor: Decimal | None = None
    strange: list[Decimal] = []
    parts: list[Regular] = []
    for assertion in branch:
        match assertion:
            case Values():
                found = [v for v in assertion.values if _is_number(v)]
                values = found if values is None else [v for v in values if v in found]
            case NotValues():
                excluded |= {numbers.decimal(v) for v in assertion.values if _is_number(v)}
            case DigitsOnly(negative=negative):
                digits = full_match(r"-?\d+")
                parts.append(complement(digits) if negative else digits)
            case MultipleOf(divisor=each, negative=True):
                strange.append(each)
            case MultipleOf(divisor=each):
                divisor = each if divisor is None else numbers.common_multiple(divisor, each, most)
            case _:
                pass
    parts += [numbers.not_multiple_of(each, most) for each in strange]
    if values is None:
        pieces = _without(interval, sorted(excluded))
        options = [numbers.number(p, integer=integer, divisor=divisor, most=most) for p in pieces]
    else:
        exact = {numbers.decimal(v): v for v in values}
        spend(5 * len(exact))
        options = [
            numbers.exactly(value)
            for at, value in exact.items()
            if _inside(at, interval)
            and at not in excluded
            and not (integer and at != at.to_integral_value())
            and not (divisor is not None and Fraction(at) % Fraction(divisor))
        ]
    return both(alt(*options), *parts) if parts else alt(*options)


def _without(interval: Interval, points: list[Decimal]) -> list[Interval]:
    """What is left of an interval without some points, ascending."""
    pieces: list[Interval] = []
    rest = interval
    for point in points:
        if _inside(point, rest):
            pieces.append(replace(rest, high=point, high_open=True))
            rest = replace(rest, low=point, low_open=True)
    return [*pieces, rest]


def _is_number(value: Json) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _joint(intervals: list[Interval]) -> Interval:
    low: tuple[Decimal, bool] | None = None
    high: tuple[Decimal, bool] | None = None
    for each in intervals:
        if each.low is not None:
            bound = (each.low, each.low_open)
            low = bound if low is None else max(low, bound)
        if each.high is not None:
            bound = (each.high, not each.high_open)
            high = bound if high is None else min(high, bound)
    return Interval(
        low=None if low is None else low[0],
        high=None if high is None else high[0],
        low_open=low is not None and low[1],
        high_open=high is not None and not high[1],
    )


def _inside(value: Decimal, interval: Interval) -> bool:
    if interval.low is not None and (
        value < interval.low or (value == interval.low and interval.low_open)
    ):
        return False
    return interval.high is None or not (
        value > interval.high or (value == interval.high and interval.high_open)
    )


def _array(branch: list[Assertion]) -> ArrayShape | None:
    every: list[Items] = []
    contains: list[Contained] = []
    least, most = 0, None
    unique = False
    for assertion in branch:
        match assertion:
            case Items():
                every.append(assertion)
            case ItemCount():
                least = max(least, assertion.least)
                most = _least_of(most, assertion.most)
            case Contains(schema=schema, least=low, most=high, start=start):
                if low > 0 or high is not None:
                    contains.append(Contained(schema, low, high, start))
            case UniqueItems():
                unique = True
            case RepeatedItems(pointer=pointer):
                raise UnsupportedSchemaError(
                    "'uniqueItems' is not supported where it is negated", pointer=pointer
                )
            case _:
                pass
    if most is not None and most < least:
        return None
    if len(contains) > _MOST_COUNTED:
        raise LimitError(
            f"an array counts the items of more than {_MOST_COUNTED} 'contains': each doubles what"
            " an item may be",
            limit="alternatives",
            pointer=contains[-1].schema.pointer,
        )
    size = max((len(items.prefix) for items in every), default=0)
    prefix = tuple(
        _trim(i.prefix[at] if at < len(i.prefix) else i.rest for i in every) for at in range(size)
    )
    rest = _trim(items.rest for items in every)
    return ArrayShape(prefix, rest, least, most, tuple(contains), unique)


def _object_shape(
    every: list[Properties],
    declared: list[str],
    required: list[str],
    some: list[SomeMember],
    allowed: list[Regular],
    least: int,
    most: int | None,
) -> ObjectShape:
    wanted = (name for each in some for name in (*each.named, *each.absent))
    names = tuple(dict.fromkeys((*declared, *required, *wanted)))
    needed = set(required)

    lone = every[0] if len(every) == 1 and not (every[0].patterns or allowed or some) else None

    def value(name: str) -> Conjunction:
        if lone is not None and is_text(name):
            return _trim((lone.named.get(name, lone.additional),))
        if not is_text(name) or not all(contains(language, name) for language in allowed):
            return NEVER
        found: list[Schema] = []
        for each in every:
            matching = [s for language, s in each.patterns if contains(language, name)]
            if name in each.named:
                matching.append(each.named[name])
            found += matching or [each.additional]
        return _trim(found)

    languages = tuple(
        dict.fromkeys(
            [language for each in every for language, _ in each.patterns]
            + [language for each in some for language, _ in each.patterns]
            + allowed
        )
    )
    places = {language: at for at, language in enumerate(languages)}

    def others(mask: tuple[bool, ...]) -> Conjunction:
        if not all(mask[places[language]] for language in allowed):
            return NEVER
        found: list[Schema] = []
        for each in every:
            matching = [s for language, s in each.patterns if mask[places[language]]]
            found += matching or [each.additional]
        return _trim(found)

    return ObjectShape(
        names=names,
        declared=len(declared),
        values=tuple(value(name) for name in names),
        required=frozenset(at for at, name in enumerate(names) if name in needed),
        languages=languages,
        others=others,
        some=tuple(_wanted(each, names, places) for each in some),
        least=least,
        most=most,
    )


def _wanted(some: SomeMember, names: tuple[str, ...], places: Mapping[Regular, int]) -> Wanted:
    named: dict[int, tuple[Schema, ...]] = {}
    for at, name in enumerate(names):
        found = [schema for language, schema in some.patterns if contains(language, name)]
        if name in some.named:
            found.append(some.named[name])
        if found:
            named[at] = tuple(found)
    languages = tuple((places[each], schema) for each, schema in some.patterns)
    absent = sum(1 << at for at, name in enumerate(names) if name in some.absent)
    return Wanted(named, languages, absent)


def _trim(schemas: Iterable[Schema]) -> Conjunction:
    """Without the schemas that allow everything, so that equal meanings are equal sets."""
    return frozenset(s for s in schemas if s.assertions or s.never)
