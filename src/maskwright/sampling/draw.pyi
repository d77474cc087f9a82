"""Draws a token for each row under its mask, in compiled code and one pass over the logits.

Gumbel-max trick: adding independent Gumbel noise to the logits and taking the highest sum draws
from the softmax. The noise of a token depends only on the request's seed, the position and the
token id, so a draw does not depend on the batch. By definition, a token with the scaled logit z and
u = (word + 0.5) / 2**32 has the score z - log(-log(1 - u)), computed in float64 with the C
library's logarithms. Other implementations may differ in the last bit of the noise, which matters
only if two scores agree to 15 digits.

Random words come from Philox4x32-10, a pure function of a key and a counter (Salmon, Moraes,
Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC'11). The key is a request's 64-bit
seed; the counter is (token >> 2, position, stream, 0), and token & 3 picks one of the four words.
No state is stored between draws, so that replay, preemption, batching and speculative decoding
can't change them.

Few scores are computed. Since -log(1 - u) >= u, a token can only exceed a score s that another one
has if u < exp(z - s). So one comparison of its random word replaces the logarithms, and the highest
logit of a block of tokens gives one bound for the whole block. No score exceeds z + 22.88, so
blocks far enough below s need no random words at all. The block with the highest logit comes first,
so that s is high from the beginning.
"""

from collections.abc import Sequence
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

TARGET: Final[Literal[0]]
"""The stream of the draws that choose tokens."""

EMPTY: Final[Literal[-1]]
"""Result in place of a token: every token that the mask allows has the logit -inf."""

NOT_FINITE: Final[Literal[-2]]
"""Result in place of a token: an allowed logit is +inf or NaN."""

def draw_rows(
    logits: NDArray[np.float32],
    words: NDArray[np.int32],
    temperatures: NDArray[np.float32],
    top_k: NDArray[np.int64],
    top_p: NDArray[np.float64],
    min_p: NDArray[np.float64],
    seeds: NDArray[np.uint64],
    positions: NDArray[np.uint64],
    out: NDArray[np.int64],
    fallback: NDArray[np.int32] | None = None,
    processed: NDArray[np.float64] | None = None,
    support: NDArray[np.int64] | None = None,
) -> None:
    """Choose a token for each row of `logits` `[rows, vocab]` among those that its mask `words`
    `[rows, words]` allows. The result, or `EMPTY` or `NOT_FINITE`, goes into `out` `[rows]`. All
    other arrays are `[rows]`, too: `temperatures` (0 takes the highest logit), `top_k`, `top_p` and
    `min_p` (0, 1 and 0 leave all tokens), `seeds`, and `positions`, which are below 2**32. Ties go
    to the lowest token id.

    Tokens are left by top-k, top-p and min-p as by the chain, in this order and of logits that are
    scaled already; tokens as likely as the last one stay. Nothing is sorted but one bucket of a
    histogram, the one in which the last token lies. The masses of buckets are added up, so that
    the last bit of a sum may differ from that of sorted tokens.

    `fallback` `[rows, words]`: masks for rows in which `words` leave nothing. `processed` and
    `support` `[rows]` get the logarithm of the probability with which each token was drawn, and
    among how many; 0 and 1 for greedy rows."""

def philox(key: int, counter: Sequence[int], out: NDArray[np.uint32]) -> None:
    """Write the random words of the 16 counters that follow each other from `counter`, four words
    of 32 bits, on in its first word. `out` `[64]` gets word `j` of counter `i` at `16 * j + i`.
    `key`: 64 bits. Raises `ValueError` where `out` has another size."""
