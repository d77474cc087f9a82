"""Numbers as people write them: digits and a point, without an exponent.

A value has hardly more than one plain spelling: without leading zeros, without a sign for zero, and
without zeros at the end, but within the first `PADDED` decimals, or within the decimals of a
divisor. Those zeros are allowed because what has been written can't be taken back: if `12.50` were
no number, a model that has come to its zero would have to go on to another value.

Every value that has a spelling at all has a plain one. There are at most `FREE` digits before the
point and `FREE` after it, or as many as the bounds have. Further digits are zeros before the point
(1e300), and after it those of a number that begins with zeros (1e-300).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from maskwright.grammar.number.digits import Arc, Magnitudes, compared, digit_arcs, sign
from maskwright.grammar.number.exponents import DIGIT, LEAST_EXPONENT, MOST_EXPONENT
from maskwright.grammar.regular.terms import (
    EMPTY,
    EPSILON,
    Regular,
    alt,
    chars,
    concat,
    repeat,
    state,
)

FREE: Final = 40
"""Digits before the point, and after it, that may be any digits."""
PADDED: Final = 2
"""Decimals that may be zeros at the end."""
MOST_VALUE: Final = MOST_EXPONENT + 1
"""The power of ten that is the largest number: others would overflow double precision."""
MOST_PLACES: Final = FREE - LEAST_EXPONENT
"""Digits after the point of the smallest numbers that have a spelling with an exponent."""

_DOT: Final = 0x2E
_NONZERO: Final = chars(((0x31, 0x39),))


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
        return state((self, "plain"), False, lambda: moves, plain=True) if moves else EMPTY

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
        sides = tuple(
            1 if count > len(whole) else compared(digits, whole, count)
            for whole in self._whole_bounds
        )
        residues = tuple(m.residue(digits) for m in self._multiples)
        key = (self, "plain integer", count, sides, residues)
        nullable = self._contains(digits * self._unit)
        return state(key, nullable, partial(self._integer_moves, count, digits), plain=True)

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
        scale = self._unit
        for length in range(count, self.whole + 1):
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
        return state(key, nullable, partial(self._fraction_moves, count, digits), plain=True)

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
