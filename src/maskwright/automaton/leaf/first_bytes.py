"""The bytes with which texts begin, as one int: bit n is set for byte n."""

from __future__ import annotations

from typing import Final

from maskwright.automaton.leaf.special_tokens import LEAD
from maskwright.grammar.regular.byte_alphabet import bytes_of
from maskwright.grammar.regular.character_classes import split
from maskwright.grammar.regular.terms import Regular

SPECIAL: Final = 1 << LEAD
VALUE: Final = sum(1 << byte for byte in b'"{[-0123456789tfn')
"""JSON values."""


def first_bytes(term: Regular) -> int:
    """The first bytes of the texts of a language that aren't empty."""
    if term.heads is None:
        found = split(term)
        heads = bytes_of(tuple((low, high) for low, high, _ in found.ascii))
        for some, _ in found.beyond:
            heads |= bytes_of(some.ranges)
        term.heads = heads
    return term.heads
