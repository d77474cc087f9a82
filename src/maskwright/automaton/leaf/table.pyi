"""The leaf table: byte automata of regular leaves, built lazily, shared by all grammars.

A leaf state is an int. What it stands for is its *key*: a position in the spelling of a `Regular`
(plain UTF-8 text, or the inside of a JSON string with its escapes), a structural choice (the start
of a JSON value, a comma or a bracket), or a run of whitespace. Equal keys are one state, so two
grammars that contain the same pattern share its automaton and all that is computed from it.

Each state has a row of 256 next states (`DEAD` where there is none). States of long literals and
key tries differ from a common row in one or two bytes, so a state is a shared *base row* plus a
few *overrides*: a row that differs from another base row, its *trunk*, in only a few bytes is
stored as these differences. A state is built when it is first needed; until then it has base row
`UNBUILT`. A state with a *label* may be left: the label says what has been read.

A *gate* (low, high) marks a state from which only words low..high-1 of a list of names can be
reached: it is alive only in contexts that still allow one of them.
"""

from collections.abc import Hashable, Sequence
from typing import Final, overload

from maskwright.automaton.leaf.keys import Key
from maskwright.automaton.leaf.rows import LeafRows, Row, WordPlaces
from maskwright.grammar.regular.terms import Regular, WordList

class WordTrie:
    """The places in a list of words as leaf states, a whole list at a time.

    The first mask before a name of an object visits nearly every place in its names, since a token
    may pass through most of them, also by escapes such as `\\u00`. So all states of such a list are
    made at once, with consecutive numbers; the key of each is computed when it is asked for.
    """

    table: Final[WordList]
    others: Final[tuple[Regular, ...] | None]
    """The other parts of a named tagged term, each empty or anything; None for the words alone."""
    places: Final[WordPlaces]
    state: Final[int]
    """The first of the states: one for each place, by what has been read of a character."""
    count: Final[int]
    """How many states there are."""

class Keys(Sequence[Key]):
    """What each state stands for; keys of lists of words are made when they are asked for."""

    known: Final[list[Key | None]]

    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, state: int) -> Key: ...
    @overload
    def __getitem__(self, state: slice) -> list[Key]: ...
    def trie(self, state: int, /) -> WordTrie | None:
        """The list of words that a state was made with, if it was."""

class LeafTable:
    """Grows only; its states are valid as long as it lives."""

    count: Final[int]
    """How many states there are."""
    weight: int
    """How many there are in terms of what one takes that was made alone."""
    dead: Final[int]
    """The state after which nothing may follow."""
    rows: Final[LeafRows]
    keys: Final[Keys]
    labels: Final[list[Hashable]]
    label_ids: Final[dict[tuple[type, Hashable], int]]
    """The numbers of labels in use, by their types: labels of two types may be equal."""

    def __init__(self) -> None: ...
    def state(self, key: Key, /) -> int:
        """The state of `key`, new if need be. `Skipped` has the gate of its target."""
    def label_id(self, name: Hashable, /) -> int: ...
    def label_of(self, state: int, /) -> Hashable: ...
    def build(self, state: int, /) -> None:
        """Give `state` its row, if it has none."""
    def expand(self, state: int, most: int, /) -> None:
        """Build what can be reached from `state`, nearest first, up to `most` new rows.

        Escapes are left for when a token has one.
        """
    def first_bytes(self, state: int, order: bytes, /) -> list[tuple[int, int]]:
        """Each state that a byte of `order` leads to, once, after the first such byte."""
    def next_states(self, state: int, /) -> Row:
        """Byte → next state; the plain form of the row."""
    def after_characters(self, state: int, data: bytes, /) -> int | None:
        """The state after whole characters that need no escape, in a string of any characters up to
        a number of them; None for other data, or in another state. It needs no rows, and no states
        on the way, where there is one for each character."""
    def beside_value(self, text: int, data: bytes, /) -> int:
        """The state of a text that has come to the state `text`, by `data`, with which a JSON value
        may begin too. A text that has ended is no value."""
