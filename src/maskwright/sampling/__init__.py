"""From logits to a token: parameters, the ordered chain, positional randomness, the draw."""

from maskwright.sampling.chain import CHAIN, ChainBatch, SampleRow
from maskwright.sampling.params import SamplingParams
from maskwright.sampling.sampler import sample

__all__ = ["CHAIN", "ChainBatch", "SampleRow", "SamplingParams", "sample"]
