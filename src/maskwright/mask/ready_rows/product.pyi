from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from maskwright.automaton.leaf.character_arrays import CharacterArrays

LISTED: Final = -3
"""In `CharacterArrays.known`: not known, and already in a list of what is lacking."""
PARTLY: Final = 1
"""In `CharacterArrays.known`: some transitions are known, the others are `UNKNOWN` in `ascii`."""
LACKING: Final = -4
"""Instead of a state: a part's transitions, or room in the tables, are lacking."""

class LanguageProduct:
    """The tables of one product. Its states are the vectors that are alive and have been met.

    Transitions are written to a `CharacterArrays` with room for `state_room` states.
    """

    def __init__(self, width: int, room: int, /) -> None:
        """`width`: most entries of a vector. `room`: for so many vectors and states, a power of
        two."""
    def take_parts(
        self,
        parts: CharacterArrays,
        accepting: npt.NDArray[np.uint8],
        column: npt.NDArray[np.int32],
        samples: npt.NDArray[np.int32],
        widths: npt.NDArray[np.int32],
        /,
    ) -> None:
        """Take over what has been found of the parts.

        `accepting` [parts' states]: 1 where a string may end. `column` [128 + classes]: the column
        of each ASCII character, and of each class of others; all parts treat the characters of a
        column alike. By column: `samples`, an ASCII character of it, or 128 and a class; `widths`,
        bytes of its shortest character, as JSON spells it.
        """
    @property
    def width(self) -> int: ...
    @property
    def vectors(self) -> int:
        """How many there are."""
    @property
    def states(self) -> int:
        """How many there are."""
    @property
    def state_room(self) -> int:
        """For how many there is room."""
    full: bool
    """Whether the tables were too small."""
    @property
    def farthest(self) -> int:
        """An upper bound on the bytes, as JSON spells them, from any state to an end."""
    def enlarge(self) -> None:
        """Make as much room again of what is more than half full."""
    def take_lacking(self) -> list[int]:
        """The states of parts whose transitions were lacking, which are forgotten here."""
    def state(self, options: Sequence[int], excluded: Sequence[int], /) -> int:
        """The state of strings of exactly one of `options` and none of `excluded`, each states of
        the parts, ascending; `NOWHERE` if there is no such string, `LACKING`."""
    def entries(self, state: int, /) -> list[int]:
        """The vector of a state: options, then the complements of what is excluded."""
    def accepts(self, state: int, /) -> bool:
        """Whether a string may end at a state."""
    def far(self, state: int, /) -> int:
        """An upper bound on the bytes, as JSON spells them, from a state to an end."""
    def begin_state(self, states: CharacterArrays, state: int, /) -> bool:
        """Write to `states` with which characters a state stays as it is; the other transitions are
        found when they are asked for (`PARTLY`). False if something is lacking."""
    def find_target(self, states: CharacterArrays, state: int, byte: int, /) -> int:
        """The state after an ASCII character, which is written to `states`; `NOWHERE`, or
        `LACKING`."""
    def find_state(self, states: CharacterArrays, state: int, /) -> bool:
        """Find all transitions of a state that has been begun, and write them to `states`; False if
        something is lacking."""
