"""Multiples by their digits, against remainders."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest

from maskwright.errors import LimitError
from maskwright.grammar.number.multiples import (
    Multiples,
    common,
    common_multiple,
    digits_of,
    effective_exclusions,
    multiples,
)


@pytest.mark.parametrize(
    ("divisor", "factor", "places", "states"),
    [
        ("1", 1, 0, 1),
        ("7", 7, 0, 7),
        ("10", 10, 0, 1),
        ("100", 100, 0, 1),
        ("1e6", 10**6, 0, 1),
        ("6", 6, 0, 3),
        ("60", 60, 0, 3),
        ("0.5", 5, 1, 1),
        ("0.10", 1, 1, 1),
        ("0.3", 3, 1, 3),
        ("2.50", 25, 1, 1),
        ("0.0075", 75, 4, 3),
    ],
)
def test_divisors(divisor: str, factor: int, places: int, states: int) -> None:
    found = multiples(Decimal(divisor))
    assert found == Multiples(factor, places)
    assert found.states == states
    assert Fraction(found.step(6), 10**6) == Fraction(Decimal(divisor))


def test_too_many_remainders_are_refused() -> None:
    assert multiples(Decimal(2503), 2503).states == 2503
    with pytest.raises(LimitError, match="leave multipleOf out") as raised:
        multiples(Decimal(2503), 2502)
    assert raised.value.limit == "divisor"


@pytest.mark.parametrize("factor", [1, 7, 12, 60, 25])
def test_residues_decide_what_may_follow(factor: int) -> None:
    """Two prefixes have one residue if and only if the same digits make multiples of both."""
    found = Multiples(factor, 0)

    def suffixes(digits: int) -> frozenset[tuple[int, int]]:
        return frozenset(
            (count, suffix)
            for count in range(4)
            for suffix in range(10**count)
            if (digits * 10**count + suffix) % factor == 0
        )

    classes: dict[tuple[int, ...], frozenset[tuple[int, int]]] = {}
    for digits in range(130):
        assert classes.setdefault(found.residue(digits), suffixes(digits)) == suffixes(digits)
    assert len(set(classes.values())) == len(classes)


@pytest.mark.parametrize("divisor", ["1", "0.3", "7", "40", "0.125", "6"])
def test_the_least_exponent(divisor: str) -> None:
    exact, found = Fraction(Decimal(divisor)), multiples(Decimal(divisor))
    for digits in range(1, 60):
        for places in range(3):
            least = found.least_exponent(digits, places)
            fits = [
                e
                for e in range(-6, 9)
                if (digits * Fraction(10) ** (e - places) / exact).denominator == 1
            ]
            assert fits == ([] if least is None else list(range(least, 9))), (digits, places)


@pytest.mark.parametrize(
    ("left", "right", "both"),
    [
        ("4", "6", "12"),
        ("0.4", "3", "6"),
        ("0.15", "0.1", "0.3"),
        ("2", "2", "2"),
        ("1e3", "7", "7e3"),
    ],
)
def test_common_multiples(left: str, right: str, both: str) -> None:
    assert common_multiple(Decimal(left), Decimal(right)) == Decimal(both)
    one, other = multiples(Decimal(left)), multiples(Decimal(right))
    joint = common(one, other)
    assert joint is not None
    assert Fraction(joint.step(4), 10**4) == Fraction(Decimal(both))
    assert common(None, one) == one == common(one, None)
    assert common(None, None) is None


@pytest.mark.parametrize(
    ("required", "excluded", "left"),
    [
        (None, ["5", "15", "10"], ["5"]),
        (None, ["2", "3"], ["2", "3"]),
        ("3", ["2", "6"], ["6"]),  # of multiples of 3, both exclude those of 6
        ("3", ["5", "10"], ["5"]),
        (None, ["0.5", "1"], ["0.5"]),
        (None, [], []),
    ],
)
def test_exclusions_that_say_something_of_their_own(
    required: str | None, excluded: list[str], left: list[str]
) -> None:
    whole = None if required is None else multiples(Decimal(required))
    found = effective_exclusions(whole, [multiples(Decimal(each)) for each in excluded])
    assert set(found) == {multiples(Decimal(each)) for each in left}


@pytest.mark.parametrize(
    ("value", "digits"),
    [("0", (0, 0)), ("0.00", (0, 0)), ("-120", (12, 1)), ("1.50", (15, -1)), ("1e5", (1, 5))],
)
def test_digits_and_a_power_of_ten(value: str, digits: tuple[int, int]) -> None:
    assert digits_of(Decimal(value)) == digits
