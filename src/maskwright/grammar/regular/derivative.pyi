"""From terms to automata: transitions, labels and emptiness of a `Regular`.

`split(term)` has the Brzozowski derivatives of a term for all characters at once, by classes of
characters, and `arcs(term)` as disjoint ascending ranges; only living targets are kept, so that a
state without arcs that is not nullable never appears. Each result is stored in the term. Texts that
are read side by side, as a leaf of a grammar reads them, are `Parallel`.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from maskwright.grammar.regular.character_dfa import CharacterDfa
from maskwright.grammar.regular.overlay import Arc, Split
from maskwright.grammar.regular.terms import Parallel, Regular

REMEMBERED: Final = 1 << 17
"""Transitions that are kept for the next time that they are asked for."""
MOST_SIFTED: Final = 64
"""Words of a list that are looked at one by one where it is intersected."""

Label = int | tuple[int, ...]

def parallel_start(terms: Sequence[Regular], ahead: Sequence[int] | None, /) -> Regular:
    """The start of `terms`; `ahead` are the bytes with which the text may go on after each, None
    where that isn't known."""

def reading_on(term: Parallel, living: Mapping[int, Regular], /) -> Regular:
    """`term` with what is left of its parts; those that aren't among `living` have died."""

def arcs(term: Regular, /) -> tuple[Arc, ...]:
    """Transitions (low, high, target), inclusive, disjoint, ascending, to living targets only."""

def split(term: Regular, /) -> Split:
    """The transitions of a term to living targets, by classes of characters."""

def first_bytes(term: Regular, /) -> int:
    """The bytes with which the strings of a language begin in UTF-8, as one int: bit n for byte
    n."""

def transitions(term: Regular, /) -> tuple[Arc, ...]:
    """All transitions by ranges, also those to targets that may turn out to be dead."""

def label(term: Regular, /) -> Label:
    """What reading up to here has matched; 0 is nothing.

    1 for a nullable term; for a `Tagged` a tuple with one entry a part: 1 where the part is
    nullable, for the `Words` part of a named term 1 + the index of the word.
    """

def is_live(term: Regular, limit: int = ...) -> bool:
    """Whether the language of `term` has any string."""

def contains(term: Regular, text: str, /) -> bool:
    """Whether `text` is in the language."""

def common(*parts: Regular) -> Regular:
    """The intersection of `parts`; of a short list of words those that are in the other parts."""

def derivative(term: Regular, text: str, /) -> Regular:
    """What may follow after `text`; `EMPTY` if nothing may."""

def all_transitions(term: Regular, /) -> Split:
    """All transitions, also those to targets that may turn out to be dead."""

class Remembered:
    """The terms that know their transitions or their automaton, the latest last.

    Transitions lead back to the term that has them, and terms are hidden from the collector of
    garbage (see `garbage`): they are freed once they are forgotten here and used nowhere else.
    """

    terms: deque[Regular]
    sizes: deque[int]
    size: Final[int]
    """Of all terms, as `add` was given them."""

    def __init__(self) -> None: ...
    def add(self, term: Regular, size: int, /) -> None:
        """Remember a term; forget the earliest while all are larger than `REMEMBERED`."""
    def clear(self) -> None:
        """Forget all terms."""
    def sweep(self) -> None:
        """Leave out the terms that know nothing any more."""

def made() -> int:
    """How many transitions have been worked out so far: what terms take grows with them."""

def place(term: Regular, /) -> tuple[CharacterDfa, int]:
    """The automaton in which `term` is a state, and its number there.

    One that is made for it lives until the term's transitions are forgotten.
    """

def known_string(term: Regular, /) -> str | None:
    """A short string of an `ExactlyOne` or an `Intersection`, within bounds on its length or not,
    if one is found without a search; None for other terms. Reading it takes the automata of the
    parts alone, and not that of their combinations."""

def known_strings(term: Regular, /, *, padded: bool) -> Iterator[str]:
    """All strings that `known_string` may find; without `padded`, only those of which no part is
    repeated to make them long enough."""

def let_go(terms: Iterable[Regular], /) -> None:
    """Forget the transitions of terms that a search met which ended at a limit, and of the other
    states of their automata: the targets live as long as they do, and may be hundreds of thousands.
    They are worked out anew if they are asked for again."""

def forget_transitions() -> None:
    """Forget the transitions of all terms, which are worked out anew where they are asked for."""

def shortest_length(term: Regular, /) -> tuple[int | None, bool | None]:
    """The length of the shortest string, None if there is none or it isn't known; whether there is
    one, None if it isn't known."""

def split_length_bounds(term: Regular, /) -> tuple[Regular, int, int | None]:
    """A term without its length bounds, and these."""
