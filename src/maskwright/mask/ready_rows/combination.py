"""The automaton of the strings that exactly one of several languages contains, for walks.

See `mask.ready_rows.product`, whose tables are kept here.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from maskwright.automaton.leaf.character_arrays import (
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
from maskwright.immutable import Immutable
from maskwright.limits import CHEAP, spend
from maskwright.mask.ready_rows.product import LACKING, LanguageProduct

FEWEST: Final = 4
"""Parts from which on a product is made; with fewer, an automaton of terms has few states too."""
MOST: Final = 64
"""Parts up to which a product is made."""

_PER_STATE: Final = 8
"""Steps as which a state counts, for its memory."""
_ROOM: Final = 1 << 13
"""States for which there is room at first. Memory that is not written to is not taken."""
_AHEAD: Final = 256
"""States of parts found before the first walk."""


class Exclusive(Immutable):
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
        self._product: Final = LanguageProduct(width, _ROOM)
        self.arrays = _states(_ROOM, parts)

    @property
    def width(self) -> int:
        """How many languages are read side by side at most."""
        return self._product.width

    @property
    def nbytes(self) -> int:
        """Bytes of all tables, as far as they are used."""
        by_vector = 4 * self.width + 28  # with the table of slots
        by_state = 4 * (128 + self.arrays.beyond.shape[1]) + 24
        used = self._product.vectors * by_vector + self._product.states * by_state
        return self._characters.nbytes + used

    def knows(self, language: Exclusive) -> bool:
        """Whether a language has a part that is known here, and few enough."""
        parts = language.parts - {ANYTHING}
        return len(language.parts) <= self.width and any(map(self._parts.knows, parts))

    def state(self, language: Exclusive) -> int:
        """The state at which a language begins; `NOWHERE` if it has no string."""
        options = sorted(map(self._parts.add, filter(is_live, language.options)))
        excluded = sorted({self._parts.add(part) for part in language.excluded if is_live(part)})
        self._parts.explore(max(0, _AHEAD - len(self._parts.found)))
        self.update()
        while True:
            state = self._product.state(options, excluded)
            if state != LACKING:
                return state
            self.provide()

    @property
    def farthest(self) -> int:
        """An upper bound on the bytes, as JSON spells them, from any state met so far to an end."""
        return self._product.farthest

    def update(self) -> tuple[CharacterArrays, LanguageProduct]:
        """Take over what has been found of the parts; returns the states and the product."""
        parts = self._characters.update()
        terms, found = self._parts.terms, len(self._parts.found)
        if found != self._columns:
            known = self._parts.found
            beside = np.hstack([parts.ascii[known], parts.beyond[known]])
            _, samples, column = np.unique(beside, axis=1, return_index=True, return_inverse=True)
            column = column.reshape(-1).astype(np.int32)
            accepting = np.array([term.nullable for term in terms], np.uint8)
            self._product.take_parts(
                parts, accepting, column, samples.astype(np.int32), _widths(column)
            )
            if parts.beyond.shape[1] != self.arrays.beyond.shape[1]:
                self.arrays = _states(len(self.arrays.known), parts)  # to be found again
            else:
                self.arrays = replace(self.arrays, start=parts.start, of_interval=parts.of_interval)
            self._columns = found
        return self.arrays, self._product

    def provide(self) -> None:
        """Provide what a walk or a search lacked: transitions of parts, or room."""
        lacking = self._product.take_lacking()
        self.count()
        for state in lacking:
            self._parts.find(state)
        if lacking:
            self._parts.explore(max(_AHEAD, len(self._parts.found) // 4))
        if self._product.full:
            self._enlarge()
        self.update()

    def count(self) -> None:
        """Count the work since the last call. Raises `LimitError`."""
        worth = float(self._product.states * _PER_STATE + self._product.vectors * 8 * CHEAP)
        steps, self._spent = worth - self._spent, worth
        spend(steps)

    def _enlarge(self) -> None:
        product, arrays = self._product, self.arrays
        product.enlarge()
        if product.state_room > len(arrays.known):
            more = _states(product.state_room, self._characters.arrays)
            for name in ("ascii", "known", "beyond", "loop_low", "loop_high"):
                getattr(more, name)[: product.states] = getattr(arrays, name)[: product.states]
            self.arrays = more


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


def _states(room: int, parts: CharacterArrays) -> CharacterArrays:
    """The tables by state, with room for so many states, none of them found yet."""
    return CharacterArrays(
        ascii=np.zeros((room, 128), np.int32),
        known=np.full(room, UNKNOWN, np.int32),
        start=parts.start,
        of_interval=parts.of_interval,
        beyond=np.zeros((room, parts.beyond.shape[1]), np.int32),
        loop_low=np.zeros(room, np.uint64),
        loop_high=np.zeros(room, np.uint64),
    )
