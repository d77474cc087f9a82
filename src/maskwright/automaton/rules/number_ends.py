"""Numbers after which a grammar can't go on, because they take its next character for their own.

A number is read as long as it can be: it ends at the first byte that can't continue it. Where only
digits may follow a number that may have any number of digits, it ends only at the bound on digits,
or in a spelling that nobody wants. Such a place is refused when the grammar is compiled.

What may follow is a FOLLOW set, an upper bound: a place with such an end in some callers of its
rule and not in others isn't found.
"""

from __future__ import annotations

from typing import Final

from maskwright.automaton.leaf.table import LeafTable
from maskwright.limits import CHEAP, spend

DIGITS_READ: Final = 20
"""Digits of an integer that are looked at, as many as 64 bits have."""
_DIGITS: Final = b"0123456789"
_ONLY_DIGITS: Final = sum(1 << byte for byte in _DIGITS)


def only_digits(after: int) -> bool:
    """Whether of `after`, a set of bytes and of the text's end, digits alone may follow a value."""
    return bool(after) and not after & ~_ONLY_DIGITS


def endless_number(leaves: LeafTable, leaf: int, after: int) -> bool:
    """Whether a value that begins at `leaf` may be an integer, but none of at most `DIGITS_READ`
    digits that a text goes on after; one of the digits of `after` follows the value."""
    first = leaves.next_states(leaf)
    return any(_is_endless(leaves, first[byte], after) for byte in _DIGITS[1:] if byte in first)


def _is_endless(leaves: LeafTable, start: int, after: int) -> bool:
    """Whether some integer that goes on at `start`, after its first digit, is whole, and none of
    them can be left."""
    reached = {start}
    seen = set[int]()
    is_whole = False
    for _ in range(DIGITS_READ):
        reached -= seen
        seen |= reached
        following = set[int]()
        for state in reached:
            spend(CHEAP)
            row = leaves.next_states(state)
            if leaves.label_of(state) is not None:
                is_whole = True
                if any(after >> byte & 1 and byte not in row for byte in _DIGITS):
                    return False
            following.update(row[byte] for byte in _DIGITS if byte in row)
        reached = following
    return is_whole
