from collections import defaultdict
from typing import Final

from maskwright.automaton.leaf.keys import Key
from maskwright.automaton.leaf.rows import LeafRows

class LeafStates:
    """The numbers of leaf states, and the rows of those in the spelling of a term.

    A class below it says with `state` which number any key has, with `keys` what each state stands
    for, with `trunk_of` which row that of a place in a list of words differs from in few bytes, and
    builds with `build_other` what is no place in a text, and no choice.
    """

    count: int
    weight: int
    """How many states there are, in terms of what one takes that was made alone."""
    rows: Final[LeafRows]
    known: Final[list[Key | None]]
    """What each state stands for; None where that is found out when it is asked for."""
    ids: Final[defaultdict[type[Key], dict[Key, int]]]
    """The numbers of keys, by their types: keys of two types may be equal."""

    def __init__(self) -> None: ...
    def state(self, key: Key, /) -> int:
        """The state of `key`, new if need be."""
    def new_state(self, key: Key, /) -> int:
        """Give a key the next number."""
    def skipped(self, part: int, target: int, /) -> int:
        """The state of `Skipped`, which has the gate of its target; the target itself where no
        part of the character is left."""
    def build(self, state: int, /) -> None:
        """Give `state` its row, if it has none."""
