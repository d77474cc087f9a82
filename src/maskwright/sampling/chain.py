"""The rows of a step as the chain of logits processors takes them.

The chain is a fixed order of changes to a row's logits (`kernels.sample_inputs.ORDER`), each of
which touches only rows whose parameters ask for it. On the CPU `penalties` and `bans` make these
changes and `draw` the others, on a device the sampling kernels do.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from maskwright.errors import EmptySupportError, GenerationError
from maskwright.immutable import Immutable
from maskwright.kernels.sample_inputs import EMPTY
from maskwright.sampling.params import SamplingParams

LEAST_TEMPERATURE = float(np.finfo(np.float32).tiny)
"""Lower bound on positive temperatures: the least normal float32, so that a tiny temperature
doesn't become 0 in float32."""


class SampleRow(Immutable):
    """What chain and draw need of one sequence.

    `eos`, `stop_tokens`: tokens that end the answer, of the model and of the client. `tokens`:
    prompt and output so far. The index of the sampled token will be `len(tokens)`, which
    is also its position in the random stream of `seed` (64 bits).
    """

    params: SamplingParams
    tokens: Sequence[int]
    prompt_length: int
    seed: int
    eos: frozenset[int] = frozenset()
    stop_tokens: frozenset[int] = frozenset()

    @property
    def output(self) -> Sequence[int]:
        """Tokens sampled so far."""
        return self.tokens[self.prompt_length :]


def token_or_error(token: int) -> int | GenerationError:
    """Return `token`, or the error for which it stands."""
    return token if token >= 0 else no_token(token)


def no_token(code: int) -> GenerationError:
    """The error of a row without a token to choose: every token is forbidden (`EMPTY`), or the
    logits are not finite (`NOT_FINITE`)."""
    if code == EMPTY:
        return EmptySupportError(
            "No token is left to choose: grammar, bad_words, allowed_token_ids and "
            "no_repeat_ngram_size together forbid every one."
        )
    return GenerationError("The model returned logits that are not finite.")


def divisor(params: SamplingParams) -> float:
    """The temperature by which logits are divided; 0 for greedy sampling."""
    return 0.0 if params.greedy else max(params.temperature, LEAST_TEMPERATURE)
