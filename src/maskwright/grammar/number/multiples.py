"""The multiples of a number, recognised by their digits."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from math import gcd, lcm

from maskwright.errors import LimitError
from maskwright.immutable import Acyclic
from maskwright.limits import DEFAULT_LIMITS


class Multiples(Acyclic):
    """The multiples of `factor`·10^-`places`; `factor` >= 1."""

    factor: int
    places: int

    @property
    def states(self) -> int:
        """The approximate number of residues. Factors of 2 and 5 need none, since they divide
        powers of ten."""
        return self.factor // gcd(self.factor, 10 ** len(str(self.factor)))

    def step(self, places: int) -> int:
        """The distance from one multiple to the next, in units of 10^-`places`."""
        return self.factor * 10 ** (places - self.places)

    def residue(self, digits: int) -> tuple[int, ...]:
        """Describe the suffixes that continue `digits` to a multiple. Prefixes with equal residues
        have equal suffixes.

        Entry k is the smallest suffix of k digits, or -1 if there is none. The list ends where
        there is a suffix for every number of digits.
        """
        suffixes: list[int] = []
        power = 1
        while True:
            missing = -digits * power % self.factor
            suffixes.append(missing if missing < power else -1)
            if power >= self.factor:
                return tuple(suffixes)
            power *= 10

    def least_exponent(self, digits: int, places: int) -> int | None:
        """The least e for which `digits`·10^(e - `places`) is a multiple; None if there is none.

        Every larger exponent gives a multiple as well. `digits` is not zero.
        """
        while digits % 10 == 0:
            digits, places = digits // 10, places - 1
        exponent, rest = places - self.places, digits % self.factor
        for _ in range(self.factor.bit_length() + 1):
            if rest == 0:
                return exponent
            exponent, rest = exponent + 1, rest * 10 % self.factor
        return None


def multiples(divisor: Decimal, most: int = DEFAULT_LIMITS.divisor) -> Multiples:
    """Return the multiples of `divisor`. Raises `LimitError` for more than `most` remainders."""
    digits, exponent = digits_of(divisor)
    result = Multiples(digits * 10 ** max(0, exponent), max(0, -exponent))
    if result.states > most:
        raise LimitError(
            f"multiples of {divisor} need {result.states:,} states",
            limit="divisor",
            value=most,
        )
    return result


def common(one: Multiples | None, other: Multiples | None) -> Multiples | None:
    """The numbers that are multiples of both, with as few places as these have; None stands for all
    numbers."""
    if one is None or other is None:
        return one or other
    places = max(one.places, other.places)
    factor = lcm(one.step(places), other.step(places))
    while places and factor % 10 == 0:
        factor, places = factor // 10, places - 1
    return Multiples(factor, places)


def effective_exclusions(
    required: Multiples | None, excluded: Sequence[Multiples]
) -> tuple[Multiples, ...]:
    """Return the elements of `excluded` that exclude some multiple of `required` which no other
    element excludes."""
    places = max((each.places for each in (required, *excluded) if each), default=0)
    step = required.step(places) if required else 1
    holes = {lcm(step, each.step(places)): each for each in excluded}
    return tuple(
        each
        for hole, each in holes.items()
        if not any(hole % other == 0 for other in holes if other != hole)
    )


def common_multiple(one: Decimal, other: Decimal, most: int = DEFAULT_LIMITS.divisor) -> Decimal:
    """The least common multiple of two numbers > 0."""
    joint = common(multiples(one, most), multiples(other, most))
    assert joint is not None
    return Decimal((0, tuple(map(int, str(joint.factor))), -joint.places))


def digits_of(value: Decimal) -> tuple[int, int]:
    """Return the absolute value as an integer without trailing zeros and a power of ten."""
    _, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    text = "".join(map(str, digits)).rstrip("0")
    return (int(text), exponent + len(digits) - len(text)) if text else (0, 0)
