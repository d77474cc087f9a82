from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from maskwright.automaton.leaf.rows import LeafRows
from maskwright.vocab.trie import Trie

# The kind of a token's text.
NONE: Final = 0
ASCII: Final = 1
BEYOND: Final = 2
"""Characters, some of them outside ASCII; the last one may be incomplete."""
BROKEN: Final = 3
"""It begins within a character, or is not UTF-8."""

# Bits of `Subtrees.low`.
BEYOND_ASCII: Final = 0
"""The bit of all characters outside ASCII, in place of a control character's."""
SPECIAL: Final = 1
"""The bit of what always has to be walked: escapes, quotes, text that is not UTF-8."""

def classify(
    rows: LeafRows,
    trie: Trie,
    leaf: int,
    stays: npt.NDArray[np.uint8],
    characters: npt.NDArray[np.int32],
    /,
) -> int:
    """What each token does from `leaf`, by that leaf's automaton alone.

    `stays[token]`: 1 if the token stays inside the leaf, 2 if it passes a state where the leaf can
    be left, else 0. `characters[token]`: how often it passes `leaf` itself, the state between two
    characters. Returns a state whose row is missing, or `DEAD` when done.
    """

def most_characters(trie: Trie, allowed: npt.NDArray[np.uint8], /) -> int:
    """The most characters on a way through the trie on which each begins with a byte that is 1 in
    `allowed` [256]; all that follows a backslash counts as allowed, and each byte of an escape as a
    character."""

class Texts(NamedTuple):
    """The characters of texts, in the order of the texts' bytes."""

    token: npt.NDArray[np.int32]
    """The token of each text."""
    low: npt.NDArray[np.uint64]
    high: npt.NDArray[np.uint64]
    """The ASCII characters of each text, as in `CharacterSet`."""
    kind: npt.NDArray[np.uint8]
    """What it is: see `ASCII` and the others."""
    begins: npt.NDArray[np.int32]
    """[257]: the first text that begins with each byte, or the first one after them."""

def in_order(trie: Trie, /) -> npt.NDArray[np.int32]:
    """The tokens of a trie by their texts."""

def texts_of(
    data: npt.NDArray[np.uint8],
    start: npt.NDArray[np.int64],
    order: npt.NDArray[np.int32],
    skipped: int,
    /,
) -> Texts:
    """The texts of the tokens in `order`, without the first `skipped` bytes of each; see
    `Spelling`."""

def divide(
    texts: Texts,
    first: npt.NDArray[np.uint8],
    later_low: int,
    later_high: int,
    beyond: bool,
    allowed: npt.NDArray[np.int32],
    /,
) -> npt.NDArray[np.int32]:
    """Set in the row `allowed` the tokens of texts that stay within a run, and return the others
    that begin with a byte with which a run begins.

    `first` [256]: 1 for such a byte. `later_low`, `later_high` and `beyond`: the characters with
    which it continues, as in `CharacterSet`.
    """

class Subtrees:
    """The characters and tokens in each subtree of a trie, so that a walk can take one as a whole.

    If a state of a string has a transition to itself with every character in a subtree, all tokens
    of the subtree are allowed. The subtree of a node is the node itself and all nodes below it.
    """

    def __init__(self, trie: Trie, stays: npt.NDArray[np.bool_], /) -> None:
        """`stays` [V]: the tokens that stay inside a string of any characters."""
    @property
    def trie(self) -> Trie: ...
    @property
    def low(self) -> npt.NDArray[np.uint64]: ...
    @property
    def high(self) -> npt.NDArray[np.uint64]:
        """By node, the characters in the subtree: bit n of `low` for n < 64, of `high` for
        n - 64."""
    @property
    def height(self) -> npt.NDArray[np.int32]:
        """By node, bytes of the longest path through the subtree."""
    @property
    def first(self) -> npt.NDArray[np.int32]:
        """[nodes + 1]: the place in `order` at which the subtree's tokens begin. They end at that
        of the node after the subtree."""
    @property
    def order(self) -> npt.NDArray[np.int32]:
        """All tokens, in the order of the trie."""
