"""What a branch says of members, compared with what an option demands."""

from __future__ import annotations

import pytest

from maskwright.grammar.schema.tree import (
    Json,
    Properties,
    Required,
    Schema,
    SomeMember,
    UniqueItems,
    Values,
    negated,
)
from maskwright.grammar.shape import branch_members
from maskwright.grammar.shape.branch_members import BranchMembers, Comparisons, MemberDemand
from maskwright.grammar.shape.disjoint import Outline, joint_outline

ONE, TWO, FREE = Schema("", (Values((1,)),)), Schema("", (Values((2,)),)), Schema("")
COMPARISONS = Comparisons()


def known(required: str = "", **named: Schema) -> BranchMembers:
    members = BranchMembers()
    members.require(frozenset(required))
    members.declare(named, COMPARISONS)
    return members


def demand(required: str = "", *whole: object, **named: Schema) -> MemberDemand:
    values = {name: (schema,) for name, schema in named.items()}
    return MemberDemand(
        FREE, frozenset(), frozenset(required), values, frozenset({*required, *named}), whole
    )


@pytest.mark.parametrize(
    ("members", "option", "expected"),
    [
        (known(), demand("a", a=ONE), True),
        (known("a", a=ONE), demand(a=ONE), True),
        (known("a", a=ONE), demand(a=TWO), False),
        (known(a=ONE), demand("a", a=TWO), False),
        (known(a=ONE), demand(a=TWO), True),  # neither requires it
        (known("b", a=ONE), demand("b", a=TWO, b=TWO), True),
        (known(a=Schema("", never=True)), demand("a"), False),
        (known("a"), demand(a=Schema("", never=True)), False),
    ],
)
def test_options_that_contradict_a_branch(
    members: BranchMembers, option: MemberDemand, expected: bool
) -> None:
    assert members.allows(option, COMPARISONS, None) is expected


def test_what_schemas_imply(monkeypatch: pytest.MonkeyPatch) -> None:
    """What they allow together is found once, however many schemas it is compared with."""
    found: list[tuple[Schema, ...]] = []

    def joint_of(schemas: tuple[Schema, ...]) -> Outline:
        found.append(schemas)
        return joint_outline(schemas)

    monkeypatch.setattr(branch_members, "joint_outline", joint_of)
    comparisons = Comparisons()
    either, opaque = Schema("", (Values((1, 2)),)), Schema("", (UniqueItems(),))
    schemas = (either, negated(TWO), opaque)
    for wanted, expected in ((ONE, True), (TWO, False), (either, True), (opaque, True)):
        assert comparisons.is_implied(schemas, wanted) is expected
    assert comparisons.is_implied((either,), ONE) is False
    assert found == [schemas, (either,)]


def test_an_option_is_compared_with_what_is_fresh_alone() -> None:
    members = known("a", a=ONE)
    members.fresh = {}
    option = demand(a=TWO)
    assert members.allows(option, COMPARISONS, members.fresh)
    members.declare({"a": negated(TWO)}, COMPARISONS)
    assert members.fresh == {"a": 1}
    assert not members.allows(option, COMPARISONS, members.fresh)


def test_a_name_that_is_required_later_is_compared_anew() -> None:
    members = known(a=ONE)
    members.fresh = {}
    members.require(frozenset("a"))
    assert not members.allows(demand(a=TWO), COMPARISONS, members.fresh)


def test_what_contradicts_itself_is_absent() -> None:
    members = known(a=ONE)
    copy = members.copy()
    members.declare({"a": TWO}, COMPARISONS)
    members.require(frozenset("a"))
    assert not members.is_possible
    assert copy.is_possible
    assert copy.named == {"a": (ONE,)}


def said(named: dict[str, Schema], *, additional: Schema = FREE) -> Properties:
    return Properties(named, (), additional)


@pytest.mark.parametrize(
    ("assertion", "expected"),
    [
        (Required(("a",)), True),
        (Required(("a", "b")), False),
        (said({"a": negated(TWO)}), True),
        (said({"a": TWO}), False),
        (said({"b": TWO}), False),
        (said({"c": TWO}), True),  # is absent
        (said({}, additional=ONE), False),
        (SomeMember({"a": negated(TWO), "b": ONE}, ()), True),
        (SomeMember({"b": FREE}, ()), False),
        (SomeMember({}, (), ("b", "c")), True),
        (UniqueItems(), False),
    ],
)
def test_options_that_a_branch_meets(assertion: Json, expected: bool) -> None:
    members = known("a", a=ONE, b=ONE, c=Schema("", never=True))
    assert members.meets(demand("", assertion), COMPARISONS) is expected
    assert members.meets(demand(), COMPARISONS)
    not_whole = MemberDemand(FREE, frozenset(), frozenset(), {}, frozenset(), None)
    assert not members.meets(not_whole, COMPARISONS)
