"""Schemas that evidently have a value: seen from their assertions, without a normal form.

Most schemas are such, so most questions for a value end here, at the price of a look at each
keyword. A value is evident if some type is allowed, and all that is said of that type is met by the
empty array, by an object of the required members, by any string, by a whole number near a bound, or
by an entry of an enumeration. Whatever else is said, such as a negation, leaves it open.
"""

from __future__ import annotations

from maskwright.grammar.shape.shape import Conjunction

class EvidentValues:
    """Confirms that conjunctions of one document have values. False leaves it open."""

    def __init__(self) -> None: ...
    def has_value(self, conjunction: Conjunction) -> bool:
        """Whether the conjunction evidently has a value, of no more than thousands of values."""

    def settle(
        self, conjunctions: tuple[Conjunction, ...], known: dict[Conjunction, bool]
    ) -> list[int]:
        """Enter the `conjunctions` that evidently have a value, and that aren't `known` yet,
        as true. Returns the places of those that aren't known to have a value then."""
