"""Spellings of numbers against `decimal`: every short text of digits, signs, points, exponents."""

from __future__ import annotations

import re
from decimal import Decimal
from itertools import product

import pytest

from maskwright.grammar.number.interval import Interval
from maskwright.grammar.number.spellings import MOST_DIGITS, exactly, number, written
from maskwright.grammar.regular.derivative import derivative, is_live
from maskwright.grammar.regular.enumerate import few
from maskwright.grammar.regular.terms import Regular

_JSON_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
TEXTS = ["".join(text) for size in range(1, 6) for text in product("0159.-", repeat=size)]
SPELLED = [text for text in TEXTS if _JSON_NUMBER.fullmatch(text)]

BOUNDS = [None, "0", "1", "5", "9", "10", "15", "-1", "-9", "0.5", "0.05", "1.5", "-0.5", "99.5"]
INTERVALS = [
    (low, high, low_open, high_open)
    for low, high in product(BOUNDS, BOUNDS)
    for low_open, high_open in ((False, False), (True, False), (True, True))
    if (low is not None or not low_open) and (high is not None or not high_open)
]


def contains(term: Regular, text: str) -> bool:
    return derivative(term, text).nullable


def interval(low: str | None, high: str | None, low_open: bool, high_open: bool) -> Interval:
    return Interval(low and Decimal(low), high and Decimal(high), low_open, high_open)


def inside(value: Decimal, within: Interval) -> bool:
    above = (
        within.low is None or value > within.low or (value == within.low and not within.low_open)
    )
    below = (
        within.high is None
        or value < within.high
        or (value == within.high and not within.high_open)
    )
    return above and below


@pytest.mark.parametrize("whole", [False, True], ids=["number", "integer"])
def test_every_short_text(whole: bool) -> None:
    for place, bounds in enumerate(INTERVALS):
        within = interval(*bounds)
        term = number(within, integer=whole)
        for text in SPELLED[place % 7 :: 7]:
            value = Decimal(text)
            expected = inside(value, within) and (not whole or value == int(value))
            assert contains(term, text) is expected, (text, within)


def test_what_is_no_number() -> None:
    term = number(Interval(), integer=False)
    for text in TEXTS:
        assert contains(term, text) is (_JSON_NUMBER.fullmatch(text) is not None), text


EXPONENTS = ["1e5", "-1E+05", "1.5e10", "5e-3", "1.05e1", "-1.5e-1", "1e0"]


@pytest.mark.parametrize("whole", [False, True], ids=["number", "integer"])
def test_exponents(whole: bool) -> None:
    for place, bounds in enumerate(INTERVALS):
        within = interval(*bounds)
        term = number(within, integer=whole)
        for text in EXPONENTS[place % 3 :: 3]:
            value = Decimal(text)
            expected = inside(value, within) and (not whole or value == int(value))
            assert contains(term, text) is expected, (text, within)


def test_zero_with_an_exponent() -> None:
    for bounds in INTERVALS:
        within = interval(*bounds)
        term = number(within)
        for text in ("0e0", "-0e5", "-0.0E-7"):
            assert contains(term, text) is inside(Decimal(0), within), (text, within)


TINY_BOUNDS = [
    "0",
    "1e-18",
    "1e-19",
    "1e-21",
    "1e-40",
    "-1e-40",
    "1.0000000000000001e-40",
    "5e-324",
]
TINY_TEXTS = [
    f"{sign}{mantissa}e{exponent}"
    for sign in ("", "-")
    for mantissa in (
        *("1", "1.5", "5", "9.99999999999999999999", "1.00000000000000000001"),
        *("1.0000000000000001", "1.00000000000000005", "4.9", "5.00000000000000000001"),
    )
    for exponent in (-18, -19, -20, -21, -22, -40, -41, -323, -324, -325, -330)
]


@pytest.mark.parametrize("low", [None, *TINY_BOUNDS])
@pytest.mark.parametrize("high", [None, *TINY_BOUNDS])
def test_open_bounds_that_lie_very_close(low: str | None, high: str | None) -> None:
    for low_open, high_open in product((False, True), repeat=2):
        within = interval(low, high, low_open, high_open)
        term = number(within)
        for text in TINY_TEXTS:
            assert contains(term, text) is inside(Decimal(text), within), (text, within)


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        ("0", "1e-40", "5e-41"),
        ("0", "1e-40", f"0.{'0' * 40}5"),
        ("-1e-40", "0", "-5e-41"),
        ("0", "5e-324", "1e-324"),
        ("1e-40", "1.0000000000000001e-40", "1.00000000000000005e-40"),
    ],
)
def test_a_number_lies_between_open_bounds(low: str, high: str, text: str) -> None:
    term = number(interval(low, high, True, True))
    assert is_live(term)
    assert contains(term, text)
    assert not is_live(number(interval(low, low, True, True)))


@pytest.mark.parametrize(
    ("value", "spellings", "others"),
    [
        (
            0,
            ["0", "-0", "0.0", "-0.00", "0e0", "-0.0E+7"],
            ["00", "0.", "0.01", "1", "", "1e0", "0e"],
        ),
        (12, ["12", "12.0", "12.000"], ["012", "12.5", "-12", "1", "120"]),
        (-1.5, ["-1.5", "-1.50"], ["1.5", "-1.05", "-1", "-1.55"]),
        (1e30, ["1e+30", "1" + "0" * 30, "1" + "0" * 30 + ".0"], ["1", "1e30x", "1" + "0" * 29]),
        (1e-7, ["1e-07", "0.0000001", "0.00000010"], ["0.000001", "1e-08"]),
        (10**50, ["1" + "0" * 50], ["1" + "0" * 49]),
    ],
)
def test_exactly(value: float, spellings: list[str], others: list[str]) -> None:
    term = exactly(value)
    assert [contains(term, text) for text in spellings] == [True] * len(spellings)
    assert [contains(term, text) for text in others] == [False] * len(others)


def test_no_exponent_overflows_double_precision() -> None:
    term = exactly(10**308, 10**309)
    assert contains(term, "1e308")
    assert contains(term, "1" + "0" * 309)
    assert not contains(term, "1e309")


def test_digits_are_bounded() -> None:
    whole = number(Interval(), integer=True)
    assert contains(whole, "1" * MOST_DIGITS)
    assert not contains(whole, "1" * (MOST_DIGITS + 1))
    assert not contains(number(Interval(), integer=False), "0." + "1" * (MOST_DIGITS + 1))
    long = Decimal("1" * 60)
    assert contains(number(Interval(low=long), integer=True), "1" * 60), "bounds of more digits"


@pytest.mark.parametrize(
    ("value", "spellings"),
    [
        (1, {"1"}),
        (-20, {"-20"}),
        (2.0, {"2", "2.0"}),
        (2.5, {"2.5"}),
        (0, {"0"}),
        (-0.0, {"0", "-0.0"}),
        (1e16, {"10000000000000000", "1e+16"}),
        (1e-7, {"0.0000001", "1e-07"}),
    ],
)
def test_as_programs_write_numbers(value: float, spellings: set[str]) -> None:
    assert set(words_of(written(value))) == spellings


def test_several_numbers_are_written() -> None:
    assert set(words_of(written(1, 2.5))) == {"1", "2.5"}
    assert set(words_of(written())) == set()


def words_of(term: Regular) -> tuple[str, ...]:
    """All texts of a finite language."""
    texts = few(term, 100)
    assert texts is not None
    return texts
