"""From logits to a token: parameters, the ordered chain, positional randomness, the draw."""

from maskwright.sampling.chain import CHAIN, ChainBatch, SampleRow
from maskwright.sampling.params import SamplingParams
from maskwright.sampling.sampler import sample
from maskwright.sampling.scores import Alternative, TokenScore, score

__all__ = [
    "CHAIN",
    "Alternative",
    "ChainBatch",
    "SampleRow",
    "SamplingParams",
    "TokenScore",
    "sample",
    "score",
]
