"""From logits to a token: parameters, the ordered chain, positional randomness, the draw."""

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
