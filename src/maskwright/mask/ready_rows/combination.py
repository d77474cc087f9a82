"""The automaton of languages of which exactly one must contain a string, for walks over the trie.

See `mask.ready_rows.product`, whose tables are kept here.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from maskwright.automaton.leaf.character_arrays import (
    NOWHERE,
    UNKNOWN,
    CharacterArrays,
    Characters,
)
from maskwright.grammar.regular.character_dfa import CharacterDfa
from maskwright.grammar.regular.derivative import is_live, split
from maskwright.grammar.regular.terms import (
    ANYTHING,
    EMPTY,
    Alt,
    Complement,
    ExactlyOne,
    Intersection,
    Regular,
)
from maskwright.limits import CHEAP, spend
from maskwright.mask.ready_rows.product import (
    ALIVE,
    COUNTS,
    FULL,
    LACKING,
    LISTED,
    STATES,
    UNKNOWN_PARTS,
    VECTORS,
    ProductArrays,
    decide,
    farthest_end,
    intern_vector,
    numbered,
    rehash,
)

FEWEST: Final = 4
"""Parts from which on a product is made; with fewer, an automaton of terms has few states too."""
MOST: Final = 64
"""Parts up to which a product is made."""

_PER_STATE: Final = 8
"""Steps as which a state counts, for its memory."""
_ROOM: Final = 1 << 13
"""States for which there is room at first. Memory that is not written to is not taken."""
_LISTED: Final = 1024
"""States of parts found at once."""
_AHEAD: Final = 256
"""States of parts found before the first walk."""


class Exclusive(NamedTuple):
    """A language as the strings of exactly one of `options` and of none of `excluded`."""

    options: tuple[Regular, ...]
    excluded: tuple[Regular, ...]

    @property
    def parts(self) -> set[Regular]:
        """All options and all that is excluded."""
        return {*self.options, *self.excluded}


def exclusive(term: Regular) -> Exclusive | None:
    """Return a term as its options and what they exclude; None if it does not have this form, or so
    few or many of them that an automaton of terms serves as well."""
    match term:
        case ExactlyOne(options=options, excluded=excluded):
            found = Exclusive(options, _alternatives(excluded))
        case Complement(body=body):
            found = Exclusive((ANYTHING,), _alternatives(body))
        case Intersection(parts=parts):
            bodies = [part.body for part in parts if isinstance(part, Complement)]
            if len(bodies) < len(parts) - 1:
                return None
            options = tuple(part for part in parts if not isinstance(part, Complement))
            excluded = tuple(each for body in bodies for each in _alternatives(body))
            found = Exclusive(options or (ANYTHING,), excluded)
        case _:
            return None
    return found if FEWEST <= len(found.parts) <= MOST else None


def _alternatives(term: Regular) -> tuple[Regular, ...]:
    if term is EMPTY:
        return ()
    return term.options if isinstance(term, Alt) else (term,)


class ProductAutomaton:
    """The tables of languages that are read side by side, and of those that come from them."""

    def __init__(self, width: int) -> None:
        """`width`: how many languages are read side by side at most."""
        self._parts = CharacterDfa(ANYTHING, split, marks=False)
        self._characters = Characters(self._parts)
        parts = self._characters.update()
        self._columns = -1
        """For how many states of the parts the columns are valid."""
        self._spent = 0.0
        self._product = ProductArrays(
            parts=parts,
            accepting=np.zeros(0, np.uint8),
            column=np.zeros(128, np.int32),
            column_beyond=np.zeros(2, np.int32),
            samples=np.zeros(0, np.int32),
            widths=np.zeros(0, np.int32),
            **_of_vectors(_ROOM, width),
            vector_of=np.zeros(_ROOM, np.int32),
            reached=np.zeros(0, np.int32),
            scratch=np.zeros((2, width + 1), np.int32),
            lacking=np.zeros(_LISTED, np.int32),
            counts=np.zeros(COUNTS, np.int64),
        )
        self.arrays = _states(_ROOM, parts)

    @property
    def width(self) -> int:
        """How many languages are read side by side at most."""
        return self._product.vectors.shape[1]

    @property
    def nbytes(self) -> int:
        """Bytes of all tables, as far as they are used."""
        counts = self._product.counts
        by_vector = 4 * self.width + 28  # with the table of slots
        by_state = 4 * (128 + self.arrays.beyond.shape[1]) + 24
        used = int(counts[VECTORS]) * by_vector + int(counts[STATES]) * by_state
        return self._characters.nbytes + used

    def knows(self, language: Exclusive) -> bool:
        """Whether a language has a part that is known here, and few enough."""
        parts = language.parts - {ANYTHING}
        return len(language.parts) <= self.width and any(map(self._parts.knows, parts))

    def state(self, language: Exclusive) -> int:
        """The state at which a language begins, which has a string."""
        options = sorted(map(self._parts.add, filter(is_live, language.options)))
        excluded = sorted({self._parts.add(part) for part in language.excluded if is_live(part)})
        self._parts.explore(max(0, _AHEAD - len(self._parts.found)))
        self.update()
        while True:
            product = self._product
            product.scratch[0, : len(options)] = options
            product.scratch[1, : len(excluded)] = excluded
            vector = intern_vector(product, len(options), len(excluded))
            assert vector != NOWHERE, "a language without strings has no row"
            if vector != LACKING and decide(product, vector) == ALIVE:
                state = numbered(product, vector)
                if state != LACKING:
                    return state
            self.provide()

    @property
    def farthest(self) -> int:
        """An upper bound on the bytes, as JSON spells them, from any state met so far to an end."""
        return farthest_end(self._product)

    def update(self) -> tuple[CharacterArrays, ProductArrays]:
        """Take over what has been found of the parts; returns the states and the product."""
        parts = self._characters.update()
        terms, found = self._parts.terms, len(self._parts.found)
        if found != self._columns:
            known = self._parts.found
            beside = np.hstack([parts.ascii[known], parts.beyond[known]])
            _, samples, column = np.unique(beside, axis=1, return_index=True, return_inverse=True)
            column = column.reshape(-1).astype(np.int32)
            accepting = np.array([term.nullable for term in terms], np.uint8)
            self._product = self._product._replace(
                parts=parts,
                accepting=accepting,
                column=column[:128],
                column_beyond=column[128:],
                samples=samples.astype(np.int32),
                widths=_widths(column),
                reached=np.zeros(len(samples), np.int32),
            )
            if parts.beyond.shape[1] != self.arrays.beyond.shape[1]:
                self.arrays = _states(len(self.arrays.known), parts)  # to be found again
            else:
                self.arrays = self.arrays._replace(start=parts.start, of_interval=parts.of_interval)
            self._columns = found
        return self.arrays, self._product

    def provide(self) -> None:
        """Provide what a walk or a search lacked: transitions of parts, or room."""
        counts, known = self._product.counts, self._product.parts.known
        lacking = self._product.lacking[: counts[UNKNOWN_PARTS]].tolist()
        counts[UNKNOWN_PARTS] = 0
        known[known == LISTED] = UNKNOWN  # finding them may be abandoned
        self.count()
        for state in lacking:
            self._parts.find(state)
        if lacking:
            self._parts.explore(max(_AHEAD, len(self._parts.found) // 4))
        if counts[FULL]:
            self._enlarge()
            counts[FULL] = 0
        self.update()

    def count(self) -> None:
        """Count the work since the last call. Raises `LimitError`."""
        counts = self._product.counts
        worth = float(counts[STATES] * _PER_STATE + counts[VECTORS] * 8 * CHEAP)
        steps, self._spent = worth - self._spent, worth
        spend(steps)

    def _enlarge(self) -> None:
        product, arrays = self._product, self.arrays
        vectors, states = int(product.counts[VECTORS]), int(product.counts[STATES])
        if 2 * vectors > len(product.vectors):
            larger = _of_vectors(2 * len(product.vectors), self.width)
            for name in ("vectors", "verdict", "far", "state_of"):
                larger[name][:vectors] = getattr(product, name)[:vectors]
            larger["met"][:, :vectors] = product.met[:, :vectors]
            product = product._replace(**larger)
            rehash(product)
        if 2 * states > len(product.vector_of):
            room = 2 * len(product.vector_of)
            vector_of = np.zeros(room, np.int32)
            vector_of[:states] = product.vector_of[:states]
            product = product._replace(vector_of=vector_of)
            more = _states(room, product.parts)
            for name in ("ascii", "known", "beyond", "loop_low", "loop_high"):
                getattr(more, name)[:states] = getattr(arrays, name)[:states]
            arrays = more
        self._product, self.arrays = product, arrays


_PLAIN: Final = np.array([point >= 0x20 and chr(point) not in '"\\\\' for point in range(128)])
"""[128]: the characters that JSON writes as they are."""
_ESCAPE: Final = 6
"""Bytes of `\\u0000`."""
_MOST_BYTES: Final = 4
"""Bytes of a character outside ASCII at most."""


def _widths(column: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """[columns]: see `ProductArrays.widths`; `column` has the column of each ASCII character and
    class of others."""
    bytes_ = np.where(_PLAIN, 1, _ESCAPE)
    widths = np.full(int(column.max()) + 1, _ESCAPE, np.int32)
    np.minimum.at(widths, column[:128], bytes_)
    np.minimum.at(widths, column[128:], _MOST_BYTES)
    return widths


def _of_vectors(room: int, width: int) -> dict[str, npt.NDArray[Any]]:
    """The tables by vector, with room for so many."""
    return {
        "vectors": np.zeros((room, width), np.int32),
        "verdict": np.zeros(room, np.int8),
        "state_of": np.zeros(room, np.int32),
        "far": np.zeros(room, np.int32),
        "slots": np.full(2 * room, NOWHERE, np.int32),
        "stack": np.zeros((2, room), np.int32),
        "met": np.zeros((2, room), np.int32),
    }


def _states(room: int, parts: CharacterArrays) -> CharacterArrays:
    """The tables by state, with room for so many, none of which has been found."""
    return CharacterArrays(
        ascii=np.zeros((room, 128), np.int32),
        known=np.full(room, UNKNOWN, np.int32),
        start=parts.start,
        of_interval=parts.of_interval,
        beyond=np.zeros((room, parts.beyond.shape[1]), np.int32),
        loop_low=np.zeros(room, np.uint64),
        loop_high=np.zeros(room, np.uint64),
    )
