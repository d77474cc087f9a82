"""Languages of numbers against exact arithmetic on thousands of spellings."""

from __future__ import annotations

import gc
import json
import random
import re
from decimal import Decimal
from fractions import Fraction

import pytest

from maskwright.errors import LimitError
from maskwright.grammar.number.digits import MOST_MANTISSA, Magnitudes
from maskwright.grammar.number.interval import EVERYTHING, Interval
from maskwright.grammar.number.multiples import common_multiple
from maskwright.grammar.number.spellings import MOST_DIGITS, exactly, number
from maskwright.grammar.regular.derivative import arcs, derivative, is_live
from maskwright.grammar.regular.shortest import shortest
from maskwright.grammar.regular.terms import EMPTY, Regular, alive, alt, complement, intersection

SPELLING = re.compile(r"(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?")
DIVISORS = [1, 2, 7, 60, 1024, 10**6, "0.5", "0.01", "0.3", "2.5", "1e-8"]


def accepts(term: Regular, text: str) -> bool:
    return derivative(term, text).nullable


def value(text: str) -> Fraction:
    found = SPELLING.fullmatch(text)
    assert found, text
    sign, whole, fraction, exponent = found.groups()
    digits = int(whole + (fraction or ""))
    exact = digits * Fraction(10) ** (int(exponent or 0) - len(fraction or ""))
    return -exact if sign else exact


def between(low: str | None, high: str | None, ends: str = "[]") -> Interval:
    return Interval(
        None if low is None else Decimal(low),
        None if high is None else Decimal(high),
        ends[0] == "(",
        ends[1] == ")",
    )


@pytest.mark.parametrize(
    ("interval", "integer", "accepted", "rejected"),
    [
        (
            between(None, None),
            False,
            "0 -0 1.50 12e3 1E-5 1e+308 0.0e0",
            "01 1. .5 2e308 1e309 +1 1e",
        ),
        (
            between(None, None),
            True,
            "0 -7 3.0 1e3 2.5e1 2.50e1 1.5e+16 0e5",
            "1.5 1e-1 2.55e1 1.e2",
        ),
        (between("0", "100"), False, "0 -0 100 1e2 1.0e02 99.999 5E-3", "-1 100.1 1.01e2 1e3 2e2"),
        (between("0", None, "(]"), False, "1 0.5 1e-300", "0 0.0 -0 -1 0e5"),
        (between("0", "1", "()"), False, "0.5 1e-1 9.99e-1", "0 1 1e0 1.0 10e-2"),
        (between("-5", "-3"), True, "-5 -4.0 -3e0", "3 -2 -6 5 -3.5"),
        (between("1e-5", "1e-5"), False, "0.00001 1e-05 1.0e-5", "1e-4 1.1e-5 0"),
        (between(None, "9007199254740991"), True, "9007199254740991 -1e300", "9007199254740992"),
        (between("0", "0", "(]"), False, "", "0 -0 1"),
    ],
)
def test_intervals(interval: Interval, integer: bool, accepted: str, rejected: str) -> None:
    term = number(interval, integer=integer)
    assert [text for text in accepted.split() if not accepts(term, text)] == []
    assert [text for text in rejected.split() if accepts(term, text)] == []


@pytest.mark.parametrize(
    ("divisor", "accepted", "rejected"),
    [
        ("1", "0 3 3.0 2e3", "0.5 1e-1"),
        ("0.01", "0 0.01 4.35 4.350 1.2e1 1.5e-1 1e-2", "0.001 4.355 1e-3 1.55e-1"),
        ("7", "0 7 49 -77 7e1 7.0 1.4e1 10000000000000000000000000000000000000002", "1 10 1e5"),
        ("1e-8", "12391239123 1e-08 1.5e-7 0.00000001", "1e-9 1.23456789e-1 0.000000001"),
        ("1000000", "0 5000000 1e6 3e9 12000000.00", "100 1e5 1500000.5"),
        ("0.0075", "0.0075 0.015 3e1 -0.75", "0.00751 0.01"),
    ],
)
def test_multiples(divisor: str, accepted: str, rejected: str) -> None:
    term = number(EVERYTHING, divisor=Decimal(divisor))
    in_range = [text for text in accepted.split() if len(text) <= MOST_DIGITS]
    assert [text for text in in_range if not accepts(term, text)] == []
    assert [text for text in rejected.split() if accepts(term, text)] == []


def test_what_excludes_all_is_known_at_once() -> None:
    assert number(EVERYTHING, divisor=Decimal(24), excluded=(Decimal(8), Decimal(5))) is EMPTY
    many = tuple(map(Decimal, (2, 3, 5, 7, 11, 13)))
    few = number(between("24", "30"), integer=True, excluded=many)
    assert [text for at in range(20, 40) if accepts(few, text := str(at))] == ["29"]
    assert number(between("24", "28"), integer=True, excluded=many) is EMPTY


def test_an_excluded_divisor_that_another_one_implies_is_left_out() -> None:
    less = number(EVERYTHING, excluded=(Decimal(5),))
    assert number(EVERYTHING, excluded=(Decimal(15), Decimal(5), Decimal(10))) is less


def test_no_multiples() -> None:
    term = number(EVERYTHING, excluded=(Decimal("0.5"),))
    assert [t for t in ["0", "0.5", "1", "-3.50", "1e2"] if accepts(term, t)] == []
    assert [t for t in ["0.1", "-2.25", "0.50001"] if not accepts(term, t)] == []
    nothing = number(Interval(), integer=True, excluded=(Decimal(1),))
    assert nothing is EMPTY


@pytest.mark.parametrize(
    "literal", [0, -0.0, 5, -12, 2.5, 1e-05, 1e16, 1.5e300, -2.5e-7, 10**30, 5e-324, 2**53]
)
def test_one_number_in_the_spelling_of_json(literal: float) -> None:
    term = exactly(literal)
    assert accepts(term, json.dumps(literal))
    near = {json.dumps(literal + 1), json.dumps(literal * 2 + 0.5)} - {json.dumps(literal)}
    assert [text for text in near if accepts(term, text) and json.loads(text) != literal] == []
    assert value(shortest(term) or "") == Fraction(Decimal(json.dumps(literal)))


def test_some_numbers_are_what_each_of_them_is() -> None:
    literals = [0, 5, -12, 2.5, -2.5, 1e-05, 1e16, 1.5e300, 10**30, 5e-324, 2**53, 10, 100, -1]
    together, alone = exactly(*literals), alt(*map(exactly, literals))
    assert not is_live(intersection(together, complement(alone)))
    assert not is_live(intersection(alone, complement(together)))
    assert exactly() is EMPTY


def test_many_integers_are_few_terms() -> None:
    gc.collect()
    before = alive()
    term = exactly(*range(10_000, 30_000))
    assert accepts(term, "12345.0")
    assert accepts(term, "1.2345e+04")
    assert not accepts(term, "1.2345e5")
    assert alive() < before + 1_000


def test_digits_that_compare_alike_with_the_bounds_are_looked_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked_at: list[int] = []
    grows = Magnitudes._grows  # pyright: ignore[reportPrivateUsage]

    def counted(self: Magnitudes, count: int, digits: int) -> bool:
        looked_at.append(digits)
        return grows(self, count, digits)

    monkeypatch.setattr(Magnitudes, "_grows", counted)
    after = derivative(number(between("47116", "80423"), integer=True), "4")
    looked_at.clear()
    assert arcs(after)
    assert looked_at == [40, 47, 48]  # less than 47, equal, and more


def test_a_least_common_multiple_is_exact() -> None:
    assert common_multiple(Decimal("0.4"), Decimal(3)) == Decimal(6)
    assert common_multiple(Decimal("0.15"), Decimal("0.1")) == Decimal("0.3")


def test_a_divisor_with_too_many_remainders_is_refused() -> None:
    with pytest.raises(LimitError, match="divisor"):
        number(EVERYTHING, divisor=Decimal(1_000_003))


@pytest.mark.parametrize(
    "interval", [between("2", "1"), between("1", "1", "[)"), between("3.1", "3.9")]
)
def test_an_interval_without_integers_is_empty(interval: Interval) -> None:
    assert number(interval, integer=True) is EMPTY


@pytest.mark.parametrize("seed", range(6))
def test_random_languages_agree_with_arithmetic(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(40):
        interval = random_interval(chance)
        integer = chance.random() < 0.3
        divisor = None if chance.random() < 0.4 else Decimal(chance.choice(DIVISORS))
        count = chance.choice([0, 0, 0, 1, 1, 2, 3])
        excluded = tuple(map(Decimal, chance.sample(["2", "0.1", "3", "7", "12", "1.5"], count)))
        term = number(interval, integer=integer, divisor=divisor, excluded=excluded)

        def belongs(text: str) -> bool:
            exact = value(text)
            return (
                inside(exact, interval)  # noqa: B023  (called in this round only)
                and (not integer or exact.denominator == 1)  # noqa: B023
                and (divisor is None or (exact / Fraction(divisor)).denominator == 1)  # noqa: B023
                and all((exact / Fraction(each)).denominator > 1 for each in excluded)  # noqa: B023
            )

        for text in spellings_around(chance, interval, divisor):
            if accepts(term, text):
                assert belongs(text), (text, interval, integer, divisor, excluded)
            elif promised(text, bool(excluded)):
                assert not belongs(text), (text, interval, integer, divisor, excluded)
        for _ in range(3):
            text = random_walk(chance, term)
            assert text is None or belongs(text), (text, interval, integer, divisor, excluded)


def random_decimal(chance: random.Random) -> Decimal:
    match chance.randrange(5):
        case 0:
            return Decimal(chance.randrange(-20, 200))
        case 1:
            return Decimal(chance.randrange(-(10**6), 10**6)).scaleb(-chance.randrange(7))
        case 2:
            return Decimal(chance.choice([0, 1, -1, 100, 2**53 - 1, -(2**53)]))
        case 3:
            return Decimal(chance.randrange(1, 10**17)).scaleb(chance.randrange(-30, 22))
        case _:
            return Decimal(chance.randrange(1, 100)).scaleb(chance.randrange(-25, 25))


def random_interval(chance: random.Random) -> Interval:
    low, high = sorted((random_decimal(chance), random_decimal(chance)))
    return Interval(
        low if chance.random() < 0.7 else None,
        high if chance.random() < 0.7 else None,
        chance.random() < 0.3,
        chance.random() < 0.3,
    )


def inside(exact: Fraction, interval: Interval) -> bool:
    low, high = interval.low, interval.high
    above = low is None or exact > Fraction(low) or (exact == low and not interval.low_open)
    below = high is None or exact < Fraction(high) or (exact == high and not interval.high_open)
    return above and below


def spellings_around(
    chance: random.Random, interval: Interval, divisor: Decimal | None
) -> list[str]:
    """Spellings of the bounds, of their neighbours and of a few other numbers."""
    centres = [bound for bound in (interval.low, interval.high) if bound is not None]
    centres += [random_decimal(chance) for _ in range(4)]
    if divisor is not None:
        centres += [divisor * chance.randrange(-50, 50) for _ in range(3)]
    found: list[str] = []
    for centre in centres:
        for offset in ("0", "1", "-1", "0.1", "-0.01"):
            exact = centre + Decimal(offset)
            found += [f"{exact:f}", f"{exact:f}" + ("0" if "." in f"{exact:f}" else ".0")]
            sign, digits, exponent = exact.normalize().as_tuple()
            text = "".join(map(str, digits))
            mantissa = "-" * sign + text[0] + ("." + text[1:] if text[1:] else "")
            assert isinstance(exponent, int)
            if text != "0":
                power = exponent + len(text) - 1
                found += [f"{mantissa}e{power:+03}", f"{mantissa}E{power}"]
    return found


def promised(text: str, excluded: bool) -> bool:
    """Whether a spelling is one of those that are accepted whenever their value is."""
    found = SPELLING.fullmatch(text)
    assert found
    _, whole, fraction, exponent = found.groups()
    if exponent is None:
        return len(whole) <= MOST_DIGITS and len(fraction or "") <= MOST_DIGITS
    small = len(whole) == 1 and len(fraction or "") <= MOST_MANTISSA
    return small and (whole != "0" or not int(fraction or 0)) and not excluded


def random_walk(chance: random.Random, term: Regular) -> str | None:
    """Some string of the language, found without ever going back."""
    if term is EMPTY:
        return None
    text = ""
    while not (term.nullable and chance.random() < 0.15):
        options = arcs(term)
        if not options:
            assert term.nullable, f"dead end behind {text!r}"
            break
        low, high, term = chance.choice(options)
        text += chr(chance.randint(low, high))
    return text
