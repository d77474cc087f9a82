"""Allowed texts: those with which a text can go on, and those that are most like a wrong one, which
its author may have meant.

The latter are found by a best-first search over the edits of the word around the fault (characters
left out, put in, replaced or exchanged with their neighbour), as for spelling correction: Wagner
and Fischer 1974, over the texts of a grammar instead of one other text.
"""

from __future__ import annotations

import heapq
import itertools
import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Final, NamedTuple

from maskwright.mask import Grammar, Matcher
from maskwright.workbench.characters import next_characters
from maskwright.workbench.place import reads_json

MOST_CHOICES: Final = 16
"""Characters that may come next up to which the text that each of them forces is looked at."""
LONGEST: Final = 80
"""Characters of a forced text that are looked at."""

_ESCAPE: Final = re.compile(rb"\\.", re.DOTALL)
_JSON_SPACE: Final = " \t\r\n"


class _Run:
    """A text that is extended for as long as there is nothing to choose.

    In JSON nearly every place allows white space, and every letter of a listed name an escape. A
    person is helped by neither, so they don't count as choices where there are others.
    """

    def __init__(self, matcher: Matcher, in_json: bool, in_string: bool) -> None:
        self.matcher = matcher.copy()
        self.in_json = in_json
        self.in_string = in_string
        self.text = ""

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

    def copy(self) -> _Run:
        twin = _Run(self.matcher, self.in_json, self.in_string)
        twin.text = self.text
        return twin


class Continuations(NamedTuple):
    """How a text can go on: first `forced`, then one of `options`, each up to the next choice.
    `options` is empty where there are more than `MOST_CHOICES` or, if the text may end, none."""

    forced: str
    options: tuple[str, ...]


def continuations(matcher: Matcher, text: bytes) -> Continuations:
    """How `text`, which the matcher has read, can go on."""
    in_json = reads_json(matcher)
    in_string = in_json and _ESCAPE.sub(b"", text).count(b'"') % 2 == 1
    run = _Run(matcher, in_json, in_string)
    options = run.go_on() or []
    branches: list[str] = []
    for option in options:
        branch = run.copy()
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
