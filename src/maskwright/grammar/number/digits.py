"""Numbers without a sign, as an automaton over their spellings that is constructed state by state.

A value is counted in *units* of 10 to the power of -`places`, the finest number that can be spelled
without an exponent. So bounds, divisors and the digits read so far are integers, and arithmetic
decides whether a prefix can still be completed, without a search. A state stores only what the
continuations depend on: the number of digits read, how they compare with equally many digits of
each bound, and their residue.

An exponent may follow a mantissa with one digit before the point. The exponent alone decides how
the number compares with a bound, unless it equals the exponent of the bound; then the mantissa
decides. Zero may have any exponent.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from math import lcm
from typing import Final

from maskwright.grammar.number.multiples import Multiples
from maskwright.grammar.regular.terms import (
    EMPTY,
    EPSILON,
    Moves,
    Regular,
    alt,
    char,
    chars,
    concat,
    repeat,
    state,
)
from maskwright.limits import CHEAP, spend

LEAST_EXPONENT: Final = -330
MOST_EXPONENT: Final = 307
"""The largest exponent with which no mantissa overflows double precision. `1e308` is allowed as
well, with this mantissa only."""

DIGIT: Final = chars(((0x30, 0x39),))
E: Final = chars(((0x45, 0x45), (0x65, 0x65)))


def exponents(least: int, most: int) -> Regular:
    """The exponents from `least` to `most`, without their `e`.

    They are spelled in the ways in which programs write them: with or without a plus sign, and a
    single digit with or without one leading zero.
    """
    options: list[Regular] = []
    if most >= max(least, 0):
        options.append(concat(repeat(char("+"), 0, 1), _counts(max(least, 0), most)))
    if least <= min(most, 0):
        options.append(concat(char("-"), _counts(max(-most, 0), -least)))
    return alt(*options)


@cache
def _counts(least: int, most: int) -> Regular:
    """The integers from `least` to `most` (0 to 999), those below 10 also with a leading zero."""
    options: list[Regular] = []
    for width, bottom in ((1, 0), (2, 10), (3, 100)):
        first, last = max(least, bottom), min(most, 10**width - 1)
        if first <= last:
            options.append(_between(str(first), str(last)))
            if width == 1:
                options.append(concat(char("0"), options[-1]))
    return alt(*options)


def _between(first: str, last: str) -> Regular:
    """The strings of digits from `first` to `last`, which have equally many digits."""
    if not first:
        return EPSILON
    rest = len(first) - 1
    low, high = int(first[0]), int(last[0])
    if low == high:
        return concat(char(first[0]), _between(first[1:], last[1:]))
    options: list[Regular] = []
    if first[1:].strip("0"):
        options.append(concat(char(first[0]), _between(first[1:], "9" * rest)))
        low += 1
    if last[1:].strip("9"):
        options.append(concat(char(last[0]), _between("0" * rest, last[1:])))
        high -= 1
    if low <= high:
        options.append(concat(chars(((0x30 + low, 0x30 + high),)), repeat(DIGIT, rest, rest)))
    return alt(*options)


MOST_MANTISSA: Final = 20
"""Most digits between the point and an exponent. Double precision needs sixteen."""

_DOT: Final = 0x2E

Arc = tuple[int, int, Regular]


@dataclass(frozen=True)
class Magnitudes:
    """The numbers from `low` to `high` (None is unbounded), both in units and inclusive, that are
    multiples of `divisor` and not multiples of any of `excluded`.

    They have at most `whole` digits before the point and `places` after it. `tiny`: there is no
    lower bound above zero, so exponents may be arbitrarily small.
    """

    low: int
    high: int | None
    whole: int
    places: int
    tiny: bool
    divisor: Multiples | None = None
    excluded: tuple[Multiples, ...] = ()

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((self.low, self.high, self.divisor, self.excluded))

    @cached_property
    def _unit(self) -> int:
        """The number one, in units."""
        return 10**self.places

    @cached_property
    def _step(self) -> int:
        return self.divisor.step(self.places) if self.divisor else 1

    @cached_property
    def _holes(self) -> tuple[tuple[int, int], ...]:
        """The corrections when multiples are counted by inclusion and exclusion.

        For each subset of `excluded`: the distance between its common multiples, in units, and how
        often these are subtracted (negative: added back).
        """
        weights: dict[int, int] = {}
        for each in self.excluded:
            hole = lcm(self._step, each.step(self.places))
            joined = [(lcm(hole, other), -times) for other, times in weights.items()]
            for distance, times in [(hole, 1), *joined]:
                weights[distance] = weights.get(distance, 0) + times
        return tuple((distance, times) for distance, times in weights.items() if times)

    @cached_property
    def _multiples(self) -> tuple[Multiples, ...]:
        return self.excluded if self.divisor is None else (self.divisor, *self.excluded)

    @cached_property
    def _bounds(self) -> tuple[int, ...]:
        return (self.low,) if self.high is None else (self.low, self.high)

    @cached_property
    def _whole_bounds(self) -> tuple[str, ...]:
        """The digits of the bounds before the point."""
        return tuple(str(bound // self._unit) for bound in self._bounds)

    @cached_property
    def _surely(self) -> int:
        """The number of further digits before the point with which every prefix can be completed,
        because they span more than the distance between two of the numbers."""
        widest = max([self._step, *(hole for hole, _ in self._holes)])
        return len(str(widest // self._unit)) + 1

    def spellings(self) -> Regular:
        if not self._has_any(0, 10 ** (self.whole + self.places) - 1):
            return EMPTY
        found = self._first_end if self._multiples else None  # see `_end`
        return state((self, "start"), False, self._first_moves, plain=True, shortest=found)

    def _first_moves(self) -> Sequence[Arc]:
        zero = self._zero()
        others = digit_arcs(lambda digit: self._integer(1, digit), 1)
        return [(0x30, 0x30, zero), *others] if zero is not EMPTY else others

    def _zero(self) -> Regular:
        """The state after a zero before the point, where no other digit may follow."""
        fraction = self._fraction(0, 0, False)
        nullable = self._contains(0)
        if fraction is EMPTY and not nullable:
            return EMPTY
        arcs = [(_DOT, _DOT, fraction)] if fraction is not EMPTY else []
        if nullable:
            arcs += _exponent_arcs(exponents(LEAST_EXPONENT, MOST_EXPONENT))
        return state((self, "zero"), nullable, lambda: arcs, plain=True, shortest=self._end(0, 0))

    def _integer(self, count: int, digits: int) -> Regular:
        """The state after `count` digits before the point; the first is not zero."""
        single = count == 1
        if not self._grows(count, digits) and not (
            single
            and (self._exponents(digits, 0) is not EMPTY or self._may_take_exponent(digits, 0))
        ):
            return EMPTY
        sides = self._sides(count, digits)
        mantissa = self._mantissa_sides(digits, 0) if single else ()
        residues = tuple(m.residue(digits) for m in self._multiples)
        key = (self, "integer", count, sides, mantissa, residues, single and digits == 1)
        nullable = self._contains(digits * self._unit)
        moves = partial(type(self)._integer_moves, self, count, digits)
        if not single:  # otherwise an exponent may be nearer
            ending = self._ending(count, digits, self.whole)
            if ending is not None:
                return whole_state(key, nullable, moves, ending)
        end = self._end(digits, self.whole - count, single=single)
        return state(key, nullable, moves, plain=True, shortest=end)

    def _sides(self, count: int, digits: int) -> tuple[int, ...]:
        """How `count` digits before the point compare with the first ones of the bounds."""
        return tuple(
            [
                1 if count > len(whole) else compared(digits, whole, count)
                for whole in self._whole_bounds
            ]
        )

    def _ending(self, count: int, digits: int, most: int) -> str | None:
        """The fewest digits that continue `count` digits before the point to one of the numbers, if
        these are integers that arithmetic finds, of at most `most` digits. A search would look at
        all residues at each length."""
        if self.divisor is None or self.divisor.places > 0 or self.excluded:
            return None
        for length in range(max(count, len(self._whole_bounds[0])), most + 1):
            scale = self._unit * 10 ** (length - count)
            nearest = -(-max(digits * scale, self.low) // self._step) * self._step
            if nearest < (digits + 1) * scale and (self.high is None or nearest <= self.high):
                return str(nearest // self._unit)[count:]
        return None

    def _integer_moves(self, count: int, digits: int) -> Sequence[Arc]:
        known: dict[object, Regular] = {}

        def after(digit: int) -> Regular:
            following = 10 * digits + digit
            residues = [each.residue(following) for each in self._multiples]
            key = (self._sides(count + 1, following), *residues)  # as `_integer` has them
            found = known.get(key)
            if found is None:
                found = known[key] = self._integer(count + 1, following)
            return found

        arcs: list[Arc] = []
        fraction = self._fraction(0, digits, count == 1)
        if fraction is not EMPTY:
            arcs.append((_DOT, _DOT, fraction))
        if count < self.whole:
            arcs += digit_arcs(after)
        if count == 1:
            arcs += _exponent_arcs(self._exponents(digits, 0, MOST_EXPONENT + (digits == 1)))
        return arcs

    def _fraction(self, count: int, digits: int, single: bool) -> Regular:
        """The state after the point and `count` more digits.

        `digits`: all digits, including those before the point. `single`: whether there is one digit
        before the point, which is not zero, so that an exponent may follow.
        """
        single = single and count <= MOST_MANTISSA
        scale = 10 ** (self.places - count)
        fits = self._has_any(digits * scale, (digits + 1) * scale - 1)
        if not fits and not (
            single
            and (
                (count > 0 and self._exponents(digits, count) is not EMPTY)
                or self._may_take_exponent(digits, count)
            )
        ):
            return EMPTY
        sides = tuple(sign(digits - bound // scale) for bound in self._bounds)
        mantissa = self._mantissa_sides(digits, count) if single else ()
        undecided = 0 in sides or 0 in mantissa
        if not undecided and not self._multiples:
            least = 1 if count == 0 else 0
            rest = repeat(DIGIT, least, self.places - count) if fits else EMPTY
            if not single:
                return rest
            mantissa_rest = repeat(DIGIT, least, MOST_MANTISSA - count)
            return alt(rest, concat(mantissa_rest, E, self._exponents(digits, count)))
        key = (self, "fraction", count, single, sides, mantissa, self._rest(digits, count, single))
        nullable = count > 0 and self._contains(digits * scale)
        moves = partial(type(self)._fraction_moves, self, count, digits, single)
        end = self._end(digits, 0, count, single=single)
        return state(key, nullable, moves, plain=True, shortest=end)

    def _fraction_moves(self, count: int, digits: int, single: bool) -> Sequence[Arc]:
        arcs: list[Arc] = []
        if count < self.places:
            arcs += digit_arcs(lambda digit: self._fraction(count + 1, digits * 10 + digit, single))
        if single and count > 0:
            arcs += _exponent_arcs(self._exponents(digits, count))
        if digits == 0 and count > 0 and self._contains(0):
            arcs += _exponent_arcs(exponents(LEAST_EXPONENT, MOST_EXPONENT))
        return arcs

    def _exponents(self, digits: int, count: int, most: int = MOST_EXPONENT) -> Regular:
        """The exponents up to `most` that may follow a mantissa of 1 + `count` digits."""
        if self.high == 0 or self.excluded:
            return EMPTY
        least = LEAST_EXPONENT
        if not self.tiny:
            least = max(least, self._exponent(self.low))
            least += least == self._exponent(self.low) and _mantissa(digits, count, self.low) < 0
        if self.high is not None:
            own = self._exponent(self.high)
            most = min(most, own - (_mantissa(digits, count, self.high) > 0))
        if self.divisor is not None:
            exact = self.divisor.least_exponent(digits, count)
            if exact is None:
                return EMPTY
            least = max(least, exact)
        return exponents(least, most)

    def _exponent(self, bound: int) -> int:
        return len(str(bound)) - 1 - self.places

    def _may_take_exponent(self, digits: int, count: int) -> bool:
        """Whether an exponent may follow after further digits."""
        if count == MOST_MANTISSA or self.high == 0 or self.excluded:
            return False
        if self.divisor is not None:
            return self._has_multiple(digits, count)
        texts = [f"{digits}{digit}" for digit in range(10)]
        for bound in self._bounds:
            if bound and compared(digits, str(bound), count + 1) == 0:
                mantissa = str(bound).rstrip("0")
                nearest = mantissa[: MOST_MANTISSA + 1]  # where the bound has more digits
                ways = (mantissa, mantissa + "1", nearest, str(int(nearest) + 1))
                texts += [t for t in ways if len(t) > count + 1 and t.startswith(str(digits))]
        return any(
            len(text) <= MOST_MANTISSA + 1
            and self._exponents(int(text), len(text) - 1) is not EMPTY
            for text in texts
        )

    def _has_multiple(self, digits: int, count: int) -> bool:
        """Whether one of the multiples, spelled with an exponent, begins with `digits`."""
        more = MOST_MANTISSA - count
        first = digits * 10**more
        return any(
            self._nearest(first, first + 10**more - 1, self.places + exponent - MOST_MANTISSA)
            is not None
            for exponent in self._last_exponents(LEAST_EXPONENT, MOST_EXPONENT)
        )

    def _first_end(self) -> str:
        """The shortest spelling of one of the numbers."""
        firsts = [digit for digit in range(1, 10) if self._integer(1, digit) is not EMPTY]
        texts = [] if self._zero() is EMPTY else ["0" + self._shortest(0, 0, None, False)]
        texts += [f"{digit}{self._shortest(digit, self.whole - 1, None, True)}" for digit in firsts]
        return min(texts, key=len)

    def _end(
        self, digits: int, room: int, count: int | None = None, *, single: bool = False
    ) -> Callable[[], str] | None:
        """What finds the shortest text that may follow by arithmetic (see `_shortest`), where a
        search might have to look at all residues at each length."""
        if not self._multiples:
            return None
        return partial(type(self)._shortest, self, digits, room, count, single)

    def _shortest(self, digits: int, room: int, count: int | None, single: bool) -> str:
        """The shortest text that continues `digits` to one of the numbers: with up to `room` digits
        before the point, or after `count` digits after it. `single`: whether there is one digit
        before the point, which is not zero."""
        found = self._in_digits(digits, room, count)
        if single and self.high != 0 and not self.excluded:
            most = MOST_MANTISSA + len(".e-330") if found is None else len(found) - 1
            for length in range(len("e0"), most + 1):
                spend(CHEAP * length)
                other = self._in_exponents(digits, count, length)
                if other is not None:
                    return other
        assert found is not None
        return found

    def _in_digits(self, digits: int, room: int, count: int | None) -> str | None:
        """The shortest text of digits and perhaps a point; None if there is none."""
        best: str | None = None
        read, point = count or 0, "." if count is None else ""
        least = int(count == 0)  # decimals: a point needs one
        finest = self.divisor.places if self.divisor else self.places
        for before in range(room + 1):
            if best is not None and before >= len(best):
                break
            spend(CHEAP * finest)
            most = max(least, finest - read)
            if best is not None:
                most = min(most, len(best) - before - len(point) - 1)
            counts = range(least, most + 1)
            found = partial(self._rest_of, digits, before, read)
            # A number that has one of these numbers of decimals has more, too.
            at = bisect_left(counts, True, key=lambda decimals: found(decimals) is not None)
            decimals = counts[at] if at < len(counts) else least
            rest = found(decimals)
            if rest is not None:
                best = rest[:before] + point * (decimals > 0) + rest[before:]
        return best

    def _rest_of(self, digits: int, before: int, read: int, decimals: int) -> str | None:
        """The digits that continue `digits`, of which `read` are decimals, to the least of the
        numbers: so many before the point, and so many decimals; None if there is none."""
        shift = before + decimals
        first = digits * 10**shift
        nearest = self._nearest(first, first + 10**shift - 1, self.places - read - decimals)
        if nearest is None:
            return None
        return str(nearest - first).zfill(shift) if shift else ""

    def _in_exponents(self, digits: int, count: int | None, length: int) -> str | None:
        """A text of this length with an exponent; None if there is none."""
        for more in range(0 if count != 0 else 1, MOST_MANTISSA - (count or 0) + 1):
            point = "." if count is None and more else ""
            size = length - len(point) - more - len("e")
            if size < 1:
                return None
            first = digits * 10**more
            most = MOST_EXPONENT + (count is None and more == 0 and digits == 1)
            for exponent in self._exponents_of(size, most):
                finest = self.places + exponent - more - (count or 0)
                nearest = self._nearest(first, first + 10**more - 1, finest)
                if nearest is not None:
                    rest = str(nearest - first).zfill(more) if more else ""
                    return f"{point}{rest}e{exponent}"
        return None

    def _exponents_of(self, size: int, most: int) -> Iterator[int]:
        """Exponents up to `most` of `size` characters, so many that one of them suits a mantissa if
        any does."""
        yield from self._last_exponents(
            0 if size == 1 else 10 ** (size - 1), min(most, 10**size - 1)
        )
        if size > 1:
            yield from self._last_exponents(1 - 10 ** (size - 1), -(10 ** (size - 2)))

    def _last_exponents(self, least: int, most: int) -> Iterator[int]:
        """The last two of the exponents of the numbers from `least` to `most`. A larger one suits
        wherever a smaller one does, but for that of the upper bound."""
        least = max(least, LEAST_EXPONENT)
        if not self.tiny:
            least = max(least, self._exponent(self.low))
        if self.high is not None:
            most = min(most, self._exponent(self.high))
        yield from range(most, max(least, most - 1) - 1, -1)

    def _nearest(self, first: int, last: int, finest: int) -> int | None:
        """The least of the integers from `first` to `last` that times 10^`finest` units is one of
        the numbers."""
        scale, counted = 10 ** max(finest, 0), 10 ** max(-finest, 0)
        first, last = -(-first // counted), last // counted
        least = max(first * scale, self.low)
        most = last * scale if self.high is None else min(last * scale, self.high)
        step = lcm(self._step, scale)
        nearest = -(-least // step) * step
        if self.excluded and nearest <= most:
            if not self._has_any(nearest, most, step):
                return None
            while nearest < most:  # the half in which the least of the numbers is
                spend(CHEAP)
                middle = (nearest + most) // 2
                if self._has_any(nearest, middle, step):
                    most = middle
                else:
                    nearest = middle + 1
        return nearest // scale * counted if nearest <= most else None

    def _grows(self, count: int, digits: int) -> bool:
        """Whether `digits` can be continued to one of the numbers."""
        shortest = max(count, len(self._whole_bounds[0]))  # others are below the lower bound
        if self.high is None and self.whole - shortest > self._surely:
            return True
        scale = self._unit * 10 ** (shortest - count) // 10
        for _ in range(self.whole - shortest + 1):
            scale *= 10
            if self._has_any(digits * scale, (digits + 1) * scale - 1):
                return True
            if self.high is not None and digits * scale > self.high:
                return False
        return False

    def _has_any(self, first: int, last: int, step: int = 1) -> bool:
        """Whether one of the numbers that are multiples of `step` lies between `first` and `last`
        (units, inclusive)."""
        first = max(first, self.low)
        last = last if self.high is None else min(last, self.high)
        if last < first:
            return False
        own = lcm(self._step, step)
        count = last // own - (first - 1) // own
        for hole, times in self._holes:
            hole = lcm(hole, step)
            count -= times * (last // hole - (first - 1) // hole)
        return count > 0

    def _contains(self, units: int) -> bool:
        return self._has_any(units, units)

    def _mantissa_sides(self, digits: int, count: int) -> tuple[int, ...]:
        bounds = self._bounds[1:] if self.tiny else self._bounds
        return tuple(compared(digits, str(bound), count + 1) for bound in bounds)

    def _rest(self, digits: int, count: int, single: bool) -> tuple[object, ...]:
        """The part of a state after the point that the divisors need."""
        remembered: list[object] = []
        for multiples in self._multiples:
            if single or count < multiples.places:
                remembered.append(multiples.residue(digits))
            if single:
                remembered.append(multiples.least_exponent(digits, count))
            step = multiples.step(self.places) * 10**count
            remembered.append(digits * 10**self.places % step == 0)
        return tuple(remembered)


def whole_state(
    key: tuple[object, ...], nullable: bool, moves: Moves, ending: str | None
) -> Regular:
    """The state after digits before the point; `ending`: the shortest text that may follow, if it
    is known."""
    if ending is None:
        return state(key, nullable, moves, plain=True)
    made = state(key, nullable, moves, plain=True, shortest=lambda: ending)
    made.least_length = len(ending)  # so that a search leaves it alone where it is far from an end
    return made


def _exponent_arcs(term: Regular) -> list[Arc]:
    """The transitions with `e`. In the order of characters they follow those with digits and the
    point."""
    if term is EMPTY:
        return []
    return [(0x45, 0x45, term), (0x65, 0x65, term)]


def digit_arcs(target: Callable[[int], Regular], first: int = 0, last: int = 9) -> list[Arc]:
    """The transitions with the digits from `first` to `last`."""
    arcs: list[Arc] = []
    for digit in range(first, last + 1):
        after = target(digit)
        if after is EMPTY:
            continue
        if arcs and arcs[-1][2] is after and arcs[-1][1] == 0x2F + digit:
            arcs[-1] = (arcs[-1][0], 0x30 + digit, after)
        else:
            arcs.append((0x30 + digit, 0x30 + digit, after))
    return arcs


def compared(digits: int, bound: str, count: int) -> int:
    """How `count` digits compare with the first `count` of `bound`, zeros appended."""
    return sign(digits - int(bound[:count].ljust(count, "0")))


def _mantissa(digits: int, count: int, bound: int) -> int:
    """How the mantissa of 1 + `count` digits compares with that of `bound`."""
    text = str(bound)
    order = compared(digits, text, count + 1)
    return -1 if order == 0 and text[count + 1 :].strip("0") else order


def sign(number: int) -> int:
    """-1, 0 or 1."""
    return (number > 0) - (number < 0)
