from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

NO_TOKEN: Final = -1
LONG: Final = 512
"""Length in bytes from which on a text's tokens are bounded by its bytes instead of counted."""

class Trie(NamedTuple):
    """A prefix tree of tokens, laid out depth first; each array but `twin` has one entry a node."""

    byte: npt.NDArray[np.uint8]
    depth: npt.NDArray[np.int16]
    """The number of bytes from the beginning of a token up to the node's own."""
    skip: npt.NDArray[np.int32]
    """The first node after the subtree."""
    token: npt.NDArray[np.int32]
    """The token that ends at the node, or `NO_TOKEN`."""
    twin: npt.NDArray[np.int32]
    """[V]: the next token with equal bytes, or `NO_TOKEN`."""

    @property
    def height(self) -> int:
        """The length of the longest token in bytes."""
    @classmethod
    def build(cls, tokens: Sequence[bytes], chosen: Sequence[int] | None = None) -> Trie:
        """The trie of all non-empty tokens, or of the `chosen` ids: a sort, then O(total bytes)."""
    @classmethod
    def of_ordered(
        cls,
        data: npt.NDArray[np.uint8],
        start: npt.NDArray[np.int64],
        ids: npt.NDArray[np.int32],
        twin: npt.NDArray[np.int32],
    ) -> Trie:
        """The trie of the tokens `ids`, which are not empty and sorted by their bytes.

        The bytes of token i are data[start[i] : start[i + 1]]. `twin` is that of a trie which has
        these tokens too, in the same order; equal ones are all there or none of them.
        """

class SiblingTrie:
    """A trie in which the children of each node are adjacent, for walks that reject most of them.

    The children of node i are first[i] .. first[i] + children[i] - 1, in the order of their bytes;
    the root's are 0 .. roots - 1. The root itself is not a node.
    """

    def __init__(
        self,
        byte: npt.NDArray[np.uint8],
        first: npt.NDArray[np.int32],
        children: npt.NDArray[np.int32],
        token: npt.NDArray[np.int32],
        twin: npt.NDArray[np.int32],
        roots: int,
        /,
    ) -> None: ...
    @classmethod
    def of(cls, trie: Trie, /) -> SiblingTrie:
        """The tokens of a trie in this layout, in O(nodes)."""
    def note_run(self, low: int, high: int, after_space: bool, /) -> None:
        """Say that the tokens, with `after_space` what follows their first byte, begin with any
        number of characters of a run and then leave it: a walk may then go straight to where they
        do. `low`, `high`: the run's characters in ASCII, bit n for n < 64, and n - 64. Raises
        `ValueError` if a token stays within it."""
    @property
    def byte(self) -> npt.NDArray[np.uint8]: ...
    @property
    def first(self) -> npt.NDArray[np.int32]: ...
    @property
    def children(self) -> npt.NDArray[np.int32]: ...
    @property
    def token(self) -> npt.NDArray[np.int32]:
        """[nodes]: the token that ends at the node, or `NO_TOKEN`."""
    @property
    def twin(self) -> npt.NDArray[np.int32]:
        """[V]: the next token with equal bytes, or `NO_TOKEN`."""
    @property
    def roots(self) -> int: ...
    def without(self, tokens: Sequence[int], /) -> SiblingTrie:
        """This trie, in which some tokens don't count as such; twins are not looked at."""
    def continues(self, text: bytes, /) -> bool:
        """Whether some token begins with `text` and is longer."""
    def most_for_a_suffix(self, data: bytes, /) -> int:
        """The largest number of tokens that a suffix of `data` needs, spelled with the fewest; the
        number of bytes if this is above `LONG`. Every byte has to be a token.

        Bounds on what completes a text ask this of thousands of names and values, at a first mask.
        """
