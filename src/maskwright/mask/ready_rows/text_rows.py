"""Ready rows of plain text in which one set of characters may be repeated any number of times.

Examples are identifiers, words and the inside of a quoted string. A token with characters of the
set only continues the text, in every context. These tokens are found by their characters. The other
tokens that begin with a character of the set have a trie of their own, and only they are walked.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from maskwright.grammar.regular.charset import LAST
from maskwright.grammar.regular.derivative import split
from maskwright.grammar.regular.overlay import Split
from maskwright.grammar.regular.terms import (
    EMPTY,
    EPSILON,
    Alt,
    Chars,
    Complement,
    Concat,
    Intersection,
    Regular,
    Repeat,
    Words,
    alt,
    concat,
    intersection,
)
from maskwright.immutable import Acyclic, Immutable
from maskwright.mask.ready_rows.tokens import Texts, divide, in_order, texts_of
from maskwright.mask.walk.row_table import RowTable
from maskwright.mask.walk.walk import PrecomputedMask, Spelling
from maskwright.vocab.trie import SiblingTrie, Trie

FEWEST: Final = 12
"""The fewest characters of a set for which a row is computed."""


class CharacterSet(Acyclic):
    """A set of characters: bit n of `low` for n < 64, bit n - 64 of `high` for 64 <= n < 128.
    `beyond`: whether it contains all characters outside ASCII, or none."""

    low: int
    high: int
    beyond: bool

    @property
    def size(self) -> int:
        return self.low.bit_count() + self.high.bit_count() + 128 * self.beyond

    def within(self, other: CharacterSet) -> bool:
        return (
            self.low & ~other.low == 0
            and self.high & ~other.high == 0
            and other.beyond >= self.beyond
        )


class CharacterRun(Acyclic):
    """Texts of one character of `first` and then any number of characters of `later`."""

    first: CharacterSet
    later: CharacterSet


def widest_run(term: Regular) -> CharacterRun | None:
    """The run with the largest set of characters with which a text may go on."""
    if following(term) < FEWEST:
        return None
    found = split(_without_exceptions(term, {}))
    best: CharacterRun | None = None
    for target in found.targets:
        first = _letters(found, target)
        if first.size < (FEWEST if best is None else best.first.size + 1):
            continue
        later = _letters(split(target), target)
        if first.within(later):
            best = CharacterRun(first, later)
    return best


def following(term: Regular) -> int:
    """How many characters of ASCII a text may go on with, and 128 more if there are others: at
    least the size of its widest run."""
    found = split(term)
    return sum(high - low + 1 for low, high, _ in found.ascii) + 128 * bool(found.beyond)


def _without_exceptions(term: Regular, known: dict[Regular, Regular]) -> Regular:
    """`term` without the finitely many texts that are excluded at its end, as key words are no
    names.

    It has the same runs as `term`: a text in a run can be continued in it for ever, and so beyond
    the longest text that is excluded, or else it is all within what comes before that part of the
    term.

    `known`: what was found of parts of the term. Each is looked at once, since alternatives often
    end alike, and there are as many ways to an end as combinations of them.
    """
    found = known.get(term)
    if found is None:
        found = known[term] = _without_its_exceptions(term, known)
    return found


def _without_its_exceptions(term: Regular, known: dict[Regular, Regular]) -> Regular:
    match term:
        case Intersection(parts=parts):
            kept = [p for p in parts if not (isinstance(p, Complement) and _is_finite(p.body))]
            return intersection(*kept) if kept else term
        case Concat(head=head, tail=tail):
            return concat(head, _without_exceptions(tail, known))
        case Alt(options=options):
            return alt(*(_without_exceptions(option, known) for option in options))
        case _:
            return term


def _is_finite(term: Regular) -> bool:
    """Whether the form of a term shows that its language is finite."""
    match term:
        case Chars() | Words():
            return True
        case Concat():
            while isinstance(term, Concat):
                if not _is_finite(term.head):
                    return False
                term = term.tail
            return _is_finite(term)
        case Alt(options=options):
            return all(_is_finite(option) for option in options)
        case Intersection(parts=parts):
            return any(_is_finite(part) for part in parts)
        case Repeat(body=body, most=most):
            return most is not None and _is_finite(body)
        case _:
            return term is EMPTY or term is EPSILON


_ALL: Final = (1 << 64) - 1
_BEYOND: Final = (((0x80, LAST),), ((0x80, 0xD7FF), (0xE000, LAST)))
"""All characters outside ASCII; surrogates are in no text."""


def _letters(found: Split, target: Regular) -> CharacterSet:
    """Return the characters that lead to `target`."""
    bits = 0
    for low, high, after in found.ascii:
        if after is target:
            bits |= (1 << (high + 1)) - (1 << low)
    every = any(after is target and some.ranges in _BEYOND for some, after in found.beyond)
    return CharacterSet(bits & _ALL, bits >> 64, every)


class TokenTexts(Immutable):
    """The characters of the tokens of one vocabulary."""

    whole: Texts
    """Of every token."""
    after_space: Texts
    """Of what follows the space in tokens that begin with one."""

    @classmethod
    def of(cls, trie: Trie, spelling: Spelling) -> TokenTexts:
        order = in_order(trie)
        whole = texts_of(spelling.data, spelling.start, order, 0)
        spaced = order[whole.begins[0x20] : whole.begins[0x21]]
        longer = spelling.start[spaced + 1] - spelling.start[spaced] > 1
        return cls(whole, texts_of(spelling.data, spelling.start, spaced[longer], 1))


class _Divided(Immutable):
    """The tokens that begin with the first byte of a run."""

    allowed: npt.NDArray[np.int32]
    """A row of the tokens that stay within the run."""
    rest: SiblingTrie
    """The others."""
    first: npt.NDArray[np.uint8]
    """uint8 [256]: 1 for these bytes."""


class TextRows:
    """The ready rows of plain text of one vocabulary, each computed when it is first needed."""

    def __init__(
        self,
        texts: TokenTexts,
        spelling: Spelling,
        twin: npt.NDArray[np.int32],
        table: RowTable,
    ) -> None:
        """`twin` is that of the trie of all tokens."""
        self._table = table
        self._spelling = spelling
        self._twin = twin
        self._texts = texts
        self._runs: dict[Regular, CharacterRun | None] = {}
        self._known: dict[tuple[CharacterRun | None, CharacterRun | None], PrecomputedMask] = {}
        self._divided: dict[tuple[CharacterRun, bool], _Divided] = {}
        """By run, and whether it comes after a space."""

    def run(self, parts: tuple[Regular, ...]) -> CharacterRun | None:
        """Return the run with the most characters with which one of `parts` may continue."""
        best: CharacterRun | None = None
        for part in parts:
            if part not in self._runs:
                self._runs[part] = widest_run(part)
            run = self._runs[part]
            if run is not None and (best is None or run.first.size > best.first.size):
                best = run
        return best

    def precomputed(self, run: CharacterRun | None, spaced: CharacterRun | None) -> PrecomputedMask:
        """Return the precomputed part of a mask if the text may continue with `run`, or with a
        space and then `spaced`."""
        if run is not None and run.first.low >> 32 & 1:
            spaced = None
        known = self._known.get((run, spaced))
        if known is None:
            known = self._known[run, spaced] = self._make(run, spaced)
        return known

    def _make(self, run: CharacterRun | None, spaced: CharacterRun | None) -> PrecomputedMask:
        allowed = np.zeros(self._table.words, np.int32)
        skipped = np.zeros(768, np.uint8)
        rests: list[SiblingTrie] = []
        for each, after_space in ((run, False), (spaced, True)):
            if each is not None:
                divided = self._divide(each, after_space)
                allowed |= divided.allowed
                skipped[256 * after_space :][:256] = divided.first
                rests.append(divided.rest)
        return PrecomputedMask(self._table.ready(allowed), tuple(rests), skipped)

    def _divide(self, run: CharacterRun, after_space: bool) -> _Divided:
        known = self._divided.get((run, after_space))
        if known is None:
            allowed, first = np.zeros(self._table.words, np.int32), np.zeros(256, np.uint8)
            _mark_first_bytes(run.first, first)
            texts = self._texts.after_space if after_space else self._texts.whole
            later = run.later
            others = divide(texts, first, later.low, later.high, later.beyond, allowed)
            data, start = self._spelling.data, self._spelling.start
            rest = SiblingTrie.of(Trie.of_ordered(data, start, others, self._twin))
            rest.note_run(run.later.low, run.later.high, after_space)
            known = self._divided[run, after_space] = _Divided(allowed, rest, first)
        return known


def _mark_first_bytes(letters: CharacterSet, found: npt.NDArray[np.uint8]) -> None:
    """Set `found` (uint8 [256]) to 1 for the bytes with which one of the characters begins."""
    bits = letters.high << 64 | letters.low
    found[[point for point in range(128) if bits >> point & 1]] = 1
    if letters.beyond:
        found[0xC2:0xF5] = 1
