"""The penalties and the bias of one request, kept up by one token a step.

They change the logits of the tokens that occurred and of those that the client names, which are few
of a vocabulary. So a row that asks for nothing else doesn't need the chain, whose first four
processors this does for it, with equal bits.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from maskwright.sampling.params import SamplingParams

class Penalties:
    """What has occurred in one request, whose prompt has `prompt_length` tokens."""

    def __init__(self, params: SamplingParams, prompt_length: int) -> None: ...
    def apply(self, tokens: list[int], draft: Sequence[int], logits: NDArray[np.float32]) -> None:
        """Change `logits` `[1 + draft, vocab]` in place: the rows after `tokens`, prompt and output
        so far, and after each token of `draft`. `tokens` begin with the tokens of all calls
        before."""
