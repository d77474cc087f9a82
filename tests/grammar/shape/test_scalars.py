"""Which scalars satisfy assertions that are no unions."""

from __future__ import annotations

from decimal import Decimal

import pytest

from maskwright.errors import LimitError
from maskwright.grammar.number.interval import Interval
from maskwright.grammar.regular.derivative import contains
from maskwright.grammar.regular.terms import EMPTY, words
from maskwright.grammar.schema.tree import (
    Assertion,
    DigitsOnly,
    MultipleOf,
    NotValues,
    NumberIn,
    Required,
    StringIn,
    TypeIs,
    Values,
)
from maskwright.grammar.shape.scalars import (
    NumberOptions,
    literals_of,
    numbers_of,
    scalars_of,
    strings_of,
)
from tests.ids import named

INTEGER = TypeIs(frozenset(["integer"]))
FROM_1, TO_3 = NumberIn(Interval(low=Decimal(1))), NumberIn(Interval(high=Decimal(3)))
TEXTS = ["-1", "0", "1", "1.0", "1.5", "2", "2e0", "2.5", "3", "4", "6", "7", "14"]


def multiple(divisor: str, negative: bool = False) -> MultipleOf:
    return MultipleOf(Decimal(divisor), negative)


NUMBERS: list[tuple[list[Assertion], str]] = [
    ([], "-1 0 1 1.0 1.5 2 2e0 2.5 3 4 6 7 14"),
    ([Required(("a",)), StringIn(words(["a"]))], "-1 0 1 1.0 1.5 2 2e0 2.5 3 4 6 7 14"),
    ([INTEGER], "-1 0 1 1.0 2 2e0 3 4 6 7 14"),
    ([INTEGER, DigitsOnly()], "-1 0 1 2 3 4 6 7 14"),
    ([INTEGER, DigitsOnly(negative=True)], "1.0 2e0"),
    ([INTEGER, DigitsOnly(preferred=True)], "-1 0 1 2 3 4 6 7 14"),
    ([Values((1, 1.5, 2), plain_numbers=True)], "1 1.5 2"),
    ([Values((1.0, 2)), Values((1, 2.0), plain_numbers=True)], "1 1.0 2"),
    ([Values((1.0, 1.5), plain_numbers=True), INTEGER, DigitsOnly(preferred=True)], "1"),
    ([FROM_1, TO_3], "1 1.0 1.5 2 2e0 2.5 3"),
    ([FROM_1, TO_3, NotValues((2, "a", True))], "1 1.0 1.5 2.5 3"),
    ([Values((1, 2, "a", 7, True)), TO_3], "1 1.0 2 2e0"),
    ([Values((1, 2)), Values((2.0, 3))], "2 2e0"),
    ([Values((1, 2, 4)), NotValues((2,)), multiple("2")], "4"),
    ([Values((1, 1.5, 2)), INTEGER], "1 1.0 2 2e0"),
    ([Values((1, 2, 3, 4)), multiple("2", negative=True)], "1 1.0 3"),
    ([Values((True, None))], ""),
    ([multiple("2"), multiple("3")], "0 6"),
    ([multiple("0.5"), multiple("1", negative=True)], "1.5 2.5"),
    ([INTEGER, *(multiple(n, negative=True) for n in "2357")], "-1 1 1.0"),
    (
        [INTEGER, *(multiple(n, negative=True) for n in ["5", "9", "11", "13", "17", "19", "2"])],
        "-1 1 1.0 3 7",  # the seventh has an automaton of its own
    ),
]


@pytest.mark.parametrize(("branch", "expected"), NUMBERS, ids=named)
def test_numbers(branch: list[Assertion], expected: str) -> None:
    language = numbers_of(branch, NumberOptions(2_500))
    assert " ".join(text for text in TEXTS if contains(language, text)) == expected


def test_a_common_multiple_may_pass_the_limit() -> None:
    assert numbers_of([multiple("7"), multiple("11")], NumberOptions(77)) is not EMPTY
    with pytest.raises(LimitError, match="divisor"):
        numbers_of([multiple("7"), multiple("11")], NumberOptions(76))


@pytest.mark.parametrize(
    ("branch", "null", "booleans"),
    [
        ([], "null", "true false"),
        ([Values((None, True, 0))], "null", "true"),
        ([Values((1, 0, ""))], "", ""),
        ([NotValues((False, 1))], "null", "true"),
        ([NotValues((None,)), Values((None, True))], "", "true"),
    ],
)
def test_literals(branch: list[Assertion], null: str, booleans: str) -> None:
    """`1` is not `true`, though Python takes them for equal."""
    assert contains(literals_of(branch, "null"), "null") is (null == "null")
    language = literals_of(branch, "boolean")
    assert " ".join(text for text in ["true", "false"] if contains(language, text)) == booleans


def test_strings_of_one_assertion() -> None:
    language = strings_of(Values(("a", 1)))
    assert contains(language, "a")
    assert not contains(language, "1")
    assert not contains(strings_of(NotValues(("a", 1))), "a")
    assert contains(strings_of(NotValues(("a", 1))), "1")
    assert contains(strings_of(FROM_1), "any")


@pytest.mark.parametrize(
    ("types", "strings", "scalars"),
    [
        ({"string"}, "a", ""),
        ({"integer"}, "", "1 2"),
        ({"number", "null"}, "", "1 1.5 2 null"),
        ({"boolean", "integer", "number"}, "", "1 1.5 2 true"),
        (set(), "", ""),
    ],
)
@pytest.mark.parametrize("excluded", [(), (7,)], ids=["narrowing", "excluded values"])
def test_types_choose(
    types: set[str], strings: str, scalars: str, excluded: tuple[int, ...]
) -> None:
    """Both where the result is kept for other schemas and where a constant forbids that."""
    assertions: tuple[Assertion, ...] = (FROM_1, StringIn(words(["a"])))
    if excluded:
        assertions += (NotValues(excluded),)
    language, others = scalars_of(assertions, frozenset(types), NumberOptions(2_500))
    assert " ".join(text for text in ["a", "b"] if contains(language, text)) == strings
    texts = ["0", "1", "1.5", "2", "null", "true"]
    assert " ".join(text for text in texts if contains(others, text)) == scalars
