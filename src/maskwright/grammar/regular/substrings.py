"""The substrings of a document, as a regular language whose automaton is read off the document.

A state is the set of the document's places at which reading may stand: it begins as all places
where a substring may begin, and each character keeps those that it is found at. Nothing is built
ahead of need, and equal sets are one state, so that what is explored is the suffix automaton
(Blumer et al., 1985).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, Literal, get_args

import numpy as np
import numpy.typing as npt

from maskwright.grammar.regular.terms import EMPTY, EPSILON, Regular, alt, state
from maskwright.limits import spend

Unit = Literal["char", "word", "line"]
UNITS: Final = get_args(Unit)

Places = npt.NDArray[np.int32]

_WORD: Final = re.compile(r"\w+|[^\w\s]")
_LINE: Final = re.compile(r"[^\n]+")
_MOST_COMPARED: Final = 4096
"""Larger sets of places are not compared with others: they lie near the start, and differ."""


@lru_cache(maxsize=16)
def substrings(document: str, unit: Unit) -> Regular:
    """The non-empty substrings that are made of whole units.

    A "word" is a run of letters, digits and underscores or one other character that isn't a space;
    a substring of words begins and ends with one, and holds what the document has between them. A
    "line" lacks the line break at its end.
    """
    if unit == "char":
        size = len(document)
        return _between(document, np.arange(size), np.arange(1, size + 1))
    pieces = _WORD if unit == "word" else _LINE
    spans = np.array([found.span() for found in pieces.finditer(document)], np.int64)
    spans = spans.reshape(-1, 2)
    return _between(document, spans[:, 0], spans[:, 1])


def joined_chunks(chunks: Sequence[str]) -> Regular:
    """The texts of runs of neighbouring `chunks`; of no chunk, too."""
    ends = np.cumsum([0, *map(len, chunks)])
    return alt(EPSILON, _between("".join(chunks), ends[:-1], ends[1:]))


def _between(document: str, starts: npt.NDArray[np.int64], ends: npt.NDArray[np.int64]) -> Regular:
    """The substrings from one of `starts` to one of `ends` after it."""
    if not len(starts) or int(ends[-1]) <= int(starts[0]):
        return EMPTY
    return _Document(document, ends).at(starts.astype(np.int32), begun=False)


class _Document:
    def __init__(self, text: str, ends: npt.NDArray[np.int64]) -> None:
        self.characters = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
        self.may_end = np.zeros(len(text) + 1, np.bool_)
        self.may_end[ends] = True
        self.last_end = int(ends.max())
        self.text = text
        at = np.arange(len(text) + 1)
        self.next_end = np.minimum.accumulate(np.where(self.may_end, at, len(text) + 1)[::-1])[::-1]

    def at(self, places: Places, *, begun: bool) -> Regular:
        """The state of standing at one of `places`."""
        key: object = places.tobytes() if len(places) <= _MOST_COMPARED else object()
        nullable = begun and bool(self.may_end[places].any())
        return state(
            (self, begun, key),
            nullable,
            lambda: self.moves(places),
            plain=True,
            shortest=lambda: self.shortest(places, begun=begun),
        )

    def moves(self, places: Places) -> list[tuple[int, int, Regular]]:
        """The characters found at `places`, each with the state after it."""
        places = places[places < self.last_end]
        characters = self.characters[places]
        spend(1 + len(places) // 256)
        order = np.argsort(characters, kind="stable")
        places, characters = places[order] + 1, characters[order]
        cuts = np.flatnonzero(np.diff(characters)) + 1
        return [
            (int(self.characters[group[0] - 1]), int(self.characters[group[0] - 1]), target)
            for group in np.split(places, cuts)
            if len(group)
            for target in [self.at(group, begun=True)]
        ]

    def shortest(self, places: Places, *, begun: bool) -> str:
        """The shortest text from one of `places` to an end."""
        places = places[places < self.last_end]
        ends = self.next_end[places + (not begun)]
        nearest = int(np.argmin(ends - places))
        return self.text[int(places[nearest]) : int(ends[nearest])]
