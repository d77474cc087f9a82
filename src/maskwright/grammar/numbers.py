"""JSON numbers as regular languages over their spellings: types and ranges.

A value may be spelled in more than one way (`1`, `1.0`, `-0`). A number without bounds, or bounded
only by its sign, may carry an exponent; a number with other bounds is spelled without one, so each
value still has a spelling. Runs of digits are bounded (`MOST_DIGITS`), so that no generation loops
on them.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Final

from maskwright.grammar.regular import (
    EMPTY,
    EPSILON,
    Regular,
    alt,
    both,
    char,
    chars,
    concat,
    repeat,
    words,
)

MOST_DIGITS: Final = 40
"""The longest run of digits in one number, unless its bounds themselves are longer."""

DIGIT: Final = chars(((0x30, 0x39),))
NONZERO: Final = chars(((0x31, 0x39),))
_MINUS: Final = char("-")
_ZERO: Final = char("0")
_POINT: Final = char(".")


@dataclass(frozen=True, slots=True)
class Interval:
    """Numbers between two bounds; None is unbounded."""

    low: Decimal | None = None
    high: Decimal | None = None
    low_open: bool = False
    high_open: bool = False

    @property
    def only_sign(self) -> bool:
        """Whether the bounds say no more than the sign."""
        return self.low in (None, 0) and self.high in (None, 0)


def decimal(value: int | float) -> Decimal:
    """The exact value that a JSON number literal stood for, as far as `json` kept it."""
    return Decimal(value) if isinstance(value, int) else Decimal(repr(value))


@lru_cache(maxsize=4096)
def number(interval: Interval, *, integer: bool) -> Regular:
    """The spellings of all numbers (or integers) in `interval`."""
    magnitude_up = _magnitudes(interval.low, interval.low_open, interval.high, interval.high_open)
    low = None if interval.high is None else -interval.high
    high = None if interval.low is None else -interval.low
    magnitude_down = _magnitudes(low, interval.high_open, high, interval.low_open)
    term = alt(magnitude_up, concat(_MINUS, magnitude_down))
    if integer:
        return both(term, _INTEGER)
    if not interval.only_sign:
        return term
    return alt(term, concat(both(term, _PLAIN), _EXPONENT))


def exactly(value: int | float) -> Regular:
    """The spellings of one number: digits with any number of trailing zeros, and Python's own."""
    exact = decimal(value)
    spelled = number(Interval(exact, exact), integer=False)
    written = repr(value)
    return spelled if "e" not in written else alt(spelled, words([written]))


def _digits(least: int, most: int) -> Regular:
    return repeat(DIGIT, least, most)


_FRACTION: Final = concat(_POINT, _digits(1, MOST_DIGITS))
_WHOLE: Final = alt(_ZERO, concat(NONZERO, _digits(0, MOST_DIGITS - 1)))
_PLAIN: Final = concat(repeat(_MINUS, 0, 1), _WHOLE, repeat(_FRACTION, 0, 1))
_EXPONENT: Final = concat(
    chars(((0x45, 0x45), (0x65, 0x65))),
    repeat(chars(((0x2B, 0x2B), (0x2D, 0x2D))), 0, 1),
    _digits(1, 4),
)
_ANY_WHOLE: Final = alt(_ZERO, concat(NONZERO, repeat(DIGIT)))
_INTEGER: Final = concat(
    repeat(_MINUS, 0, 1), _ANY_WHOLE, repeat(concat(_POINT, repeat(_ZERO, 1)), 0, 1)
)


def _magnitudes(
    low: Decimal | None, low_open: bool, high: Decimal | None, high_open: bool
) -> Regular:
    """Spellings without a sign of the numbers >= 0 between the bounds."""
    if high is not None and (high < 0 or (high == 0 and high_open)):
        return EMPTY
    if low is not None and low < 0:
        low, low_open = None, False
    if high is not None and low is not None:
        if low > high or (low == high and (low_open or high_open)):
            return EMPTY
    longest = max(
        [MOST_DIGITS] + [_whole_and_fraction(b)[0].__len__() for b in (low, high) if b is not None]
    )
    places = max(
        [MOST_DIGITS] + [_whole_and_fraction(b)[1].__len__() for b in (low, high) if b is not None]
    )
    parts = [concat(_whole_up_to(longest), repeat(concat(_POINT, _digits(1, places)), 0, 1))]
    if low is not None and (low > 0 or low_open):
        parts.append(_compared(low, low_open, longest, places, above=True))
    if high is not None:
        parts.append(_compared(high, high_open, longest, places, above=False))
    return both(*parts) if len(parts) > 2 else parts[-1]


def _compared(bound: Decimal, strict: bool, longest: int, places: int, *, above: bool) -> Regular:
    """Spellings of the numbers >= 0 above (or below) `bound`, which is >= 0."""
    whole, fraction = _whole_and_fraction(bound)
    any_fraction = repeat(concat(_POINT, _digits(1, places)), 0, 1)
    others = _whole_above(whole, longest) if above else _whole_below(whole)
    at_bound = concat(words([whole]), _fraction_compared(fraction, strict, places, above=above))
    return alt(concat(others, any_fraction), at_bound)


def _whole_and_fraction(bound: Decimal) -> tuple[str, str]:
    """The digits before and after the point, without superfluous zeros: 2.50 → ("2", "5")."""
    whole, _, fraction = f"{bound:f}".lstrip("-").partition(".")
    return whole.lstrip("0") or "0", fraction.rstrip("0")


def _whole_up_to(longest: int) -> Regular:
    return alt(_ZERO, concat(NONZERO, _digits(0, longest - 1)))


def _whole_above(whole: str, longest: int) -> Regular:
    """Integers > `whole` of at most `longest` digits."""
    options: list[Regular] = []
    if len(whole) < longest:
        options.append(concat(NONZERO, _digits(len(whole), longest - 1)))
    for at, digit in enumerate(whole):
        tail = len(whole) - at - 1
        options.append(concat(words([whole[:at]]), _digit_range(int(digit) + 1, 9), _exact(tail)))
    return alt(*options)


def _whole_below(whole: str) -> Regular:
    """Integers >= 0 and < `whole`."""
    options: list[Regular] = [_ZERO] if whole != "0" else []
    if len(whole) > 1:
        options.append(concat(NONZERO, _digits(0, len(whole) - 2)))
    for at, digit in enumerate(whole):
        least = 1 if at == 0 else 0
        tail = len(whole) - at - 1
        below = _digit_range(least, int(digit) - 1)
        options.append(concat(words([whole[:at]]), below, _exact(tail)))
    return alt(*options)


def _fraction_compared(fraction: str, strict: bool, places: int, *, above: bool) -> Regular:
    """`""` or `.digits` of a number whose integer part equals the bound's."""
    return alt(
        EPSILON if _may_stop(fraction, strict, above) else EMPTY,
        concat(_POINT, both(_digits(1, places), _tail_compared(fraction, strict, above))),
    )


def _tail_compared(fraction: str, strict: bool, above: bool) -> Regular:
    """Digits, read as a fraction, above or below `fraction`."""
    if not fraction:
        rest = repeat(DIGIT)
        if above:
            return concat(repeat(_ZERO), NONZERO, rest) if strict else rest
        return EMPTY if strict else repeat(_ZERO)
    digit = int(fraction[0])
    beyond = _digit_range(digit + 1, 9) if above else _digit_range(0, digit - 1)
    return alt(
        EPSILON if _may_stop(fraction, strict, above) else EMPTY,
        concat(beyond, repeat(DIGIT)),
        concat(char(fraction[0]), _tail_compared(fraction[1:], strict, above)),
    )


def _may_stop(rest: str, strict: bool, above: bool) -> bool:
    """Whether the number may end here, with `rest` (no trailing zeros) of the bound left over."""
    if above:
        return not rest and not strict
    return bool(rest) or not strict


def _digit_range(low: int, high: int) -> Regular:
    return chars(((0x30 + low, 0x30 + high),)) if low <= high else EMPTY


def _exact(count: int) -> Regular:
    return repeat(DIGIT, count, count)
