from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from maskwright.automaton.leaf.character_arrays import CharacterArrays
from maskwright.mask.ready_rows.product import LanguageProduct
from maskwright.mask.ready_rows.tokens import Subtrees

TOO_MUCH: Final = 32767
"""The need of a token that does not stay inside, or needs more than any bound leaves."""

class Measure(NamedTuple):
    """Bounds on the characters of a string, and what says whether they can be kept."""

    fewest: npt.NDArray[np.int32]
    """[lengths, states], see `CharacterDfa.fewest`; no rows where nothing is bounded."""
    least: int
    most: int
    begun: int = 0
    """What has been counted before the walk."""
    beyond: int = 1
    """What a character outside ASCII counts."""
    between: npt.NDArray[np.int32] = ...
    """Characters after which counting begins anew."""

class Unwalked:
    """What a walk for a row has left out, since transitions were not known: where it goes on."""

def walk_string(
    subtrees: Subtrees,
    characters: CharacterArrays,
    measure: Measure,
    state: int,
    part: int,
    value: int,
    out: npt.NDArray[np.int32],
    missing: npt.NDArray[np.int32],
    plain: bool,
    product: LanguageProduct | None,
    rest: Unwalked,
    /,
) -> tuple[int, int]:
    """Write to `out` (int32 words) the tokens that stay inside a string from `state` on, in a
    character whose `part` and `value` have been read. `plain`: the string is text without quotes
    and escapes. `product`: where transitions are found that are not known.

    Returns how often a state was met whose transitions are not known (`missing` lists some of these
    states, other elements stay as they are; `out` is not complete then), and how many characters a
    string must have room for so that each of these tokens can be followed by an end. When the
    transitions have been found, the same call with the same `rest`, which is new at first, walks
    what is left; it begins anew where characters are bounded, or in a product.
    """

def walk_room(
    subtrees: Subtrees,
    characters: CharacterArrays,
    measure: Measure,
    state: int,
    part: int,
    value: int,
    needs: npt.NDArray[np.int16],
    missing: npt.NDArray[np.int32],
    plain: bool,
    /,
) -> int:
    """Write the room that each token needs from `state` on to `needs` ([V], `TOO_MUCH` before): how
    many characters a string whose characters are counted or weighed must have room for, so that an
    end can follow the token. The rows under all bounds follow from it: a row has the tokens that
    need no more than its bound. Otherwise as `walk_string`.

    Where counting begins anew within a token, the room is that up to there, and the rest of the
    token must keep the bound of `measure`, which has no least count. Returns how often a state was
    met whose transitions are not known.
    """
