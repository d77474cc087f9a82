"""From logits to a token: parameters, the ordered chain, positional randomness, the draw."""

from maskwright.sampling.chain import CHAIN, ChainBatch, SampleRow
from maskwright.sampling.params import SamplingParams
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
    "NOWHERE",
    "Alternative",
    "ChainBatch",
    "Place",
    "SampleRow",
    "SamplingParams",
    "TokenScore",
    "sample",
    "score",
]
