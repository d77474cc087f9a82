"""Unions multiplied out: a conjunction as a list of branches in which there are none.

Before a branch is divided, its unions are narrowed: options that nothing in it satisfies are left
out, by a type or by a required property that another assertion forbids, and so is a union that
every value of the branch satisfies. An option that is left alone is taken in at once, which may
narrow further unions; of the others the shortest union is divided first. So the constant by which
the options of a real `oneOf` differ cuts the product before it grows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain, product
from math import prod
from typing import Final

from msgspec import Struct, field

from maskwright.errors import LimitError
from maskwright.garbage import hide
from maskwright.grammar.schema.tree import (
    ABOUT,
    AllOf,
    AnyOf,
    Assertion,
    If,
    Not,
    NotValues,
    OneOf,
    Properties,
    PropertyCount,
    Required,
    Schema,
    SomeMember,
    TypeIs,
    Values,
    negated,
    value_schema,
)
from maskwright.grammar.shape.branch_members import BranchMembers, Comparisons, MemberDemand
from maskwright.grammar.shape.closed import is_closed
from maskwright.grammar.shape.negation import negate
from maskwright.grammar.shape.one_of import ExclusiveUnions
from maskwright.grammar.shape.shape import Conjunction, in_order, keyword_of, place_of, referenced
from maskwright.grammar.shape.unevaluated import ResolvedAssertions
from maskwright.immutable import Acyclic
from maskwright.limits import CHEAP, Limits, spend

_MANY: Final = 64
"""Branches from which on unions of required names are no longer multiplied out."""
_ANYTHING: Final = Schema("")

_MOST_PARTS: Final = 32
"""Schemas of an option that are looked at before it is chosen, with those they refer to."""

_DEEPEST: Final = 4
"""How deep schemas are looked into that may only say which names are required."""

_Named = Mapping[str, Schema]
_Literal = tuple[str, bool]
"""A name, and whether a member has to have it or none may."""
_Clause = tuple[tuple[str, ...], tuple[str, ...]]
"""Names of which an object has one, and others of which it may lack one instead."""

Path = frozenset[Schema]
"""The schemas whose assertions led to a place: meeting one of them again there is recursion without
end, which no value satisfies."""


_Choice = tuple[AnyOf, Path, frozenset[str]]
"""A union, where it stands, and the names by which it may be narrowed."""


class _Branch(Struct):
    """A branch in the making."""

    schemas: tuple[tuple[Schema, Path], ...]
    """Those whose assertions have not been taken in yet."""
    assertions: list[Assertion] = []
    unions: list[_Choice] = []
    """Unions of which no option has been chosen yet."""
    narrowed: int = 0
    """How many of these have been narrowed by all that was known of members before the fresh."""
    seen: set[Schema] = set()
    members: BranchMembers = field(default_factory=BranchMembers)
    alive: bool = True

    def fork(self, option: Schema, path: Path) -> _Branch:
        return _Branch(
            ((option, path),),
            self.assertions.copy(),
            self.unions.copy(),
            len(self.unions),
            self.seen.copy(),
            self.members.copy(),
        )


class _Brought(Acyclic):
    """What one schema brings into a branch of values of one type."""

    parts: tuple[Schema, ...]
    """Schemas that hold as well."""
    assertions: tuple[Assertion, ...]
    unions: tuple[AnyOf | OneOf, ...]
    required: frozenset[str]
    named: tuple[_Named, ...]


class Branches:
    """The branches of conjunctions, for one type at a time."""

    def __init__(
        self,
        exclusive: ExclusiveUnions,
        resolved: ResolvedAssertions,
        limits: Limits,
        *,
        ordered: bool = True,
    ) -> None:
        """`ordered`: whether it makes a difference which branch declares a name."""
        self._ordered = ordered
        self._demands: dict[str, dict[Schema, MemberDemand | None]] = {}
        """By type; see `_demand`."""
        self._resolved = resolved
        self._exclusive = exclusive
        self._limits = limits
        self._brought: dict[tuple[Schema, str], _Brought | None] = {}
        """See `_brought_by`."""
        self._comparisons = Comparisons()
        self._negations: dict[Schema, AnyOf] = {}
        self._conditions: dict[If, AnyOf] = {}
        self._closing: dict[Conjunction, bool] = {}
        """Whether some schema closes objects, although it says nothing of other members."""
        self._mentioned: dict[Schema, frozenset[str]] = {}
        """See `_names_in`."""
        self._met: dict[tuple[AnyOf, str], bool] = {}
        """See `_is_met`."""
        self._names_required: dict[tuple[AnyOf, bool], list[_Clause] | None] = {}
        """See `_clauses`."""

    def branches(self, conjunction: Conjunction, kind: str) -> list[list[Assertion]]:
        """A conjunction's values of type `kind`: those that satisfy all assertions of some branch.
        No assertion in a branch is a union.

        `kind` "number" stands for integers too. Raises `LimitError` for too many branches.
        """
        done: list[list[Assertion]] = []
        stack = [_Branch(tuple((schema, frozenset[Schema]()) for schema in in_order(conjunction)))]
        while stack:
            branch = stack.pop()
            while branch.schemas and branch.alive:
                self._absorb(branch, kind)
                if branch.alive and branch.unions and not branch.schemas:
                    self._narrow(branch, kind, conjunction)
            if not branch.alive:
                continue
            sizes = [len(union.options) for union, _, _ in branch.unions]
            if prod(sizes) > _MANY:
                self._require(branch, kind)
                sizes = [len(union.options) for union, _, _ in branch.unions]
            if not sizes:
                done.append(self._simplified(branch))
                continue
            union, path, _ = branch.unions.pop(sizes.index(min(sizes)))
            stack += [branch.fork(option, path) for option in reversed(union.options)]
            if len(stack) + len(done) > self._limits.alternatives:
                raise LimitError(
                    f"unions multiply to more than {self._limits.alternatives:,} alternatives",
                    limit="alternatives",
                    value=self._limits.alternatives,
                    construct=keyword_of(union.options),
                )
        return done

    def _narrow(self, branch: _Branch, kind: str, conjunction: Conjunction) -> None:
        """Leave out the options of unions that can't be chosen and the unions that are met, and
        make options that are alone the next to be taken in. Only what the fresh names may have
        changed is looked at again."""
        members, comparisons = branch.members, self._comparisons
        fresh, members.fresh = members.fresh, {}
        unions, lone = list[_Choice](), list[tuple[Schema, Path]]()
        for at, choice in enumerate(branch.unions):
            union, path, names = choice
            is_new = at >= branch.narrowed
            if not is_new and names.isdisjoint(fresh):
                unions.append(choice)
                continue
            spend(CHEAP * len(union.options))
            options: dict[Schema, MemberDemand] = {}
            for option in union.options:
                demand = self._demand(option, kind)
                if (
                    demand
                    and branch.seen.isdisjoint(demand.denied)
                    and members.allows(demand, comparisons, None if is_new else fresh)
                ):
                    options[option] = demand
            is_met = any(
                (demand.schema in branch.seen and demand.schema not in path)
                or members.meets(demand, comparisons)
                for demand in options.values()
            )
            if is_met and (kind != "object" or self._may_be_left_out(options, branch, conjunction)):
                continue
            if not options:
                branch.alive = False
                return
            if len(options) == 1:
                lone += ((option, path) for option in options)
                continue
            if len(options) < len(union.options):
                union = AnyOf(tuple(options))
            unions.append((union, path, names.union(*(each.names for each in options.values()))))
        branch.schemas = tuple(lone)
        branch.unions, branch.narrowed = unions, len(unions)

    def _demand(self, option: Schema, kind: str) -> MemberDemand | None:
        """What an option demands of values of a type; None if surely none satisfies it."""
        known = self._demands.setdefault(kind, {})
        found = known.get(option, ...)
        if found is ...:
            found = known[option] = self._find_demand(option, kind)
        return found

    def _find_demand(self, option: Schema, kind: str) -> MemberDemand | None:
        denied: set[Schema] = set()
        required: set[str] = set()
        named: dict[str, tuple[Schema, ...]] = {}
        whole: list[Assertion] = []
        is_whole = True
        waiting = [option]
        for schema in waiting:  # which grows
            spend(CHEAP)
            if len(waiting) > _MOST_PARTS:
                is_whole = False
                break
            brought = self._brought_by(schema, kind)
            if brought is None:
                return None
            match schema.assertions:
                case (Not(schema=inner),):
                    denied.add(referenced(inner))
                case _:
                    pass
            required |= brought.required
            for each in brought.named:
                for name, value in each.items():
                    named[name] = hide((*named.get(name, ()), value))
            whole += (each for each in brought.assertions if ABOUT.get(type(each), kind) == kind)
            waiting += brought.parts
            for union in brought.unions:
                if isinstance(union, AnyOf) and not union.options:
                    return None
                if isinstance(union, OneOf) or len(union.options) > 1:
                    is_whole = False
                else:  # as what is left of most negations
                    waiting += union.options
        if not denied.isdisjoint(waiting):
            return None
        if any(schema.never for name in required for schema in named.get(name, ())):
            return None
        names = {*required, *named}
        for each in whole:
            if isinstance(each, SomeMember):
                names.update(each.named, each.absent)
        return MemberDemand(
            referenced(option),
            hide(frozenset(denied)),
            hide(frozenset(required)),
            named,
            hide(frozenset(names)),
            hide(tuple(whole)) if is_whole else None,
        )

    def _may_be_left_out(
        self, options: Iterable[Schema], branch: _Branch, conjunction: Conjunction
    ) -> bool:
        """Whether a union of objects that is met may be left out although its options name members:
        where that closes no object, and changes the order of no names."""
        closes = self._closing.get(conjunction)
        if closes is None:
            closing = place_of(
                conjunction, lambda each: isinstance(each, Properties) and each.closes is True
            )
            closes = self._closing[conjunction] = closing is not None
        if closes or not self._ordered:
            return not closes
        naming = [each for each in branch.assertions if isinstance(each, Properties) and each.named]
        declared = {name for each in naming for name in each.named}
        return len(naming) > 1 and all(declared.issuperset(self._names_in(o)) for o in options)

    def _names_in(self, schema: Schema) -> frozenset[str]:
        """The names of members of a value that a schema, and what it consists of, is about."""
        known = self._mentioned.get(schema)
        if known is None:
            found = set[str]()
            place_of(frozenset((schema,)), lambda each: found.update(_named_by(each)) is not None)
            known = self._mentioned[schema] = frozenset(found)
        return known

    def _require(self, branch: _Branch, kind: str) -> None:
        """Turn unions that only say which properties are required into assertions, without
        multiplying them: some member must have one of the names of each clause of their conjunctive
        normal form."""
        kept: list[_Choice] = []
        for choice in branch.unions:
            union = choice[0]
            key = (union, kind == "object")
            clauses = self._names_required.get(key, ...)
            if clauses is ...:
                clauses = self._names_required[key] = self._clauses(*key)
            if clauses is None:
                kept.append(choice)
            elif kind == "object":
                branch.assertions += [
                    SomeMember(dict.fromkeys(present, _ANYTHING), (), absent)
                    for present, absent in clauses
                    if branch.members.required.isdisjoint(present)
                ]
        branch.unions = kept

    def _clauses(self, union: AnyOf, are_objects: bool) -> list[_Clause] | None:
        """Each object of a union has one of the names of each clause, or lacks one: a clause for
        each way to choose a name of each option. None if the union says more than that, or there
        are many ways."""
        options: list[list[_Literal]] = []
        for option in union.options:
            literals = self._literals(option, are_objects)
            if literals is None:
                return None
            options.append(list(dict.fromkeys(literals)))
        if prod(map(len, options)) > _MANY:
            return None
        spend(prod(map(len, options)))
        clauses: list[_Clause] = []
        for chosen in product(*options):
            present = tuple(dict.fromkeys(name for name, is_there in chosen if is_there))
            absent = tuple(dict.fromkeys(name for name, is_there in chosen if not is_there))
            if set(present).isdisjoint(absent):
                clauses.append((present, absent))
        return clauses

    def _literals(self, schema: Schema, are_objects: bool, depth: int = 0) -> list[_Literal] | None:
        """The names that a value has to have or to lack, if that is all that a schema says, of
        objects or of all values."""
        spend(CHEAP)
        if schema.never or depth > _DEEPEST:
            return None
        found: list[_Literal] = []
        for assertion in self._resolved.assertions(schema):
            match assertion:
                case Required(names=names):
                    found += ((name, True) for name in names)
                case TypeIs(types=types) if are_objects and "object" in types:
                    pass
                case AllOf(parts=parts):
                    for part in parts:
                        literals = self._literals(part, are_objects, depth + 1)
                        if literals is None:
                            return None
                        found += literals
                case Not(schema=inner) if are_objects:
                    literals = self._literals(inner, are_objects, depth + 1)
                    if literals is None or len(literals) != 1:
                        return None
                    ((name, is_there),) = literals
                    found.append((name, not is_there))
                case _:
                    return None
        return found

    def _absorb(self, branch: _Branch, kind: str) -> None:
        """Take the next schema into a branch."""
        spend()
        (schema, path), branch.schemas = branch.schemas[0], branch.schemas[1:]
        if schema in path:  # what holds only if it holds itself never holds
            branch.alive = False
        if schema in branch.seen or not branch.alive:
            return
        branch.seen.add(schema)
        brought = self._brought_by(schema, kind)
        if brought is None:
            branch.alive = False
            return
        branch.assertions += brought.assertions
        if brought.parts or brought.unions:
            path |= {schema}
            branch.schemas = (*((part, path) for part in brought.parts), *branch.schemas)
        for union in brought.unions:
            found = self._exclusive.union(union, kind) if isinstance(union, OneOf) else union
            branch.unions.append((found, path, frozenset()))
        members = branch.members
        members.require(brought.required)
        for named in brought.named:
            members.declare(named, self._comparisons)
        branch.alive = members.is_possible

    def _brought_by(self, schema: Schema, kind: str) -> _Brought | None:
        """None if no value of the type satisfies the schema, by its look."""
        known = self._brought.get((schema, kind), ...)
        if known is ...:
            known = None if schema.never else self._bring(schema, kind)
            self._brought[hide((schema, kind))] = known
        return known

    def _bring(self, schema: Schema, kind: str) -> _Brought | None:
        parts: list[Schema] = []
        assertions: list[Assertion] = []
        unions: list[AnyOf | OneOf] = []
        required: set[str] = set()
        named: list[_Named] = []
        for assertion in self._resolved.assertions(schema):
            match assertion:
                case TypeIs(types=types):
                    if kind not in types and not (kind == "number" and "integer" in types):
                        return None
                    if kind == "number" and "number" not in types:
                        assertions.append(assertion)
                case AllOf(parts=further):
                    parts[:0] = further
                case AnyOf():
                    unions.append(_without_copies(assertion))
                case OneOf():
                    unions.append(assertion)
                case Not(schema=inner) if not inner.never:
                    negation = self._negation(inner)
                    if not self._is_met(negation, kind):
                        unions.append(negation)
                case If():
                    unions.append(self._condition(assertion))
                case Values(values=values, plain_numbers=plain) if kind in ("array", "object"):
                    wanted = list if kind == "array" else dict
                    options = tuple(
                        value_schema(v, schema.pointer, plain_numbers=plain)
                        for v in values
                        if isinstance(v, wanted)
                    )
                    unions.append(AnyOf(options))
                case _:
                    assertions.append(assertion)
                    if isinstance(assertion, Required) and kind == "object":
                        required.update(assertion.names)
                    elif isinstance(assertion, Properties) and kind == "object":
                        named.append(assertion.named)
        return _Brought(
            hide(tuple(parts)),
            hide(tuple(assertions)),
            hide(tuple(unions)),
            hide(frozenset(required)),
            hide(tuple(named)),
        )

    def _is_met(self, negation: AnyOf, kind: str) -> bool:
        """Whether all values of a type satisfy a negation: of a `type` and an `enum`, values of
        other types do. As a union each would double the branches. Objects' negations stay unless
        they are sure to name no members, which may be forbidden otherwise."""
        known = self._met.get((negation, kind))
        if known is None:
            alive = (option for option in negation.options if not option.never)
            options = [self._resolved.assertions(option) for option in alive]
            known = any(
                all(isinstance(each, TypeIs) and kind in each.types for each in option)
                for option in options
            ) and (kind != "object" or all(_names_nothing(each) for each in chain(*options)))
            self._met[hide((negation, kind))] = known
        return known

    def _negation(self, schema: Schema) -> AnyOf:
        """What holds where a schema doesn't; each is made once, so that its parts are equal in all
        branches."""
        known = self._negations.get(schema)
        if known is None:
            known = negate(self._resolved.assertions(schema), schema.pointer)
            self._negations[schema] = known
        return known

    def _condition(self, assertion: If) -> AnyOf:
        """An `if` as a union, made once as negations are."""
        known = self._conditions.get(assertion)
        if known is None:
            condition, then, otherwise = assertion.condition, assertion.then, assertion.otherwise
            pointer = condition.pointer
            options = (
                Schema(pointer, (AllOf((condition, then)),)),
                Schema(pointer, (AllOf((negated(condition), otherwise)),)),
            )
            known = self._conditions[assertion] = AnyOf(options)
        return known

    def _simplified(self, branch: _Branch) -> list[Assertion]:
        """The assertions of a branch, with fewer about some member: each of them doubles the ways
        to read every member that may meet it.

        The conditions of other branches are such assertions, and mostly about a required member, as
        "`kind` is missing or not "a"" is. Where only a required member can meet one, it becomes an
        assertion about that member's value. Where a required member surely meets it, it is left
        out, unless the names that it lists make a difference.
        """
        if not any(isinstance(each, SomeMember) for each in branch.assertions):
            return branch.assertions
        assertions: list[Assertion] = []
        properties: list[Properties] = []
        required = branch.members.required
        for assertion in branch.assertions:
            if isinstance(assertion, SomeMember) and _has_to_be_met(assertion, required):
                assertion = Properties(assertion.named, (), _ANYTHING, declares=False)
            if isinstance(assertion, Properties):
                properties.append(assertion)
            assertions.append(assertion)
        names_matter = is_closed(properties)
        values: dict[str, tuple[Schema, ...]] = {}

        def is_met(assertion: Assertion) -> bool:
            if not isinstance(assertion, SomeMember):
                return False
            named = assertion.named
            if names_matter and (assertion.patterns or not required.issuperset(named)):
                return False
            for name in required.intersection(named):
                if name not in values:
                    values[name] = tuple([p.named[name] for p in properties if name in p.named])
                if self._comparisons.is_implied(values[name], named[name]):
                    return True
            return False

        return [each for each in assertions if not is_met(each)]


def _names_nothing(assertion: Assertion) -> bool:
    """Whether an assertion is surely not about members that it names."""
    if isinstance(assertion, AllOf):
        return not assertion.parts
    return isinstance(assertion, TypeIs | NotValues | PropertyCount)


def _has_to_be_met(assertion: SomeMember, required: set[str]) -> bool:
    """Whether one required member alone decides on an assertion about some member."""
    if assertion.patterns or len(assertion.named) != 1:
        return False
    return required.issuperset((*assertion.named, *assertion.absent))


def _named_by(assertion: Assertion) -> Iterable[str]:
    match assertion:
        case Properties(named=named):
            return named
        case SomeMember(named=named, absent=absent):
            return (*named, *absent)
        case Required(names=names):
            return names
        case _:
            return ()


def _without_copies(union: AnyOf) -> AnyOf:
    """A union in which no two options are references to one schema."""
    options = tuple(dict.fromkeys(map(referenced, union.options)))
    return union if options == union.options else AnyOf(options)
