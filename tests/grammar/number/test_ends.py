"""Multiples with exponents against their values, and shortest ends of numbers against a search."""

from __future__ import annotations

import random
from decimal import Context, Decimal

import pytest

from maskwright.errors import LimitError
from maskwright.grammar.number.digits import MOST_MANTISSA
from maskwright.grammar.number.interval import Interval
from maskwright.grammar.number.spellings import number
from maskwright.grammar.regular.derivative import arcs, contains
from maskwright.grammar.regular.shortest import shortest
from maskwright.grammar.regular.terms import Regular

MOST_STATES = 1_500
EXACT = Context(prec=900)
FACTORS = (1, 2, 3, 7, 8, 25, 37, 64, 99, 125, 243, 311, 625, 999)
POWERS = (0, -1, -3, 2, 6, -8, 12, 20, -30, 45)


def some_bound(rng: random.Random) -> Decimal | None:
    if rng.random() < 0.4:
        return None
    digits = rng.choice((0, 1, 2, 5, 9, 37, 99, 123, 5000, 12345)) * rng.choice((1, 1, 1, -1))
    return Decimal(digits).scaleb(rng.choice((0, 0, -1, -2, 1, 3, -5, 10, 30, -20, 60)))


def some_interval(rng: random.Random) -> Interval:
    low, high = some_bound(rng), some_bound(rng)
    if low is not None and high is not None and low > high:
        low, high = high, low
    return Interval(low, high, rng.random() < 0.4, rng.random() < 0.4)


def some_divisor(rng: random.Random) -> Decimal:
    return Decimal(rng.choice(FACTORS)).scaleb(rng.choice(POWERS))


def some_multiple(rng: random.Random, divisor: Decimal) -> Decimal:
    """A multiple, or a number beside one."""
    times = rng.randrange(1, 10 ** rng.randrange(1, 16))
    found = EXACT.multiply(divisor, Decimal(times).scaleb(rng.choice((0, 0, 1, 5, 10, 60, 90))))
    if rng.random() < 0.3:
        found = EXACT.add(found, Decimal(1).scaleb(found.adjusted() - rng.randrange(5)))
    return found


@pytest.mark.parametrize("seed", range(40))
def test_multiples_with_an_exponent(seed: int) -> None:
    rng = random.Random(seed)
    divisor, interval = some_divisor(rng), some_interval(rng)
    term = number(interval, divisor=divisor)
    for _ in range(60):
        value = some_multiple(rng, divisor)
        digits = "".join(map(str, value.normalize(EXACT).as_tuple().digits))
        if len(digits) > MOST_MANTISSA + 1 or not -330 <= value.adjusted() <= 307:
            continue
        fraction = f".{digits[1:]}" if digits[1:] else ""
        text = f"{digits[0]}{fraction}e{value.adjusted()}"
        is_multiple = EXACT.remainder(value, divisor) == 0
        assert contains(term, text) is (is_multiple and value in interval), text
        assert contains(term, f"-{text}") is (is_multiple and -value in interval), text


def searched(term: Regular) -> int | None:
    """The length of a shortest string, breadth first; None if it is among too many states."""
    level, seen, length = [term], {term}, 0
    while level and len(seen) < MOST_STATES:
        if any(each.nullable for each in level):
            return length
        below = {target for each in level for _, _, target in arcs(each)} - seen
        level, length = [*below], length + 1
        seen |= below
    return None


@pytest.mark.parametrize("seed", range(30))
def test_shortest_ends(seed: int) -> None:
    rng = random.Random(seed)
    divisor, interval = some_divisor(rng), some_interval(rng)
    excluded = tuple(divisor * rng.choice((2, 3, 5)) for _ in range(rng.choice((0, 0, 1, 2))))
    try:
        term = number(interval, divisor=divisor, excluded=excluded)
    except LimitError:
        return
    for _ in range(4):
        expected = searched(term)
        if expected is not None:
            found = shortest(term)
            assert found is not None
            assert len(found) == expected
            assert contains(term, found)
        following = [target for _, _, target in arcs(term)]
        if not following:
            break
        term = rng.choice(following)
