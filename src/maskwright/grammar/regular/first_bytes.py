"""The bytes with which the strings of a language begin, in UTF-8, as one int: bit n for byte n."""

from __future__ import annotations

from maskwright.grammar.regular.byte_alphabet import bytes_of
from maskwright.grammar.regular.derivative import split
from maskwright.grammar.regular.terms import Regular


def first_bytes(term: Regular) -> int:
    """The first bytes of the strings of a language that are not empty."""
    if term.heads is None:
        found = split(term)
        heads = bytes_of(tuple((low, high) for low, high, _ in found.ascii))
        for some, _ in found.beyond:
            heads |= bytes_of(some.ranges)
        term.heads = heads
    return term.heads
