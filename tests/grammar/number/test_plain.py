"""Plain spellings of numbers, against `decimal` and against all spellings."""

from __future__ import annotations

import random
import re
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product

import pytest

from maskwright.grammar.number.interval import Interval
from maskwright.grammar.number.spellings import FREE, PADDED, number
from maskwright.grammar.regular.derivative import arcs, contains, is_live
from maskwright.grammar.regular.enumerate import few
from maskwright.grammar.regular.shortest import shortest
from maskwright.grammar.regular.terms import Regular
from maskwright.limits import Limits, Work

TEXTS = ["".join(text) for size in range(1, 7) for text in product("0159.-", repeat=size)]
_JSON = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?")
SPELLED = [text for text in TEXTS if _JSON.fullmatch(text)]
BOUNDS = [
    *(None, "0", "1", "-1", "0.5", "1.5", "3.14159", "-2.75", "99.99", "1e-40", "1e-300", "5e-324"),
    *("1e30", "1e39", "1e41", "1e300", "1.00000000000000005e-40", "1234567890" * 5),
]
DIVISORS = [None, None, None, "0.01", "0.5", "3", "0.3", "1e-30", "7e-41", "1e41", "2500"]
EXCLUDED: list[tuple[str, ...]] = [(), (), (), ("1",), ("0.5", "0.3")]


def is_plain(text: str, decimals: int) -> bool:
    """Whether a spelling without an exponent is plain, if that many decimals may be zeros."""
    whole, _, fraction = text.partition(".")
    is_zero = not re.search("[1-9]", text)
    ends = not fraction.endswith("0") or len(fraction) <= decimals
    return ends and not (is_zero and whole.startswith("-"))


@pytest.mark.parametrize(
    ("within", "divisor", "decimals"),
    [
        (Interval(), None, PADDED),
        (Interval(low=Decimal("0.5"), high=Decimal("15.05")), None, PADDED),
        (Interval(low=Decimal(-5), high=Decimal(0), high_open=True), None, PADDED),
        (Interval(), Decimal("0.5"), 1),
        (Interval(high=Decimal(100)), Decimal("0.005"), 3),
        (Interval(), Decimal(5), 0),
    ],
    ids=str,
)
def test_every_short_text(within: Interval, divisor: Decimal | None, decimals: int) -> None:
    term = number(within, divisor=divisor, plain=True)
    for text in SPELLED:
        value = Decimal(text)
        fits = value in within and (divisor is None or value % divisor == 0)
        assert contains(term, text) is (fits and is_plain(text, decimals)), text


@pytest.mark.parametrize("seed", range(40))
def test_the_shortest_multiple_is_the_nearest(seed: int) -> None:
    """Also of what may follow some of its digits, as arithmetic finds it, with few steps."""
    chance = random.Random(seed)
    divisor = chance.choice([2187, 411 * 8, 7, 1999, 12, 2187 * 10**16, 10**20])
    low = chance.randrange(10 ** chance.randrange(1, 60))
    high = chance.choice([None, low + divisor * chance.randrange(1, 10**6)])
    within = Interval(low=Decimal(low), high=None if high is None else Decimal(high))
    term = number(within, divisor=Decimal(divisor), plain=True)
    nearest = -(-low // divisor) * divisor
    begun, text = "", str(nearest)
    with Work(Limits(work=2_000)):
        while True:
            assert shortest(term) == text[len(begun) :]
            if term.nullable:
                break
            digit = text[len(begun)]
            begun += digit
            term = after(term, digit)
    assert contains(number(within, divisor=Decimal(divisor), plain=True), text)
    assert nearest >= low


def after(term: Regular, character: str) -> Regular:
    """The state after a character."""
    [found] = [to for low, high, to in arcs(term) if low <= ord(character) <= high]
    return found


def test_integers_have_digits_alone() -> None:
    for divisor in (None, Decimal(5), Decimal("0.1"), Decimal("2.5")):
        term = number(Interval(), integer=True, divisor=divisor, plain=True)
        for text in SPELLED:
            fits = "." not in text and text != "-0" and (not divisor or int(text) % divisor == 0)
            assert contains(term, text) is fits, text


def value_of(text: str) -> Decimal:
    with localcontext() as context:
        context.prec = 1_000
        return Decimal(text)


def shortest_of(value: Decimal) -> str:
    """The plain spelling without zeros at the end."""
    with localcontext() as context:
        context.prec = 1_000
        return format(value.normalize(), "f") if value else "0"


def walk(term: Regular, draw: random.Random, stop: float) -> str:
    """A random text of a language; fails in a dead end."""
    text = ""
    while True:
        moves = arcs(term)
        if term.nullable and (not moves or draw.random() < stop):
            return text
        assert moves, f"a dead end after {text}"
        low, high, term = draw.choice(moves)
        text += chr(draw.randint(low, high))


@pytest.mark.parametrize("seed", range(40))
def test_random_bounds_and_divisors(seed: int) -> None:
    """Every text is a number of the schema, and whatever has a spelling has a plain one."""
    draw = random.Random(seed)
    low, high = sorted(
        (bound and Decimal(bound) for bound in draw.choices(BOUNDS, k=2)),
        key=lambda each: Decimal("-Infinity") if each is None else each,
    )
    if high is None or (low is not None and draw.random() < 0.3):
        low, high = high, None
    within = Interval(low, high, low is not None and draw.random() < 0.5, draw.random() < 0.5)
    if high is None:
        within = Interval(low, None, within.low_open)
    integer, named = draw.random() < 0.2, draw.choice(DIVISORS)
    divisor, excluded = named and Decimal(named), tuple(map(Decimal, draw.choice(EXCLUDED)))
    options = {"integer": integer, "divisor": divisor or None, "excluded": excluded}
    plain, full = number(within, **options, plain=True), number(within, **options)  # type: ignore
    assert is_live(plain) or not is_live(full)
    if not is_live(plain):
        return
    for _ in range(20):
        value = value_of(walk(plain, draw, 0.15))
        assert value in within
        assert not integer or value == value.to_integral_value()
        assert not divisor or Fraction(value) % Fraction(divisor) == 0
        assert all(Fraction(value) % Fraction(each) for each in excluded)
    for _ in range(20 if is_live(full) else 0):
        value = value_of(walk(full, draw, 0.3))
        digits = "".join(map(str, value.as_tuple().digits)).strip("0")
        if len(digits) <= FREE:
            text = shortest_of(value)
            assert contains(plain, text), (within, options, value)


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("1" * FREE, True),
        ("1" * (FREE + 1), False),
        ("1" * FREE + "0" * 260, True),
        ("1" + "0" * 307, True),
        ("1" + "0" * 308, True),  # 1e308
        ("2" + "0" * 308, False),
        ("1" + "0" * 309, False),
        (f"0.{'1' * FREE}", True),
        (f"0.{'1' * (FREE + 1)}", False),
        (f"0.{'0' * 300}{'1' * FREE}", True),
        (f"0.{'0' * 323}5", True),
        (f"0.{'0' * 300}1{'0' * FREE}1", False),
        (f"{'1' * FREE}.{'1' * FREE}", True),
        (f"1{'0' * FREE}.5", False),
        ("-1.5", True),
        ("1e5", False),
        ("1E-5", False),
    ],
)
def test_how_long_numbers_are(text: str, fits: bool) -> None:
    assert contains(number(Interval(), plain=True), text) is fits


def test_one_value_has_one_text() -> None:
    bound = Decimal("3.14159")
    assert few(number(Interval(bound, bound), plain=True), 9) == ("3.14159",)
    zero = few(number(Interval(Decimal(0), Decimal(0)), plain=True), 9)
    assert set(zero or ()) == {"0", "0.0", "0.00"}


@pytest.mark.parametrize(
    ("within", "divisor", "text"),
    [
        (Interval(low=Decimal(10) ** 309), None, "2" + "0" * 309),
        (Interval(low=Decimal(10) ** 308, low_open=True), None, "2" + "0" * 308),
        (Interval(high=-(Decimal(10) ** 400)), None, "-1" + "0" * 400),
        (Interval(low=Decimal(1)), Decimal(10) ** 320, "3" + "0" * 320),
    ],
    ids=["above", "open", "below", "divisor"],
)
def test_numbers_that_are_all_larger_than_doubles(
    within: Interval, divisor: Decimal | None, text: str
) -> None:
    term = number(within, integer=True, divisor=divisor, plain=True)
    assert contains(term, text)
    assert not contains(term, text[:-1])
