"""The allowed texts that are most like one that isn't: what its author may have meant.

A best-first search over the edits of the word around the fault (characters left out, put in,
replaced or exchanged with their neighbour), as for spelling correction: Wagner and Fischer 1974,
over the texts of a grammar instead of one other text.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Final, NamedTuple

from maskwright.mask import Grammar, Matcher
from maskwright.workbench.continuations import continuations

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
        for by, edits in itertools.islice(_EditSearch(text, begin, end).run(matcher), MOST_FOUND)
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


class _EditSearch:
    """Edits `text[begin:end]`."""

    def __init__(self, text: str, begin: int, end: int) -> None:
        self._text = text
        self._begin = begin
        self._end = end
        self._most = min(MOST_EDITS, max(1, (end - begin) // 2))

    def run(self, start: Matcher) -> Iterator[tuple[str, int]]:
        """Yield texts with their number of edits, in ascending order."""
        order = itertools.count()
        queue = [(0, next(order), self._begin, "", start)]
        seen: set[tuple[int, tuple[int, ...]]] = set()
        found: set[str] = set()
        for _ in range(MOST_STATES):
            if not queue:
                return
            edits, _, at, made, matcher = heapq.heappop(queue)
            if at == self._end and made and made not in found and self._fits(matcher):
                found.add(made)
                yield made, edits
                continue
            if (at, matcher.state) in seen:
                continue
            seen.add((at, matcher.state))
            for cost, after, added in self._moves(at, matcher):
                data = added.encode()
                if edits + cost > self._most:
                    continue
                moved = matcher.copy()
                if moved.accept_bytes(data) == len(data):
                    heapq.heappush(queue, (edits + cost, next(order), after, made + added, moved))

    def _fits(self, matcher: Matcher) -> bool:
        """Whether the rest of the text can follow, as far as its next character shows."""
        rest = self._text[self._end : self._end + LOOK].lstrip(" ")[:1] or self._text[self._end :]
        if not rest:
            return True
        moved = matcher.copy()
        following = self._text[self._end : self._end + LOOK].partition(rest)[0] + rest
        return moved.accept_bytes(following.encode()) == len(following.encode())

    def _moves(self, at: int, matcher: Matcher) -> Iterator[tuple[int, int, str]]:
        """Yield (edits, next place, characters put in)."""
        here = self._text[at : self._end]
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
