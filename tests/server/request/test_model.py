"""Models of requests: each type of field with its bounds, and what errors say."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from jsonschema import Draft202012Validator
from pydantic import Field, create_model

from maskwright.errors import InputError
from maskwright.server.request.model import (
    Array,
    Between,
    ByField,
    ByType,
    ClosedModel,
    IdArray,
    RawObject,
    RequestModel,
    Strings,
    Worded,
    invalid,
    missing,
    needs,
    shown,
)

NAN, INFINITE = float("nan"), float("inf")
Ids = Annotated[tuple[int, ...], IdArray(100)]


class Leaf(RequestModel):
    kind: Literal["leaf"]
    c: str


class Node(RequestModel):
    kind: Literal["node"] | None = None
    c: str = "none"


Either = Annotated[Leaf | Node, ByField("kind", default="node")]

READ: list[tuple[Any, list[tuple[Any, Any]], list[Any]]] = [
    # the type of `x`; values with what they are read as; values that are refused
    (str, [("a", "a"), ("", "")], [1, True, [], {}]),
    (bool, [(True, True), (False, False)], [0, 1, "true", []]),
    (
        Annotated[int, Between(1, 8)],
        [(1, 1), (8, 8), (2.0, 2)],
        [0, 9, 1.5, True, "1", NAN, INFINITE, 10**400, []],
    ),
    (
        Annotated[float, Between(0, 2)],
        [(0, 0.0), (2, 2.0), (0.5, 0.5)],
        [-0.1, 2.1, True, "1", NAN, INFINITE, 10**400],
    ),
    (Literal["a", "b"], [("a", "a")], ["c", "", 1, ["a"]]),
    (
        Annotated[tuple[str, ...], Strings(single=True)],
        [("a", ("a",)), (["a", "b"], ("a", "b")), ([], ()), ("", ("",))],
        [1, {}, True, [1]],
    ),
    (
        Annotated[tuple[str, ...], Strings(2, single=True)],
        [("a", ("a",)), (["a", "b"], ("a", "b"))],
        ["", ["a", ""], ["a", "b", "c"]],
    ),
    (Annotated[tuple[str, ...], Strings(least=1)], [(["a"], ("a",))], ["a", [], [None]]),
    (Ids, [([0, 7.0, 99], (0, 7, 99)), ([], ())], [[-1], [100], [7.5], [True], ["7"], [None], 7]),
    (Annotated[tuple[int, ...], IdArray(least=1)], [([10**9], (10**9,))], [[], [NAN], [INFINITE]]),
    (RawObject, [({"a": None}, {"a": None})], [[], "a", 1]),
    (Annotated[str | RawObject, ByType("a string")], [("a", "a"), ({}, {})], [1, [], True]),
]


def model(kind: Any) -> type[RequestModel]:
    """A model with one field, which may be absent."""
    optional: Any = kind | None
    return create_model("Made", __base__=RequestModel, x=(optional, None))


def refusal(kind: Any, value: Any) -> InputError:
    with pytest.raises(InputError) as raised:
        model(kind).read({"x": value})
    return raised.value


@pytest.mark.parametrize(("kind", "accepted", "refused"), READ, ids=str)
def test_types(kind: Any, accepted: list[tuple[Any, Any]], refused: list[Any]) -> None:
    made = model(kind)
    described = Draft202012Validator(made.model_json_schema())
    assert made.read({"x": None}) == made.read({}) == made()
    for value, expected in accepted:
        found: Any = made.read({"x": value})
        assert (type(found.x), found.x) == (type(expected), expected)
        assert described.is_valid({"x": value})
    for value in refused:
        error = refusal(kind, value)
        assert error.param in ("x", "x[0]")
        assert error.message.startswith(error.param)
        if value not in (NAN, INFINITE, [NAN], [INFINITE]):  # which no JSON is
            assert not described.is_valid({"x": value})


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        (Annotated[int, Between(1, 8)], 9, "x must be an integer from 1 to 8, not 9"),
        (Annotated[float, Between(0, 2)], 3, "x must be a number from 0 to 2, not 3"),
        (Annotated[float, Between(0.01, 1)], 0, "x must be a number from 0.01 to 1, not 0"),
        (Literal["a", "b"], 1, "x must be one of 'a', 'b', not 1"),
        (str, {}, "x must be a string, not an object"),
        (bool, [1], "x must be true or false, not an array"),
        (str, [], "x must be a string, not an empty array"),
        (Annotated[str, Worded("a name", "; or none")], 1, "x must be a name, not 1; or none"),
        (Annotated[str, Field(max_length=2)], "abc", "x has at most 2 characters"),
        (Annotated[str, Field(min_length=1)], "", "x must not be empty"),
        (Ids, ["a"], 'x[0] must be a token id, not "a"'),
        (Annotated[tuple[Leaf, ...], Array()], [1], "x[0] must be an object, not 1"),
        (Annotated[tuple[Leaf, ...], Array()], [{"kind": "leaf"}], "x[0].c is required"),
        (Either, {"kind": "leaf"}, "x.c is required"),
        (Either, {"kind": 1}, "x.kind must be one of 'leaf', 'node', not 1"),
        (Either, "a", 'x must be an object, not "a"'),
        (Annotated[str | Ids, ByType("ids")], {}, "x must be ids, not an object"),
        (Annotated[str | Ids, ByType("ids")], ["a"], 'x[0] must be a token id, not "a"'),
    ],
    ids=str,
)
def test_errors_say_where_what_was_wanted_and_what_came(
    kind: Any, value: Any, message: str
) -> None:
    error = refusal(kind, value)
    assert error.message == message
    assert error.param == message.partition(" ")[0]


def test_the_first_wrong_item_of_a_million_is_named_at_once() -> None:
    """And the others are not looked at: each error would take memory."""
    error = refusal(Ids, [1] * 500_000 + ["a"] * 500_000)
    assert error.param == "x[500000]"


def test_an_array_is_read_by_its_first_item() -> None:
    texts = Annotated[tuple[str, ...], Strings()]
    kind = Annotated[texts | Ids, ByType("texts or ids", first=(int, float))]
    for value in (["a"], [], [1, 2], [1.0]):
        found: Any = model(kind).read({"x": value})
        assert found.x == tuple(value)
    assert refusal(kind, ["a", 1]).message == "x[1] must be a string, not 1"
    assert refusal(kind, [1, "a"]).message == 'x[1] must be a token id, not "a"'
    assert refusal(kind, [True]).message == "x[0] must be a string, not true"


def test_null_counts_as_absent_at_every_level() -> None:
    kind = create_model("Outer", __base__=RequestModel, leaf=(Leaf, ...))
    with pytest.raises(InputError) as raised:
        kind.read({"leaf": None})
    assert raised.value.message == missing("leaf").message
    with pytest.raises(InputError) as raised:
        kind.read({"leaf": {"kind": "leaf", "c": None}})
    assert (raised.value.param, raised.value.code) == ("leaf.c", "missing_required_parameter")
    assert Node.read({"c": None}).c == "none"
    assert Node.read({"c": None}).model_fields_set == set()


class Closed(ClosedModel):
    REASONS = {"d": "there is no d"}  # noqa: RUF012

    a: int = 0
    b_: int = Field(default=0, alias="b")


def test_unknown_fields_are_named_with_those_that_are_known() -> None:
    outer = create_model("WithClosed", __base__=RequestModel, x=(Closed, ...))
    for model, before in ((Closed, ""), (outer, "x.")):
        wrong: dict[str, Any] = {"b": 1, "c": 2}
        with pytest.raises(InputError, match=r'unknown field "c"; known here: a, b$') as raised:
            model.read(wrong if model is Closed else {"x": wrong})
        assert (raised.value.param, raised.value.code) == (f"{before}c", "unknown_field")
    with pytest.raises(InputError, match=r"^there is no d$") as raised:
        outer.read({"x": {"d": 1}})
    assert (raised.value.param, raised.value.code) == ("x.d", "unsupported_parameter")
    assert Closed.read({"c": None, "d": None, "b": 1}).b_ == 1
    described = Draft202012Validator(Closed.model_json_schema())
    assert described.is_valid({"c": None, "b": 1})
    assert not described.is_valid({"c": 1})


def test_a_user_may_name_a_property_like_a_tag() -> None:
    kind = dict[str, Annotated[int, Between(0, 1)]]
    assert refusal(kind, {"text": 2}).param == "x.text"


@pytest.mark.parametrize("exactly_one", [False, True])
def test_needs(exactly_one: bool) -> None:
    described = Draft202012Validator(needs("a", "b", exactly_one=exactly_one))
    assert described.is_valid({"a": 1})
    assert described.is_valid({"a": 1, "b": None})
    assert not described.is_valid({"a": None})
    assert not described.is_valid({})
    assert described.is_valid({"a": 1, "b": 1}) != exactly_one


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"a": 1}, "an object"),
        ([1], "an array"),
        (None, "null"),
        (True, "true"),
        ("é", '"é"'),
        ("x" * 58, '"' + "x" * 58 + '"'),  # 60 characters with the quotes
        ("x" * 59, '"' + "x" * 58 + "…"),
    ],
)
def test_values_are_shown_up_to_a_bound(value: object, text: str) -> None:
    assert shown(value) == text
    assert len(shown(value)) <= 60


def test_the_two_errors() -> None:
    assert missing("a.b").param == "a.b"
    assert missing("a.b").code == "missing_required_parameter"
    assert invalid("a", "an array", "x").message == 'a must be an array, not "x"'
    assert invalid("a", "an array", "x").param == "a"
