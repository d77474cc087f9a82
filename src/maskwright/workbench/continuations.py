"""What may come next: the characters, found from the bytes, and sets of them in words
(`'"', 0-9, any character beyond ASCII`); the texts with which a text can go on; and the allowed
texts that are most like a wrong one, which its author may have meant.

The last are found by a best-first search over the edits of the word around the fault (characters
left out, put in, replaced or exchanged with their neighbour), as for spelling correction: Wagner
and Fischer 1974, over the texts of a grammar instead of one other text.
"""

from __future__ import annotations

import heapq
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Final, NamedTuple

from maskwright.automaton.machine.exits import Configuration
from maskwright.grammar.regular.charset import Ranges, normal
from maskwright.immutable import Immutable
from maskwright.mask import Grammar, Matcher
from maskwright.mask.recognizer import Recognizer
from maskwright.workbench.place import reads_json

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
    recognizer, here = matcher.recognizer, matcher.position.configuration
    known: dict[tuple[Configuration, int], Ranges] = {}
    for lead in following:
        length = LEADS.get(lead)
        if length is None:
            continue
        after = recognizer.advance(here, bytes([lead]))
        beyond = () if after is None else _tails(recognizer, after, length - 1, known)
        if beyond is None:
            return CharacterRanges(normal(ranges), is_exact=False)
        bits = 6 * (length - 1)
        base = (lead & (0xFF >> (length + 1))) << bits
        ranges += [(base + first, base + last) for first, last in beyond]
    return CharacterRanges(normal(ranges))


def _tails(
    recognizer: Recognizer,
    here: Configuration,
    left: int,
    known: dict[tuple[Configuration, int], Ranges],
) -> Ranges | None:
    """The numbers that the last `left` bytes of a character may stand for; None if there are too
    many configurations. What is `known` is remembered by configuration: the bytes of nearly all
    characters lead to a few."""
    if (here, left) in known:
        return known[here, left]
    if len(known) >= MOST_CONFIGURATIONS:
        return None
    allowed = [byte & 0x3F for byte in recognizer.next_bytes(here) if byte in CONTINUED]
    found = [(bits, bits) for bits in allowed] if left == 1 else []
    shift = 6 * (left - 1)
    for bits in allowed if left > 1 else ():
        after = recognizer.advance(here, bytes([0x80 | bits]))
        inner = () if after is None else _tails(recognizer, after, left - 1, known)
        if inner is None:
            return None
        found += [((bits << shift) + a, (bits << shift) + b) for a, b in inner]
    return known.setdefault((here, left), normal(found))


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


MOST_CHOICES: Final = 16
"""Characters that may come next up to which the text that each of them forces is looked at."""
LONGEST: Final = 80
"""Characters of a forced text that are looked at."""

_ESCAPE: Final = re.compile(rb"\\.", re.DOTALL)
_JSON_SPACE: Final = " \t\r\n"


@dataclass
class _Run:
    """A text that is extended for as long as there is nothing to choose.

    In JSON nearly every place allows white space, and every letter of a listed name an escape. A
    person is helped by neither, so they don't count as choices where there are others.
    """

    matcher: Matcher
    in_json: bool
    in_string: bool
    text: str = ""

    def options(self) -> list[str] | None:
        """The characters to choose from; None if there are too many."""
        found = next_characters(self.matcher)
        idle = ("\\" if self.in_string else _JSON_SPACE) if self.in_json else ""
        dropped = [character for character in idle if character in found]
        if not found.is_exact or found.count - len(dropped) > MOST_CHOICES:
            return None
        plain = [character for character in found.members() if character not in dropped]
        return plain or dropped

    def take(self, character: str) -> None:
        taken = self.matcher.accept_bytes(character.encode())
        assert taken == len(character.encode())
        self.text += character
        if self.in_json and character == '"':
            self.in_string = not self.in_string

    def go_on(self) -> list[str] | None:
        """Take characters for as long as there is one option; returns the options after them, None
        if there are too many."""
        options = self.options()
        while len(self.text) < LONGEST and not self.matcher.accepting:
            if options is None or len(options) != 1:
                break
            self.take(options[0])
            options = self.options()
        return options


class Continuations(NamedTuple):
    """How a text can go on: first `forced`, then one of `options`, each up to the next choice.
    `options` is empty where there are more than `MOST_CHOICES` or, if the text may end, none."""

    forced: str
    options: tuple[str, ...]


def continuations(matcher: Matcher, text: bytes) -> Continuations:
    """How `text`, which the matcher has read, can go on."""
    in_json = reads_json(matcher)
    in_string = in_json and _ESCAPE.sub(b"", text).count(b'"') % 2 == 1
    run = _Run(matcher.copy(), in_json, in_string)
    options = run.go_on() or []
    branches: list[str] = []
    for option in options:
        branch = replace(run, matcher=run.matcher.copy())
        branch.take(option)
        branch.go_on()
        branches.append(branch.text.removeprefix(run.text))
    return Continuations(run.text, tuple(branches))


MOST_FOUND: Final = 3
MOST_EDITS: Final = 3
MOST_STATES: Final = 600
"""States of the search that are expanded."""
MOST_OPTIONS: Final = 40
"""Characters that may come next up to which each of them is tried."""
WIDTH: Final = 32
"""Characters before and after the fault that may be edited."""
LOOK: Final = 8
"""Characters after the edited ones that are looked at; the first has to be allowed."""
_AHEAD: Final = re.compile(" *.?", re.DOTALL)


class NearText(NamedTuple):
    """`by`, in place of `replaces` at byte `offset`, is allowed. `edits`: in how many characters
    the two differ; None if it isn't known, and they are merely alike."""

    offset: int
    replaces: str
    by: str
    edits: int | None


def nearest_texts(grammar: Grammar, text: str, fault: int) -> list[NearText]:
    """The allowed texts most like `text`, which isn't allowed at character `fault`; the nearest
    first."""
    begin, end = _word(text, fault)
    matcher = grammar.matcher()
    before = text[:begin].encode()
    if matcher.accept_bytes(before) < len(before):
        return []
    word = text[begin:end]
    found = [
        NearText(len(before), word, by, edits)
        for by, edits in itertools.islice(_Edits(text, begin, end).found(matcher), MOST_FOUND)
    ]
    if found:
        return found
    goes_on = continuations(matcher, before)
    options = [goes_on.forced + option for option in goes_on.options] or [goes_on.forced]
    alike = sorted(options, key=lambda each: -SequenceMatcher(None, each, word).ratio())
    return [NearText(len(before), word, by, None) for by in alike[:MOST_FOUND] if by]


def _word(text: str, fault: int) -> tuple[int, int]:
    """The characters that are edited: the word in which the fault is, or the string that begins
    with it."""
    begin = end = fault
    while begin > max(0, fault - WIDTH) and _is_of_word(text[begin - 1]):
        begin -= 1
    stop = min(len(text), fault + WIDTH)
    if text[fault : fault + 1] == '"' and begin == fault:
        end = text.find('"', fault + 1, stop) + 1 or stop
    else:
        end = min(fault + 1, len(text))
        while end < stop and _is_of_word(text[end - 1]) and _is_of_word(text[end]):
            end += 1
    return begin, end


def _is_of_word(character: str) -> bool:
    return character.isalnum() or character in "_-"


@dataclass
class _Edits:
    """Edits `text[begin:end]`."""

    text: str
    begin: int
    end: int

    def found(self, start: Matcher) -> Iterator[tuple[str, int]]:
        """Yield texts with their number of edits, in ascending order."""
        most = min(MOST_EDITS, max(1, (self.end - self.begin) // 2))
        order = itertools.count()
        queue = [(0, next(order), self.begin, "", start)]
        seen: set[tuple[int, tuple[int, ...]]] = set()
        found: set[str] = set()
        for _ in range(MOST_STATES):
            if not queue:
                return
            edits, _, at, made, matcher = heapq.heappop(queue)
            if at == self.end and made and made not in found and self._fits(matcher):
                found.add(made)
                yield made, edits
                continue
            if (at, matcher.state) in seen:
                continue
            seen.add((at, matcher.state))
            for cost, after, added in self._moves(at, matcher):
                data = added.encode()
                if edits + cost > most:
                    continue
                moved = matcher.copy()
                if moved.accept_bytes(data) == len(data):
                    heapq.heappush(queue, (edits + cost, next(order), after, made + added, moved))

    def _fits(self, matcher: Matcher) -> bool:
        """Whether the rest of the text can follow, as far as its next character shows."""
        ahead = _AHEAD.match(self.text, self.end, self.end + LOOK)
        following = ahead[0].encode() if ahead else b""
        return matcher.copy().accept_bytes(following) == len(following)

    def _moves(self, at: int, matcher: Matcher) -> Iterator[tuple[int, int, str]]:
        """Yield (edits, next place, characters put in)."""
        here = self.text[at : self.end]
        following = [chr(byte) for byte in matcher.next_bytes() if 0x20 <= byte < 0x7F]
        if here:
            yield 0, at + 1, here[0]
            yield from (
                (1, at + 1, each) for each in {here[0].lower(), here[0].upper()} - {here[0]}
            )
            yield 1, at + 1, ""
        if len(here) > 1:
            yield 1, at + 2, here[1] + here[0]
        if len(following) <= MOST_OPTIONS:
            yield from ((1, at, each) for each in following)
            if here:
                yield from ((1, at + 1, each) for each in following if each != here[0])
