"""Schemas that evidently have a value: seen from their assertions, without a normal form.

Most schemas are such, so most questions for a value end here, at the price of a look at each
keyword. A value is evident if some type is allowed, and all that is said of that type is met by the
empty array, by an object of the required members, by any string, by a whole number near a bound, or
by an entry of an enumeration. Whatever else is said, such as a negation, leaves it open.
"""

from __future__ import annotations

from maskwright.grammar.shape.shape import Conjunction

class EvidentValues:
    """Says of conjunctions of one document whether they have values, where that is known."""

    known: dict[Conjunction, bool]
    """What is decided for good, here or by others. Written by both."""

    def __init__(self, known: dict[Conjunction, bool]) -> None: ...
    def has_value(self, conjunction: Conjunction) -> bool | None:
        """Whether the conjunction has a value, of no more than thousands of values: known, or seen
        from its assertions. None if neither says so."""

    def doubtful(self, conjunctions: tuple[Conjunction, ...]) -> list[int]:
        """The places of the conjunctions for which `has_value` confirms no value."""
