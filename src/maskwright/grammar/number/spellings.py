"""JSON numbers as regular languages over their spellings: types, ranges and multiples.

A value has several spellings (`1`, `1.0`, `1e0`), and whether a spelling is in a language depends
on its value alone. Two bounds keep texts finite and languages small. A run of digits has at most
`MOST_DIGITS`. An exponent is in the range of double precision and follows a mantissa with one digit
before the point and at most `MOST_MANTISSA` after it, as `json.dumps` and `JSON.stringify` write
it. A number restricted by nothing but its sign may have an exponent after any mantissa; one that
must not be a multiple of another number has no exponent.

A *plain* spelling is as people write numbers: digits and a point, without an exponent. A value has
hardly more than one: without leading zeros, without a sign for zero, and without zeros at the end,
but within the first `PADDED` decimals, or within the decimals of a divisor. Those zeros are allowed
because what has been written can't be taken back: if `12.50` were no number, a model that has come
to its zero would have to continue with another value.

Every value that has a spelling at all has a plain one. There are at most `FREE` digits before the
point and `FREE` after it, or as many as the bounds have. Further digits are zeros before the point
(1e300), and after it the digits of a number that begins with zeros (1e-300).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache, partial
from math import isfinite
from typing import Final, Literal

from maskwright.grammar.number.digits import (
    DIGIT,
    LEAST_EXPONENT,
    MOST_EXPONENT,
    MOST_MANTISSA,
    Arc,
    E,
    Magnitudes,
    digit_arcs,
    exponents,
    sign,
    whole_state,
)
from maskwright.grammar.number.interval import Interval
from maskwright.grammar.number.multiples import (
    Multiples,
    common,
    digits_of,
    effective_exclusions,
    multiples,
)
from maskwright.grammar.regular.terms import (
    EMPTY,
    EPSILON,
    Regular,
    alt,
    char,
    chars,
    concat,
    intersection,
    repeat,
    state,
    words,
)
from maskwright.limits import DEFAULT_LIMITS

FREE: Final = 40
"""Digits before the point, and after it, that may be any digits."""
PADDED: Final = 2
"""Decimals that may be zeros at the end."""
MOST_VALUE: Final = MOST_EXPONENT + 1
"""The power of ten that is the largest number: others would overflow double precision."""
MOST_PLACES: Final = FREE - LEAST_EXPONENT
"""Digits after the point of the smallest numbers that have a spelling with an exponent."""

_DOT: Final = 0x2E


@dataclass(frozen=True)
class PlainMagnitudes(Magnitudes):
    """The plain spellings of the numbers of `Magnitudes`.

    `free_whole`, `free_places`: how many digits before and after the point may be any digits.
    `padded`: how many decimals may be zeros at the end.
    """

    free_whole: int = FREE
    free_places: int = FREE
    padded: int = PADDED

    def __hash__(self) -> int:
        return self._hash

    def spellings(self) -> Regular:
        moves = self._first_moves()
        if not moves:
            return EMPTY
        ending = self._ending(0, 0, min(self.whole, self.free_whole))
        return whole_state((self, "plain"), False, lambda: moves, ending)

    def _zero(self) -> Regular:
        """The state after a zero before the point, where no other digit may follow."""
        fraction, nullable = self._fraction(0, 0), self._contains(0)
        if fraction is EMPTY and not nullable:
            return EMPTY
        arcs = [(_DOT, _DOT, fraction)] if fraction is not EMPTY else []
        return state((self, "plain zero"), nullable, lambda: arcs, plain=True)

    def _integer(self, count: int, digits: int) -> Regular:
        if not self._grows(count, digits):
            return EMPTY
        sides = self._sides(count, digits)
        residues = tuple(m.residue(digits) for m in self._multiples)
        key = (self, "plain integer", count, sides, residues)
        nullable = self._contains(digits * self._unit)
        moves = partial(type(self)._integer_moves, self, count, digits)
        ending = self._ending(count, digits, min(self.whole, self.free_whole))
        return whole_state(key, nullable, moves, ending)

    def _integer_moves(self, count: int, digits: int) -> Sequence[Arc]:
        arcs: list[Arc] = []
        fraction = self._fraction(0, digits) if count <= self.free_whole else EMPTY
        if fraction is not EMPTY:
            arcs.append((_DOT, _DOT, fraction))
        if count < self.whole:
            last = 9 if count < self.free_whole else 0
            arcs += digit_arcs(
                lambda digit: self._integer(count + 1, digits * 10 + digit), last=last
            )
        return arcs

    def _grows(self, count: int, digits: int) -> bool:
        """Whether `digits` before the point can be continued to one of the numbers."""
        shortest = max(count, len(self._whole_bounds[0]))  # others are below the lower bound
        scale = self._unit * 10 ** (shortest - count)
        for length in range(shortest, self.whole + 1):
            first, zeros = digits * scale, length - self.free_whole
            if zeros <= 0:
                step, last = 10 ** (self.places - self.free_places), first + scale - 1
            else:  # only zeros may follow the free digits
                step = self._unit * 10**zeros
                last = first if count > self.free_whole else first + scale - 1
            if self._has_any(first, last, step):
                return True
            if self.high is not None and first > self.high:
                return False
            scale *= 10
        return False

    def _fraction(self, count: int, digits: int, single: bool = False) -> Regular:
        """The state after the point and `count` more digits; `digits`: all of them."""
        if not self._continues(count, digits):
            return EMPTY
        scale = 10 ** (self.places - count)
        most = self._most_places(count, digits)
        pads = count <= self.padded or digits % 10 != 0
        nullable = count > 0 and pads and self._contains(digits * scale)
        sides = tuple(sign(digits - bound // scale) for bound in self._bounds)
        if 0 not in sides and not self._multiples:
            return self._any_decimals(count, most, nullable)
        rest = self._rest(digits, count, False)
        key = (self, "plain fraction", count, sides, pads, most, digits == 0, rest)
        return state(
            key, nullable, partial(type(self)._fraction_moves, self, count, digits), plain=True
        )

    def _fraction_moves(self, count: int, digits: int, single: bool = False) -> Sequence[Arc]:
        if count == self._most_places(count, digits):
            return []
        return digit_arcs(lambda digit: self._fraction(count + 1, digits * 10 + digit))

    def _any_decimals(self, count: int, most: int, nullable: bool) -> Regular:
        """What may follow `count` decimals where every value is allowed, up to `most` decimals."""
        options: list[Regular] = [EPSILON] if nullable else []
        if count < self.padded:
            options.append(repeat(DIGIT, 1, self.padded - count))
        if count < most:
            options.append(concat(repeat(DIGIT, 0, most - count - 1), _NONZERO))
        return alt(*options)

    def _most_places(self, count: int, digits: int) -> int:
        """Up to how many decimals there may be: in a number that begins with zeros, as many as its
        first digits need."""
        if self.places == self.free_places or digits == 0:
            return self.places
        beginning = count + FREE - len(str(digits))
        return min(self.places, max(self.free_places, beginning))

    def _continues(self, count: int, digits: int) -> bool:
        """Whether one of the numbers has a plain spelling that begins with these digits."""
        scale = 10 ** (self.places - count)
        first, last = digits * scale, (digits + 1) * scale - 1
        # Such zeros at the end can only be followed by other digits.
        if (count == 0 and self.padded == 0) or (count > self.padded and digits % 10 == 0):
            first += 1
        if self.places == self.free_places:
            return self._has_any(first, last)
        if digits:
            return self._has_any(
                first, last, 10 ** (self.places - self._most_places(count, digits))
            )
        if first == 0 and self._contains(0):
            return True
        first = max(first, self.low, 1)
        last = last if self.high is None else min(last, self.high)
        if last < first or len(str(first)) < len(str(last)):  # a power of ten lies between them
            return first <= last
        zeros = min(len(str(last)) - FREE, self.places - self.free_places)
        step = 10 ** max(0, zeros)
        return last // step * step >= first


MOST_DIGITS: Final = 40
"""Most digits in a row, unless the bounds or divisors of the number have more."""

_MINUS: Final = char("-")
_ZERO: Final = char("0")
_NONZERO: Final = chars(((0x31, 0x39),))
_POINT: Final = char(".")
_ONE: Final = Multiples(1, 0)


def decimal(value: int | float) -> Decimal:
    """Return the value of a number in a JSON document. A float means the decimal with which Python
    writes it."""
    return Decimal(value) if isinstance(value, int) else Decimal(repr(value))


@lru_cache(maxsize=4096)
def number(
    interval: Interval,
    *,
    integer: bool = False,
    divisor: Decimal | None = None,
    excluded: tuple[Decimal, ...] = (),
    plain: bool = False,
    most: int = DEFAULT_LIMITS.divisor,
) -> Regular:
    """Return the spellings of all numbers (or integers) in `interval` that are multiples of
    `divisor` and not multiples of any of `excluded`. Divisors are > 0. `plain`: only the plain
    ones (see above).

    Raises `LimitError` where a divisor needs more than `most` remainders.
    """
    required = common(_ONE if integer else None, multiples(divisor, most) if divisor else None)
    forbidden = effective_exclusions(required, [multiples(each, most) for each in excluded])
    if not plain and interval.only_sign and required is None and not forbidden:
        return alt(_any_magnitude(interval), concat(_MINUS, _any_magnitude(interval.mirrored)))
    above, below = ("plain", "below zero") if plain else ("any", "any")
    return alt(
        _magnitudes(interval, required, forbidden, above),
        concat(_MINUS, _magnitudes(interval.mirrored, required, forbidden, below)),
    )


def exactly(*values: int | float) -> Regular:
    """Return all spellings of some numbers, with and without trailing zeros and exponents.

    The digits of all numbers with equal continuations are one list of words, which keeps thousands
    of constants small.
    """
    digits: dict[tuple[int, int | None], list[str]] = {}
    for value in values:
        for text, places, exponent in _spellings(decimal(value)):
            digits.setdefault((places, exponent), []).append(text)
    options = [concat(words(texts), _tail(*tail)) for tail, texts in digits.items()]
    if 0 in values:
        options.append(concat(repeat(_MINUS, 0, 1), _zero_spellings()))
    return alt(*options)


def written(*values: int | float) -> Regular:
    """Return the spellings in which programs write some numbers: that in digits, with a point only
    before a fraction, and for floats the one of `json.dumps` (`2.0`, `1e+16`)."""
    texts: set[str] = set()
    for value in values:
        text, _, _ = next(_spellings(decimal(value)))
        texts |= {text, repr(value)}
    return words(sorted(texts))


def _spellings(value: Decimal) -> Iterator[tuple[str, int, int | None]]:
    """Yield the shortest spellings: text, number of digits after the point, exponent."""
    digits, power = digits_of(value)
    sign, text = "-" if value < 0 else "", str(digits)
    if digits == 0:
        yield from (("0", 0, None), ("-0", 0, None))
        return
    whole, fraction = text + "0" * power, ""
    if power < 0:
        padded = text.zfill(1 - power)
        whole, fraction = padded[:power], padded[power:]
    yield _with_point(sign + whole, fraction), len(fraction), None
    if isfinite(value):  # an exponent overflows double precision where the number does
        places = len(text) - 1
        yield _with_point(sign + text[0], text[1:]), places, power + places


def _with_point(whole: str, fraction: str) -> str:
    return f"{whole}.{fraction}" if fraction else whole


def _tail(places: int, exponent: int | None) -> Regular:
    """Return what may follow the shortest spelling of a number: zeros and the exponent."""
    zeros = max(0, MOST_DIGITS - places)
    more = repeat(_ZERO, 0, zeros)
    if places == 0:
        more = repeat(concat(_POINT, repeat(_ZERO, 1, zeros)), 0, 1)
    return more if exponent is None else concat(more, E, exponents(exponent, exponent))


def _magnitudes(
    interval: Interval,
    divisor: Multiples | None,
    excluded: tuple[Multiples, ...],
    kind: Literal["any", "plain", "below zero"],
) -> Regular:
    """Return the spellings, without a sign, of the numbers >= 0 in the interval. `kind`: all of
    them, the plain ones, or the plain ones of numbers > 0, which alone have a sign."""
    low, high = interval.low, interval.high
    low_open = interval.low_open
    if high is not None and (high < 0 or (high == 0 and interval.high_open)):
        return EMPTY
    if low is None or low < 0:
        low, low_open = Decimal(0), False
    low_open |= kind == "below zero" and low == 0
    if kind != "any" and high is None and not excluded:
        high = Decimal(10) ** MOST_VALUE
    bounds = [low] if high is None else [low, high]
    wanted = [-digits_of(bound)[1] for bound in bounds]
    wanted += [each.places for each in (divisor, *excluded) if each]
    # The nearest number that an exponent spells is at least one unit away from an open bound.
    opened = [low] * low_open + ([] if high is None else [high] * interval.high_open)
    wanted += [MOST_MANTISSA + 1 - bound.adjusted() for bound in opened if bound]
    places = free_places = max(MOST_DIGITS, *wanted)
    if kind != "any" and low < 1 and divisor is None and not excluded:
        places = max(places, MOST_PLACES)
    least = _units(low, places) + low_open
    most = None if high is None else _units(high, places) - interval.high_open
    step = divisor.step(places) if divisor else 1
    if high is not interval.high and most is not None and most // step * step < least:
        most = None  # all of them are larger
    digits = [len(str(_units(bound, places))) - places for bound in bounds]
    if divisor is not None:
        digits.append(len(str(divisor.factor)) - divisor.places)
    whole = max(MOST_DIGITS, *digits)
    numbers = (least, most, whole, places, low == 0, divisor, excluded)
    if kind == "any":
        return Magnitudes(*numbers).spellings()
    if high is not interval.high:  # a bound of no schema, which allows zeros alone
        digits.pop(1)
    return PlainMagnitudes(
        *numbers,
        free_whole=max(MOST_DIGITS, *digits),
        free_places=free_places,
        padded=PADDED if divisor is None else divisor.places,
    ).spellings()


def _units(value: Decimal, places: int) -> int:
    """Return the absolute value in units of 10^-`places`."""
    digits, exponent = digits_of(value)
    return digits * 10 ** (exponent + places)


def _any_magnitude(interval: Interval) -> Regular:
    """Return the spellings, without a sign, of the numbers >= 0 in an interval that restricts at
    most the sign."""
    above_zero = interval.low is not None and interval.low_open
    if interval.high is not None:
        return EMPTY if interval.high_open or above_zero else _zero_spellings()
    mantissa = _above_zero() if above_zero else alt(_above_zero(), _zero_mantissas())
    # The more digits, the smaller the largest exponent that does not overflow double precision.
    exponent = concat(E, exponents(LEAST_EXPONENT, MOST_EXPONENT - MOST_DIGITS))
    short = concat(DIGIT, repeat(concat(_POINT, repeat(DIGIT, 1, MOST_DIGITS)), 0, 1))
    if above_zero:
        short = intersection(short, mantissa)
    large = concat(short, E, exponents(LEAST_EXPONENT, MOST_EXPONENT))
    largest = concat(char("1"), E, exponents(MOST_EXPONENT + 1, MOST_EXPONENT + 1))
    return alt(concat(mantissa, repeat(exponent, 0, 1)), large, largest)


def _zero_spellings() -> Regular:
    """The spellings of zero without a sign."""
    exponent = concat(E, exponents(LEAST_EXPONENT, MOST_EXPONENT))
    return concat(_zero_mantissas(), repeat(exponent, 0, 1))


def _zero_mantissas() -> Regular:
    return concat(words(["0"]), _tail(0, None))


def _above_zero() -> Regular:
    """The spellings of the numbers > 0, without exponents."""
    fraction = concat(_POINT, repeat(DIGIT, 1, MOST_DIGITS))
    large = concat(_NONZERO, repeat(DIGIT, 0, MOST_DIGITS - 1), repeat(fraction, 0, 1))
    zeros = repeat(_ZERO, 0, MOST_DIGITS - 1)
    small = concat(words(["0."]), zeros, _NONZERO, repeat(DIGIT, 0, MOST_DIGITS - 1))
    return alt(large, small)
