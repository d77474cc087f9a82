"""Documents that are no JSON, and settings of the wrong type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from maskwright.errors import LimitError, SchemaError
from maskwright.grammar.schema import document
from maskwright.limits import DEFAULT_LIMITS, Limits
from tests.ids import named


@pytest.mark.parametrize(
    ("text", "pointer"),
    [
        ('{"minimum": 1e-400}', "/minimum"),
        ('{"const": -0.00001E-330}', "/const"),
        ('{"enum": [0.0, -0e5, 0E-400, 5e-324]}', None),
        ('{"items": {"enum": [0.0, 1e-324]}}', "/items/enum/1"),
        ("0." + "0" * 400 + "1", ""),
        ("0." + "0" * 400, None),
    ],
)
def test_a_number_that_is_read_as_0_is_none(text: str, pointer: str | None) -> None:
    if pointer is None:
        assert document.check(document.loaded(text), DEFAULT_LIMITS).is_json
        return
    with pytest.raises(SchemaError, match=r"smaller one than 5e-324 is read as 0\.0") as raised:
        document.check(document.loaded(text), DEFAULT_LIMITS)
    assert raised.value.pointer == pointer


@pytest.mark.parametrize(
    ("value", "pointer"),
    [
        ({"a": [1, {"b": float("nan")}]}, "/a/1/b"),
        ({"enum": [float("inf")]}, "/enum/0"),
        ({"a/b~": {"c": object()}}, "/a~1b~0/c"),
        ({"a": {1: 2}}, "/a"),
        ([{"a": b"bytes"}], "/0/a"),
        ((1, 2), ""),
        ({"a": {"b"}}, "/a"),
    ],
    ids=named,
)
def test_what_is_not_json(value: Any, pointer: str) -> None:
    with pytest.raises(SchemaError) as raised:
        document.check(value, DEFAULT_LIMITS)
    assert raised.value.pointer == pointer


@pytest.mark.parametrize("value", [None, True, 1, 1.5, "a", [], {}, {"a": [{"b": None}]}], ids=str)
def test_what_is_json(value: Any) -> None:
    document.check(value, DEFAULT_LIMITS)


def nested(depth: int) -> Any:
    value: Any = {}
    for _ in range(depth):
        value = [value]
    return value


def test_limits_of_size_and_depth() -> None:
    document.check([0] * 9, Limits(schema_nodes=10))
    document.check(nested(5), Limits(schema_depth=5))
    for value, limits, limit in (
        ([0] * 10, Limits(schema_nodes=10), "schema_nodes"),
        (nested(6), Limits(schema_depth=5), "schema_depth"),
        (nested(100_000), DEFAULT_LIMITS, "schema_depth"),
    ):
        with pytest.raises(LimitError) as raised:
            document.check(value, limits)
        assert raised.value.limit == limit


@pytest.mark.parametrize(
    ("text", "error"), [("{", SchemaError), ("", SchemaError), ("[" * 200_000, LimitError)]
)
def test_text_that_is_no_json(text: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        document.loaded(text)


def test_text_and_values_are_loaded() -> None:
    assert document.loaded('{"a": [1]}') == {"a": [1]}
    assert document.loaded({"a": "b"}) == {"a": "b"}


@pytest.mark.parametrize(
    ("name", "step"), [("a", "a"), ("a/b", "a~1b"), ("~", "~0"), ("~1", "~01"), ("", "")]
)
def test_names_as_steps_of_a_pointer(name: str, step: str) -> None:
    assert document.escape(name) == step


SETTINGS: list[tuple[Callable[[Any, str], Any], list[Any], list[Any], str]] = [
    (document.as_array, [[], [1]], [{}, "a", None, 1], "an array"),
    (document.as_mapping, [{}, {"a": 1}], [[], "a", None], "an object of schemas"),
    (document.as_names, [[], ["a"]], ["a", {}, None], "an array of strings"),
    (document.as_number, [1, 1.5, -2], [True, "1", None], "a number"),
    (document.as_count, [0, 3, 2.0], [-1, 1.5, True, "1", None], "a whole number of at least 0"),
]


@pytest.mark.parametrize(("read", "right", "wrong", "expected"), SETTINGS, ids=named)
def test_settings(
    read: Callable[[Any, str], Any], right: list[Any], wrong: list[Any], expected: str
) -> None:
    for value in right:
        read(value, "/here")
    for value in wrong:
        with pytest.raises(SchemaError, match=f"expected {expected}, found") as raised:
            read(value, "/here")
        assert raised.value.pointer == "/here"


@pytest.mark.parametrize(
    ("setting", "place", "found"),
    [
        ([1], "/required/0", "1"),
        (["a", None], "/required/1", "null"),
        (["a", []], "/required/1", "an empty array"),
    ],
)
def test_what_is_no_name_is_named(setting: Any, place: str, found: str) -> None:
    with pytest.raises(SchemaError, match=f"expected a string, found {found}") as raised:
        document.as_names(setting, "/required")
    assert raised.value.pointer == place


@pytest.mark.parametrize("value", [None, True, 1, "a", [], [1], {}, {"a": 1}], ids=str)
def test_no_message_says_that_an_array_is_none(value: Any) -> None:
    """What is wrong with an empty array is that it is empty."""
    assert document.kind_of(value) == {
        "[]": "an empty array",
        "[1]": "an array",
        "{}": "an object",
        "{'a': 1}": "an object",
        "None": "null",
        "True": "a boolean",
        "1": "a number",
        "a": "a string",
    }.get(str(value))


def test_names_are_taken_once() -> None:
    assert document.as_names(["b", "a", "b"], "") == ("b", "a")
    assert document.as_count(2.0, "") == 2
    assert isinstance(document.as_count(2.0, ""), int)
