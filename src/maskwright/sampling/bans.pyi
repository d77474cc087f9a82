"""The tokens that one request forbids beyond its grammar: bad words, n-grams that came before,
tokens that aren't among the allowed ones, and ends that come too early.

A row's mask is made smaller by them, so that the draw needs to know of nothing else. Ends are
withheld only where another token is left; so there are two masks where some are: a draw takes the
second one, with the ends, where the first one leaves nothing.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from maskwright.sampling.mask_table import Mask
from maskwright.sampling.params import SamplingParams

class Bans:
    """What one request forbids, whose prompt has `prompt_length` tokens. `eos`, `stop_tokens`:
    tokens that end its answer, of the model and of the client."""

    def __init__(
        self,
        params: SamplingParams,
        prompt_length: int,
        eos: frozenset[int],
        stop_tokens: frozenset[int],
    ) -> None: ...
    def forbidden(self, tokens: Sequence[int]) -> NDArray[np.int64]:
        """Return the tokens, int64 `[n]`, that may not follow `tokens`, prompt and output so far,
        because they would end a bad word or an n-gram that was there already; one may be there
        twice."""

    def withheld(self, tokens: Sequence[int]) -> list[int]:
        """Return the ends that may follow `tokens` only where nothing else may."""

    def narrow(self, tokens: Sequence[int], mask: Mask) -> tuple[Mask, Mask | None]:
        """Return `mask`, int32 `[words]`, without what may not follow `tokens`; and the same with
        the withheld ends, None if none are withheld. `tokens` begin with the tokens of all calls
        before."""
