from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from maskwright.mask.ready_rows.tokens import Subtrees

class WordPoints:
    """The characters of sorted distinct words."""

    points: npt.NDArray[np.int32]
    """The code points of all words, one word after the other."""
    starts: npt.NDArray[np.int32]
    """[words + 1]: where each word begins in `points`, and where the last one ends."""

    def __init__(self, words: Sequence[str]) -> None: ...
    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""

def walk_words(
    subtrees: Subtrees,
    words: WordPoints,
    low: int,
    high: int,
    depth: int,
    part: int,
    value: int,
    out: npt.NDArray[np.int32],
    plain: bool,
    /,
) -> None:
    """Set in `out` (int32 words) the tokens that stay inside a string that is one of the words from
    number `low` to before `high`, of which the first `depth` characters, which these share, have
    been read, and of the next one its `part` and `value`. `plain`: the string is text without
    quotes and escapes. Raises IndexError and ValueError for words that aren't there.
    """
