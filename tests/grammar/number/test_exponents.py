"""Exponents between two bounds, as they are written."""

from __future__ import annotations

import pytest

from maskwright.grammar.number.digits import LEAST_EXPONENT, MOST_EXPONENT, exponents
from maskwright.grammar.regular.derivative import contains
from maskwright.grammar.regular.terms import EMPTY

RANGES = [
    *((0, 0), (0, 9), (5, 5), (9, 10), (-1, 1), (-9, -1), (-10, -10), (-15, 123), (7, 307)),
    *((99, 101), (-330, 307), (-330, -328), (100, 199), (-5, 0)),
]


@pytest.mark.parametrize(("least", "most"), RANGES)
def test_every_number_in_every_spelling(least: int, most: int) -> None:
    language = exponents(least, most)
    for value in range(LEAST_EXPONENT - 5, MOST_EXPONENT + 5):
        inside = least <= value <= most
        sign, digits = ("-" if value < 0 else ""), str(abs(value))
        assert contains(language, sign + digits) is inside, value
        if value >= 0:
            assert contains(language, f"+{digits}") is inside
        if value == 0:
            assert contains(language, "-0") is inside
        padded = contains(language, f"{sign}0{digits}")
        assert padded is (inside and len(digits) == 1), value


@pytest.mark.parametrize("text", ["", "+", "-", "+-1", "001", "1.0", "e1", " 1", "1e1"])
def test_what_is_no_exponent(text: str) -> None:
    assert not contains(exponents(-330, 307), text)


@pytest.mark.parametrize(("least", "most"), [(1, 0), (5, 4), (-3, -4)])
def test_nothing_lies_between_bounds_that_cross(least: int, most: int) -> None:
    assert exponents(least, most) is EMPTY
