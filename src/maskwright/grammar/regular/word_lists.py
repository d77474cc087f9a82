"""Lists of words as tries, and which terms are nothing but such lists."""

from __future__ import annotations

from bisect import bisect_left

from maskwright.grammar.regular.terms import (
    EMPTY,
    Alt,
    Regular,
    Tagged,
    Words,
    alt,
    tagged,
    word_list,
    word_slice,
)


def word_arcs(node: Words) -> list[tuple[int, int, Words]]:
    """Transitions of a trie node: (code point, code point, child), ascending."""
    strings, depth = node.table.strings, node.depth
    low = node.low + node.nullable
    arcs: list[tuple[int, int, Words]] = []
    while low < node.high:
        character = strings[low][depth]
        high = node.high
        if strings[high - 1][depth] != character:
            after = strings[low][:depth] + chr(ord(character) + 1)
            high = bisect_left(strings, after, low, node.high)
        arcs.append((ord(character), ord(character), word_slice(node.table, low, high, depth + 1)))
        low = high
    return arcs


def with_minimal_escapes(term: Regular) -> Regular:
    """A list of words, or several lists together, as bare ones; any other term as it is."""
    if not _is_listed(term, bare=False):
        return term
    match term:
        case Words(table=table, low=low, high=high, depth=depth):
            return word_slice(word_list(table.strings, bare=True), low, high, depth)
        case Tagged(parts=parts, named=named):
            return tagged(tuple(map(with_minimal_escapes, parts)), named=named)
        case Alt(options=options):
            return alt(*map(with_minimal_escapes, options))
        case _:
            return term


def has_minimal_escapes(term: Regular) -> bool:
    """Whether nothing but the words of bare lists can come."""
    return _is_listed(term, bare=True)


def _is_listed(term: Regular, *, bare: bool) -> bool:
    """Whether nothing but the words of lists can come; and with `bare` of bare ones."""
    match term:
        case Words(table=table):
            return table.bare or not bare
        case Tagged(parts=parts):
            return all(part is EMPTY or _is_listed(part, bare=bare) for part in parts)
        case Alt(options=options):
            return all(_is_listed(option, bare=bare) for option in options)
        case _:
            return False
