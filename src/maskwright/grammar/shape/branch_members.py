"""What a branch in the making says of members, and what an option of a union demands of them.

An option that contradicts the branch can't be chosen, and one that the branch meets makes its union
say nothing. Both are seen here without taking the option in; see `unions`.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from maskwright.garbage import hide
from maskwright.grammar.schema.tree import (
    Assertion,
    Properties,
    Required,
    Schema,
    SomeMember,
    negated,
)
from maskwright.grammar.shape.disjoint import Outline, are_disjoint, joint_outline, outline
from maskwright.immutable import Acyclic


class MemberDemand(Acyclic):
    """What an option surely demands of a value of one type."""

    schema: Schema
    """What the option refers to, or itself."""
    denied: frozenset[Schema]
    """Schemas that mustn't hold."""
    required: frozenset[str]
    named: Mapping[str, tuple[Schema, ...]]
    names: frozenset[str]
    """The names on which it depends whether the option can be chosen, and whether it is met."""
    whole: tuple[Assertion, ...] | None
    """All assertions about values of the type, if the option has no others; else None."""


class Comparisons:
    """How schemas surely relate to each other, found once: branches meet the same by the
    thousand."""

    def __init__(self) -> None:
        self._disjoint: dict[tuple[Schema, Schema], bool] = {}
        self._implied: dict[tuple[Schema, ...], tuple[Outline, dict[Schema, bool]]] = {}

    def is_excluded(self, schema: Schema, others: tuple[Schema, ...]) -> bool:
        """Whether a schema is surely disjoint from one of some others."""
        disjoint = self._disjoint
        for other in others:
            known = disjoint.get((schema, other))
            if known is None:
                known = disjoint[hide((schema, other))] = are_disjoint((schema,), other)
            if known:
                return True
        return False

    def is_implied(self, schemas: tuple[Schema, ...], wanted: Schema) -> bool:
        """Whether all values that satisfy some schemas surely satisfy another one."""
        implied = self._implied.get(schemas)
        if implied is None:
            implied = self._implied[schemas] = (joint_outline(schemas), {})
        joint, answers = implied
        known = answers.get(wanted)
        if known is None:
            unwanted = outline(negated(wanted))
            known = answers[wanted] = wanted in schemas or joint.joint(unwanted).is_empty
        return known


class BranchMembers(Struct):
    """What the assertions of a branch say of members that they name."""

    required: set[str] = set()
    absent: set[str] = set()
    named: dict[str, tuple[Schema, ...]] = {}
    """The schemas of each property that is declared and not known to be absent."""
    fresh: dict[str, int] = {}
    """The names of which more is known since options were compared, and how many of their schemas
    in `named` these were compared with."""

    def copy(self) -> BranchMembers:
        """The same for another branch, in which nothing is fresh."""
        return BranchMembers(self.required.copy(), self.absent.copy(), self.named.copy())

    @property
    def is_possible(self) -> bool:
        """Whether no required name is absent."""
        return self.required.isdisjoint(self.absent)

    def require(self, names: frozenset[str]) -> None:
        if not self.required.issuperset(names):
            self.fresh |= dict.fromkeys(names - self.required, 0)
            self.required |= names

    def declare(self, named: Mapping[str, Schema], comparisons: Comparisons) -> None:
        """Take in what properties must satisfy; those are absent whose schemas are surely
        disjoint."""
        declared, fresh = self.named, self.fresh
        for name, schema in named.items():
            others = declared.get(name, ())
            if schema in others:
                continue
            if name not in fresh:
                fresh[name] = len(others)
            if schema.never or (others and comparisons.is_excluded(schema, others)):
                self.absent.add(name)
            else:
                declared[name] = (*others, schema)

    def allows(
        self, demand: MemberDemand, comparisons: Comparisons, fresh: dict[str, int] | None
    ) -> bool:
        """Whether a demand doesn't contradict what is said of members that either of the two
        requires. `fresh`: what has changed since this was asked; None if it never was."""
        if not self.absent.isdisjoint(demand.required):
            return False
        for name in demand.named.keys() if fresh is None else demand.named.keys() & fresh.keys():
            if name in self.required or name in demand.required:
                others = self.named.get(name, ())
                if fresh is not None:
                    others = others[fresh[name] :]
                for schema in demand.named[name]:
                    if schema.never or (others and comparisons.is_excluded(schema, others)):
                        return False
        return True

    def meets(self, demand: MemberDemand, comparisons: Comparisons) -> bool:
        """Whether all values of the branch surely satisfy an option with this demand."""
        whole = demand.whole
        return whole is not None and all(self._holds(each, comparisons) for each in whole)

    def _holds(self, assertion: Assertion, comparisons: Comparisons) -> bool:
        match assertion:
            case Required(names=names):
                return self.required.issuperset(names)
            case SomeMember(named=named, absent=absent):
                return not self.absent.isdisjoint(absent) or any(
                    name in self.required
                    and comparisons.is_implied(self.named.get(name, ()), schema)
                    for name, schema in named.items()
                )
            case Properties(named=named, patterns=(), additional=additional):
                return not (additional.assertions or additional.never) and all(
                    name in self.absent or comparisons.is_implied(self.named.get(name, ()), schema)
                    for name, schema in named.items()
                )
            case _:
                return False
