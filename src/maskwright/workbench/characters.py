"""The characters that may come next, found from the bytes that may, and sets of them in words:
`'"', 0-9, any character beyond ASCII`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from maskwright.automaton.machine.exits import Configuration
from maskwright.grammar.regular.charset import normal
from maskwright.immutable import Immutable
from maskwright.mask import Matcher
from maskwright.mask.recognizer import Recognizer

MOST_CONFIGURATIONS: Final = 512
"""Configurations within characters of several bytes that are looked at. Those of one character set
are few; more of them come from patterns with large sets of their own."""
CONTINUED: Final = range(0x80, 0xC0)
LEADS: Final = {
    lead: length
    for length, leads in ((2, range(0xC2, 0xE0)), (3, range(0xE0, 0xF0)), (4, range(0xF0, 0xF5)))
    for lead in leads
}
"""Bytes in a character, by its first byte."""


class CharacterRanges(Immutable):
    """A set of characters as ranges of code points, both ends included, in ascending order.

    `is_exact`: whether these are all; otherwise there are others beyond ASCII. `is_within`: the
    text ends within a character, and what may complete it isn't a character.
    """

    ranges: tuple[tuple[int, int], ...]
    is_exact: bool = True
    is_within: bool = False

    @property
    def count(self) -> int:
        """The number of characters; 0 where it isn't known."""
        if not self.is_exact:
            return 0
        return sum(last - first + 1 for first, last in self.ranges)

    def members(self) -> Iterator[str]:
        """Each character, in ascending order."""
        for first, last in self.ranges:
            yield from map(chr, range(first, last + 1))

    def __contains__(self, character: str) -> bool:
        return any(first <= ord(character) <= last for first, last in self.ranges)


def next_characters(matcher: Matcher) -> CharacterRanges:
    """The characters that may follow the text of a matcher."""
    following = matcher.next_bytes()
    if following and all(byte in CONTINUED for byte in following):
        return CharacterRanges((), is_exact=False, is_within=True)
    ranges = [(byte, byte) for byte in following if byte < 0x80]
    search = _Search(matcher)
    here = matcher.position.configuration
    for lead in following:
        length = LEADS.get(lead)
        if length is None:
            continue
        after = search.step(here, lead)
        if after is None:
            continue
        beyond = search.tails(after, length - 1)
        if beyond is None:
            return CharacterRanges(normal(ranges), is_exact=False)
        bits = 6 * (length - 1)
        base = (lead & (0xFF >> (length + 1))) << bits
        ranges += [(base + first, base + last) for first, last in beyond]
    return CharacterRanges(normal(ranges))


class _Search:
    """The ends of characters of several bytes, remembered by configuration: the bytes of nearly all
    of them lead to a few."""

    def __init__(self, matcher: Matcher) -> None:
        self._recognizer: Recognizer = matcher.recognizer
        self._known: dict[tuple[Configuration, int], tuple[tuple[int, int], ...]] = {}

    def step(self, here: Configuration, byte: int) -> Configuration | None:
        return self._recognizer.advance(here, bytes([byte]))

    def tails(self, here: Configuration, left: int) -> tuple[tuple[int, int], ...] | None:
        """The numbers that the last `left` bytes of a character may stand for; None if there are
        too many configurations."""
        key = (here, left)
        known = self._known.get(key)
        if known is not None:
            return known
        if len(self._known) >= MOST_CONFIGURATIONS:
            return None
        allowed = [byte & 0x3F for byte in self._recognizer.next_bytes(here) if byte in CONTINUED]
        found: list[tuple[int, int]] = []
        if left == 1:
            found = [(bits, bits) for bits in allowed]
        else:
            shift = 6 * (left - 1)
            for bits in allowed:
                after = self.step(here, 0x80 | bits)
                inner = () if after is None else self.tails(after, left - 1)
                if inner is None:
                    return None
                found += [((bits << shift) + a, (bits << shift) + b) for a, b in inner]
        self._known[key] = normal(found)
        return self._known[key]


MOST_RANGES: Final = 12
BEYOND_ASCII: Final = ((0x80, 0xD7FF), (0xE000, 0x10FFFF))
_NAMED: Final = {0x20: "space", 0x09: "tab", 0x0A: "line break", 0x0D: "carriage return"}


def in_words(characters: CharacterRanges, may_end: bool) -> str:
    """The characters that may come next, and the end of the text if it may end."""
    parts = [*_parts(characters)]
    if len(parts) > MOST_RANGES:
        parts = [*parts[:MOST_RANGES], "…"]
    if may_end:
        parts.append("end of text")
    return ", ".join(parts) or "nothing"


def _parts(characters: CharacterRanges) -> Iterator[str]:
    if characters.is_within:
        yield "the rest of a UTF-8 character"
        return
    beyond = tuple(pair for pair in characters.ranges if pair[1] >= 0x80)
    has_all = _without_ascii(beyond) == BEYOND_ASCII
    if has_all and any(first <= 0x20 and last >= 0x7E for first, last in characters.ranges):
        yield "any character"
        return
    for first, last in characters.ranges:
        if first < 0x80:
            yield from _range(first, min(last, 0x7F))
    if has_all:
        yield "any character beyond ASCII"
        return
    for first, last in _without_ascii(beyond):
        yield from _range(first, last)
    if not characters.is_exact:
        yield "some characters beyond ASCII"


def _without_ascii(ranges: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    return tuple((max(first, 0x80), last) for first, last in ranges)


def _range(first: int, last: int) -> Iterator[str]:
    if last - first > 1:
        yield f"{character_name(first)}-{character_name(last)}"
    else:
        yield from map(character_name, range(first, last + 1))


def character_name(code: int) -> str:
    """A character as it is shown to people."""
    if code in _NAMED:
        return _NAMED[code]
    text = chr(code)
    if text.isalnum():
        return text
    if text.isprintable():
        return f"'{text}'"
    return f"\\x{code:02x}" if code < 0x80 else f"U+{code:04X}"
