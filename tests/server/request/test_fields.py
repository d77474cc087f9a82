"""Reading the fields of a JSON object, each with its type and bounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from maskwright.errors import InputError
from maskwright.server.request.fields import Fields, as_number, invalid, missing, shown, token_id

Read = Callable[[Fields], Any]
NAN, INFINITE = float("nan"), float("inf")

READ: list[tuple[Read, list[tuple[Any, Any]], list[Any]]] = [
    # how `x` is read; values with what they are read as; values that are refused
    (lambda body: body.string("x"), [("a", "a"), ("", ""), (None, None)], [1, True, [], {}]),
    (
        lambda body: body.boolean("x"),
        [(True, True), (False, False), (None, False)],
        [0, 1, "true", []],
    ),
    (lambda body: body.boolean("x", default=True), [(None, True), (False, False)], ["", 0]),
    (
        lambda body: body.integer("x", 1, 8),
        [(1, 1), (8, 8), (2.0, 2), (None, None)],
        [0, 9, 1.5, True, "1", NAN, INFINITE, 10**400, []],
    ),
    (
        lambda body: body.number("x", 0, 2, 1.0),
        [(0, 0.0), (2, 2.0), (0.5, 0.5), (None, 1.0)],
        [-0.1, 2.1, True, "1", NAN, INFINITE, 10**400],
    ),
    (lambda body: body.number("x", 0, INFINITE, 1.0), [(10**300, 1e300)], [-1, INFINITE]),
    (lambda body: body.choice("x", ("a", "b")), [("a", "a"), (None, None)], ["c", "", 1, ["a"]]),
    (
        lambda body: body.strings("x"),
        [("a", ("a",)), (["a", "b"], ("a", "b")), ([], ()), ("", ("",)), (None, ())],
        [1, {}, True],
    ),
    (lambda body: body.items("x"), [([7], [(7, "x[0]")]), ([], []), (None, None)], ["a", {}, 1]),
]


@pytest.mark.parametrize(("read", "accepted", "refused"), READ)
def test_fields(read: Read, accepted: list[tuple[Any, Any]], refused: list[Any]) -> None:
    for value, expected in accepted:
        found = read(Fields({"x": value}))
        assert (type(found), found) == (type(expected), expected)
    for value in refused:
        with pytest.raises(InputError, match=r"^x must be .*, not ") as raised:
            read(Fields({"x": value}))
        assert raised.value.param == "x"
        inner = Fields({"x": value}, "messages[2].content")
        with pytest.raises(InputError) as raised:
            read(inner)
        assert raised.value.param == "messages[2].content.x"


@pytest.mark.parametrize(
    ("read", "value", "message"),
    [
        (lambda body: body.integer("x", 1, 8), 9, "x must be an integer from 1 to 8, not 9"),
        (lambda body: body.number("x", 0, 2, 1.0), 3, "x must be a number from 0 to 2, not 3"),
        (
            lambda body: body.number("x", 0.5, INFINITE, 1.0),
            0,
            "x must be a number of at least 0.5, not 0",
        ),
        (lambda body: body.choice("x", ("a", "b")), 1, "x must be one of 'a', 'b', not 1"),
        (lambda body: body.string("x"), {}, "x must be a string, not an object"),
        (lambda body: body.boolean("x"), [1], "x must be true or false, not an array"),
        (lambda body: body.string("x"), [], "x must be a string, not an empty array"),
    ],
)
def test_errors_say_what_was_wanted_and_what_came(read: Read, value: Any, message: str) -> None:
    with pytest.raises(InputError) as raised:
        read(Fields({"x": value}))
    assert raised.value.message == message


def test_an_element_of_the_wrong_type_has_its_place() -> None:
    with pytest.raises(InputError) as raised:
        Fields({"stop": ["a", 1]}).strings("stop")
    assert raised.value.param == "stop[1]"
    assert Fields({"a": [1, 2]}, "b").items("a") == [(1, "b.a[0]"), (2, "b.a[1]")]


@pytest.mark.parametrize("value", [0, 7, 7.0, 99])
def test_token_ids(value: object) -> None:
    assert token_id(value, "tokens[0]", 100) == value
    assert type(token_id(value, "tokens[0]", 100)) is int


@pytest.mark.parametrize("value", [-1, 100, 7.5, True, "7", None, NAN, INFINITE])
def test_what_is_no_token_id(value: object) -> None:
    with pytest.raises(InputError, match="must be a token id") as raised:
        token_id(value, "tokens[0]", 100)
    assert raised.value.param == "tokens[0]"


def test_null_counts_as_absent() -> None:
    body = Fields({"a": None, "b": 0, "c": False, "d": ""})
    assert list(body.present()) == ["b", "c", "d"]
    assert [body.has(name) for name in "abcde"] == [False, True, True, True, False]
    assert body.get("a") is body.get("e") is None
    body.only("b", "c", "d")


def test_objects_within_objects_have_a_dotted_path() -> None:
    outer = Fields({"a": {"b": {"c": 1}}, "n": None})
    assert outer.object("n") is None
    assert outer.object("absent") is None
    inner = outer.object("a")
    assert inner is not None
    assert inner.at("b") == "a.b"
    last = inner.object("b")
    assert last is not None
    assert (last.place, last.at("c"), last.get("c")) == ("a.b", "a.b.c", 1)
    with pytest.raises(InputError, match="must be an object") as raised:
        last.object("c")
    assert raised.value.param == "a.b.c"


def test_unknown_fields_are_named() -> None:
    body = Fields({"schema": 1, "shema": 2}, "response_format")
    body.only("schema", "shema")
    with pytest.raises(InputError, match="known here: schema, strict") as raised:
        body.only("schema", "strict")
    assert (raised.value.param, raised.value.code) == ("response_format.shema", "unknown_field")


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (1, 1.0),
        (-2.5, -2.5),
        (0, 0.0),
        (True, None),
        (False, None),
        ("1", None),
        (None, None),
        (NAN, None),
        (INFINITE, None),
        (10**400, None),
    ],
)
def test_numbers(value: object, number: float | None) -> None:
    found = as_number(value)
    assert found == number
    assert found is None or type(found) is float


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
