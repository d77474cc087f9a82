"""From logits to a token: parameters, the ordered chain, positional randomness, the draw.

- `chain`: The ordered chain of logits processors.
- `draw`: The draw, in compiled code.
- `params`: How the next token is chosen, as the client asked.
- `philox`: Philox4x32-10.
- `sampler`: One token a row.
- `scores`: How likely a chosen token was.
"""

from maskwright.sampling.chain import CHAIN, ChainBatch, SampleRow
from maskwright.sampling.params import MOST_LOGPROBS, SamplingParams, Scale
from maskwright.sampling.sampler import sample
from maskwright.sampling.scores import (
    CANONICAL,
    NOWHERE,
    Alternative,
    Place,
    TokenScore,
    score,
)

__all__ = [
    "CANONICAL",
    "CHAIN",
    "MOST_LOGPROBS",
    "NOWHERE",
    "Alternative",
    "ChainBatch",
    "Place",
    "SampleRow",
    "SamplingParams",
    "Scale",
    "TokenScore",
    "sample",
    "score",
]
