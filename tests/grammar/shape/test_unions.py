"""Which branches the unions of a conjunction come to."""

from __future__ import annotations

import json
from typing import Any

import pytest

from maskwright import compile_json_schema
from maskwright.errors import LimitError
from maskwright.grammar.schema.tree import (
    AllOf,
    AnyOf,
    If,
    Json,
    Not,
    OneOf,
    Required,
    Schema,
    SomeMember,
    negated,
)
from maskwright.grammar.shape.one_of import ExclusiveUnions
from maskwright.grammar.shape.unevaluated import ResolvedAssertions
from maskwright.grammar.shape.unions import Branches, Path, _Branch
from maskwright.limits import Limits, Work
from tests.bounds import counted_calls
from tests.grammar.shape.semantics import VALUES, kind, satisfies, schema
from tests.matching import EVERY_BYTE, allowed, matches

PAIRS = [("a", "b"), ("a", "c"), ("b", "c"), ("ab", "a"), ("c", "ab"), ("b", "ab")]
REQUIRED: Json = {
    "allOf": [
        *({"anyOf": [{"required": [one]}, {"required": [other]}]} for one, other in PAIRS),
        {"anyOf": [{"required": ["a", "b"]}, {"required": ["c"]}, {"required": ["ab", "a"]}]},
    ]
}
DOUBLED: Json = {
    "$defs": {
        "40": {"type": "object"},
        **{str(n): {"anyOf": 2 * [{"$ref": f"#/$defs/{n + 1}"}]} for n in range(40)},
    },
    "$ref": "#/$defs/0",
}


def by_kind(values: list[Any], **keywords: Any) -> dict[str, Any]:
    """Objects with a condition for each value of `a`."""
    return {
        **keywords,
        "type": "object",
        "allOf": [
            {
                "if": {"properties": {"a": {"const": value}}, "required": ["a"]},
                "then": {"properties": {"b": {"const": at}}},
            }
            for at, value in enumerate(values)
        ],
    }


KINDS = ["a", 1, 2]
DECIDED: list[Json] = [
    by_kind(KINDS, required=["a"]),
    by_kind([*KINDS, *range(3, 30)], required=["a"]),
    by_kind(KINDS, required=["a"], properties={"a": {"enum": [1, "a", None]}}),
    {"required": ["a", "b"], "not": {"properties": {"a": {"const": 1}}}},
    {"required": ["a"], "oneOf": [{"properties": {"a": {"const": n}}} for n in range(2)]},
]
"""Objects whose conditions are all about a required member."""

COUNTS: list[tuple[Json, str, int]] = [
    ({}, "number", 1),
    (False, "number", 0),
    ({"type": "string"}, "number", 0),
    ({"type": "integer"}, "number", 1),
    ({"allOf": [{"minimum": 1}, {"maximum": 2}]}, "number", 1),
    ({"anyOf": [{"minimum": 1}, {"type": "string"}]}, "number", 1),
    ({"anyOf": [{"minimum": 1}, {"maximum": 0}]}, "number", 2),
    ({"anyOf": [{"minimum": 1}, {"maximum": 0}], "oneOf": [True, False]}, "number", 2),
    ({"not": {"minimum": 1, "maximum": 5}}, "number", 2),
    ({"not": {}}, "number", 0),
    ({"if": {"minimum": 3}, "then": {"maximum": 5}, "else": {"multipleOf": 2}}, "number", 2),
    ({"enum": [1, [1], [2], {"a": 1}]}, "array", 2),
    ({"enum": [1, [1], [2], {"a": 1}]}, "object", 1),
    ({"required": ["a"], "properties": {"a": False}}, "object", 0),
    ({"required": ["a"], "properties": {"a": False}}, "number", 1),
    (
        {"required": ["a"], "anyOf": [{"properties": {"a": False}}, {"maxProperties": 3}]},
        "object",
        1,
    ),
    (
        {
            "required": ["k"],
            "anyOf": [{"properties": {"k": {"const": n}}} for n in range(3)],
            "allOf": [{"anyOf": [{"properties": {"k": {"const": n}}} for n in range(3)]}],
        },
        "object",
        3,
    ),
    (REQUIRED, "object", 1),  # as assertions: multiplied out these are 192
    (REQUIRED, "number", 1),
    ({**REQUIRED, "required": ["a", "b", "c", "ab"]}, "object", 1),
    (DECIDED[0], "object", 4),
    (DECIDED[1], "object", 31),
    (DECIDED[2], "object", 3),
    (DECIDED[3], "object", 1),
    (DECIDED[4], "object", 2),
    (by_kind(KINDS), "object", 4),
    # Values of another type break the type, whatever else is denied.
    ({"allOf": [{"not": {"type": "string", "enum": [at]}} for at in "abcd"]}, "array", 1),
    ({"allOf": [{"not": {"type": "string", "enum": [at]}} for at in "abcd"]}, "number", 1),
    ({"not": {"type": "integer", "minimum": 3}}, "number", 2),
    ({"not": {"type": "string", "properties": {"a": {"const": 1}}}}, "object", 2),
    ({"not": {"properties": {"a": {"const": 1}, "b": {"const": 2}}}}, "object", 1),
    ({"required": ["a"], "not": {"patternProperties": {"^a": {"const": 1}}}}, "object", 1),
    (
        {
            "properties": {"a": {"const": 2}},
            "required": ["a"],
            "not": {"properties": {"a": {"const": 1}, "b": {"const": 2}}},
        },
        "object",
        1,
    ),
]


GENERATORS: Json = [{"properties": {"g": {"const": n}, f"p{n}": {"type": "null"}}} for n in "abc"]
LISTED: Json = {
    "required": ["k"],
    "oneOf": [
        {"properties": {"k": {"const": 1}, "x": {"type": "null"}}},
        {"properties": {"k": {"const": 2}}, "oneOf": GENERATORS},
        {"properties": {"k": {"const": 3}, "y": {"type": "null"}}},
    ],
}
"""By itself the union doesn't require `k`, so each option excludes the others, and not to satisfy
the second one may mean to satisfy two generators."""

SHARED: Json = {
    "$defs": {"all": {"properties": {"e": {"type": "null"}, "f": {"type": "boolean"}}}},
    "oneOf": [
        {"allOf": [{"$ref": "#/$defs/all"}, {"properties": {"k": {"const": n}}}]} for n in range(4)
    ],
}
"""No option breaks what all of them refer to."""

MET: list[tuple[Json, str, int, int]] = [
    (SHARED, "object", 4, 4),
    (
        {
            "$defs": {"a": {"maximum": 1}},
            "allOf": [{"$ref": "#/$defs/a"}],
            "anyOf": [{"$ref": "#/$defs/a"}, {"minimum": 0}],
            "oneOf": [{"not": {"$ref": "#/$defs/a"}}, {"minimum": -1}],
        },
        "number",
        1,
        1,
    ),
    (LISTED, "object", 5, 13),
    ({"anyOf": [{"minimum": 1}, {"type": "object"}, {"required": ["a"]}]}, "number", 1, 1),
    ({"anyOf": [{"required": ["a"]}, {"type": "object"}]}, "object", 1, 2),
    ({"required": ["a"], "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}, "object", 1, 2),
    ({"anyOf": [{"enum": [1, "a"]}, {"enum": [2, {"a": 1}]}]}, "array", 0, 0),
    (
        {
            "properties": {"a": False},
            "anyOf": [{"properties": {"a": {"const": 1}}}, {"minProperties": 2}],
        },
        "object",
        1,
        2,
    ),
]
"""Unions that every value of a branch satisfies; how many branches are left, and how many where
it makes a difference which of them declares a name."""


def branches(
    limits: Limits = Limits(),  # noqa: B008  (it is never changed)
    *,
    ordered: bool = True,
) -> Branches:
    resolved = ResolvedAssertions(limits)
    return Branches(ExclusiveUnions(limits, lambda _: True), resolved, limits, ordered=ordered)


@pytest.mark.parametrize(("document", "of", "count", "declaring"), MET, ids=str)
def test_unions_that_are_met_multiply_nothing(
    document: Json, of: str, count: int, declaring: int
) -> None:
    root = schema(document)
    for ordered, expected in ((False, count), (True, declaring)):
        left = branches(ordered=ordered).branches(frozenset([root]), of)
        assert len(left) == expected
        for value in VALUES:
            if kind(value) == of:
                held = any(all(satisfies_one(each, value) for each in branch) for branch in left)
                assert held is satisfies(root, value), value


@pytest.mark.parametrize("order", ["schema", "any"])
def test_a_union_that_is_met_may_list_names_of_a_closed_object(order: Any) -> None:
    document = {
        "properties": {"k": {"const": 1}},
        "required": ["k"],
        "anyOf": [{"required": ["k"]}, {"properties": {"a": {}}}],
    }
    grammar = compile_json_schema(
        document, EVERY_BYTE, additional_properties="forbid", property_order=order
    )
    for text, right in (('{"k":1}', True), ('{"k":1,"a":1}', True), ('{"k":1,"b":1}', False)):
        assert matches(grammar, text) is right, text


def test_options_of_a_chain_of_conditions_are_not_tried_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Under one condition the others can't hold: two forks for each condition, not for each two."""
    forks: list[Schema] = []
    fork = _Branch.fork

    def counted(branch: _Branch, option: Schema, path: Path) -> _Branch:
        forks.append(option)
        return fork(branch, option, path)

    monkeypatch.setattr(_Branch, "fork", counted)
    document = by_kind([*range(20)], required=["a"])
    assert len(branches().branches(frozenset([schema(document)]), "object")) == 21
    assert len(forks) == 2 * 20


def test_what_one_choice_decides_is_not_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each name requires the next one, once the first is there."""
    monkeypatch.delattr("maskwright.grammar.shape.unions._Branch.fork")
    chain = [
        {"if": {"required": [f"a{at}"]}, "then": {"required": [f"a{at + 1}"], "minProperties": at}}
        for at in range(20)
    ]
    document = schema({"required": ["a0"], "allOf": chain})
    (branch,) = branches(ordered=False).branches(frozenset([document]), "object")
    required = {name for each in branch if isinstance(each, Required) for name in each.names}
    assert required == {f"a{at}" for at in range(21)}


@pytest.mark.parametrize(("document", "of", "count"), COUNTS, ids=str)
def test_branches_that_are_left(document: Json, of: str, count: int) -> None:
    left = branches().branches(frozenset([schema(document)]), of)
    assert len(left) == count
    for branch in left:
        assert not any(isinstance(each, AllOf | AnyOf | OneOf | Not | If) for each in branch)


def test_unions_of_one_option_make_no_branches_to_choose_from(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr("maskwright.grammar.shape.unions._Branch.fork")
    denied = schema({"allOf": [{"not": {"const": at}} for at in range(20)]})
    assert len(branches().branches(frozenset([denied]), "number")) == 1


def test_properties_are_compared_with_those_of_the_same_name_alone() -> None:
    apart = [{"properties": {f"p{at}": {"const": at}}} for at in range(200)]
    conjunction = frozenset([schema({"allOf": apart})])
    with counted_calls() as calls:
        assert len(branches().branches(conjunction, "object")) == 1
    assert calls.count < 10_000


def test_unions_are_asked_once_for_the_names_that_they_require() -> None:
    """Each of these has to be multiplied out, and stands in all branches until it is."""
    unions = [{"anyOf": [{"required": [f"a{n}"]}, {"minProperties": n}]} for n in range(80)]
    conjunction = frozenset([schema({"allOf": unions})])
    choices = branches(Limits(alternatives=70))
    with counted_calls() as calls, pytest.raises(LimitError):
        choices.branches(conjunction, "object")
    assert calls.count < 8_000


def test_the_options_of_a_condition_are_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Schema] = []

    def negated_once(condition: Schema) -> Schema:
        asked.append(condition)
        return negated(condition)

    monkeypatch.setattr("maskwright.grammar.shape.unions.negated", negated_once)
    conjunction = frozenset([schema({"allOf": by_kind([1, 2])["allOf"]})])
    choices = branches()
    for of in ("object", "array", "null"):
        assert choices.branches(conjunction, of)
    assert len(asked) == 2


DEPENDENT: list[Json] = [
    {"dependentSchemas": {f"a{n}": {"required": [f"b{n}"]} for n in range(20)}},
    {
        "allOf": [
            {"if": {"required": [f"a{n}"]}, "then": {"required": [f"b{n}"]}} for n in range(20)
        ]
    },
    {
        "allOf": [
            {"anyOf": [{"not": {"required": [f"a{n}"]}}, {"required": [f"b{n}"]}]}
            for n in range(20)
        ]
    },
]


@pytest.mark.parametrize("document", DEPENDENT, ids=str)
def test_names_that_others_require_are_not_multiplied(document: Json) -> None:
    grammar = compile_json_schema(document, EVERY_BYTE, property_order="any")
    for text, allowed_by_all in (
        ('{"a1":1,"b1":2}', True),
        ('{"b2":1,"a7":1,"c":3,"b7":2}', True),
        ("{}", True),
        ("[1]", True),
        ('{"a1":1}', False),
        ('{"a3":1,"b3":2,"a19":1,"b1":2}', False),
    ):
        assert matches(grammar, text) is allowed_by_all, text


NAMES_OF_OBJECTS: list[Json] = [
    {"anyOf": [{"type": "object", "required": [name]}, {"type": "object", "required": ["c"]}]}
    for name in ("a", "b", "ab", "a", "b", "ab", "z")
]
NAMES_AND_TYPES: list[Json] = [
    {"allOf": NAMES_OF_OBJECTS},
    {"allOf": [*NAMES_OF_OBJECTS[1:], {"anyOf": [{"type": "null"}, {"required": ["a"]}]}]},
    {
        "allOf": [
            {"anyOf": [{"not": {"required": [name]}}, {"not": {"required": [other]}}]}
            for name, other in [*PAIRS, ("c", "a")]
        ]
    },
]
"""Unions that come to more than 64 branches."""


@pytest.mark.parametrize("document", NAMES_AND_TYPES, ids=str)
def test_names_are_required_of_objects_alone(document: Json) -> None:
    root = schema(document)
    for of in ("null", "number", "array", "object"):
        left = branches().branches(frozenset([root]), of)
        for value in VALUES:
            if kind(value) == of:
                held = any(all(satisfies_one(each, value) for each in branch) for branch in left)
                assert held is satisfies(root, value), value


NOT_RECURSIVE = [document for document, *_ in COUNTS if "$ref" not in str(document)]


@pytest.mark.parametrize("document", NOT_RECURSIVE, ids=str)
def test_a_value_satisfies_some_branch_if_it_satisfies_the_schema(document: Json) -> None:
    root = schema(document)
    for of in ("null", "number", "array", "object"):
        left = branches().branches(frozenset([root]), of)
        for value in VALUES:
            if kind(value) == of:
                held = any(all(satisfies_one(each, value) for each in branch) for branch in left)
                assert held is satisfies(root, value), value


@pytest.mark.parametrize("document", DECIDED, ids=str)
def test_conditions_on_a_required_member_are_no_requirements_of_some_member(
    document: Json,
) -> None:
    left = branches().branches(frozenset([schema(document)]), "object")
    assert not any(isinstance(each, SomeMember) for branch in left for each in branch)


@pytest.mark.parametrize("order", ["schema", "any"])
def test_thirty_conditions_on_a_required_member_take_little_work(order: Any) -> None:
    """Read as requirements of some member, they would be 2**30 ways to read it."""
    document = by_kind([f"kind {at}" for at in range(30)], required=["a"])
    with counted_calls() as calls:
        grammar = compile_json_schema(document, EVERY_BYTE, property_order=order)
        matcher = grammar.matcher()
        assert matcher.accept_bytes(b'{"a":"kind 1')
        assert matcher.ends_within(3)
        assert allowed(matcher, budget=60)
    assert calls.count < 1_000_000
    for kind_read, b, right in (
        ("kind 1", 1, True),
        ("kind 1", 12, False),
        ("kind 12", 12, True),
        ("kind", 7, True),
        (7, None, True),
    ):
        assert matches(grammar, f'{{"a": {json.dumps(kind_read)}, "b": {json.dumps(b)}}}') is right
    assert not matches(grammar, '{"b": 1}')


def satisfies_one(assertion: object, value: Json) -> bool:
    one = schema({})
    one.assertions = (assertion,)  # type: ignore[assignment]
    return satisfies(one, value)


def test_too_many_branches_are_refused() -> None:
    document = {"allOf": [{"anyOf": [{"minimum": n}, {"multipleOf": n + 1}]} for n in range(8)]}
    root = frozenset([schema(document)])
    assert len(branches(Limits(alternatives=256)).branches(root, "number")) == 256
    with pytest.raises(LimitError, match="multiply to more than 100") as raised:
        branches(Limits(alternatives=100)).branches(root, "number")
    assert raised.value.limit == "alternatives"


def test_options_that_refer_to_one_schema_are_one() -> None:
    with Work(Limits(work=500)):
        assert len(branches().branches(frozenset([schema(DOUBLED)]), "object")) == 1


@pytest.mark.parametrize("order", ["schema", "any"])
@pytest.mark.parametrize("unions", [12, 40])
def test_many_unions_of_required_names_compile_with_little_work(unions: int, order: Any) -> None:
    pairs = [{"anyOf": [{"required": [f"{n}a"]}, {"required": [f"{n}b"]}]} for n in range(unions)]
    document: Json = {
        "type": "object",
        "properties": {f"{n}{side}": {"type": "integer"} for n in range(unions) for side in "ab"},
        "allOf": pairs,
        "additionalProperties": False,
    }
    grammar = compile_json_schema(
        document, EVERY_BYTE, property_order=order, whitespace="compact", limits=Limits(work=20_000)
    )
    members = [f'"{n}{"ab"[n % 2]}":1' for n in range(unions)]
    assert matches(grammar, "{" + ",".join(members) + "}")
    assert not matches(grammar, "{" + ",".join(members[:-1]) + "}")


def test_options_that_show_at_once_to_have_no_value_are_no_alternatives() -> None:
    """Of another type, and without a member that an option has to have."""
    others = [{"type": "string", "maxLength": length} for length in range(50)]
    needing = [{"required": [name]} for name in "abcdefg" for _ in range(6)]
    document = {
        "properties": dict.fromkeys("abcdefg", False),
        "allOf": [
            {
                "required": ["i"],
                "anyOf": [*others, *needing, {"required": ["h"]}, {"minProperties": 3}],
            }
        ],
    }
    root = frozenset([schema(document)])
    assert len(branches(Limits(alternatives=2)).branches(root, "object")) == 2
