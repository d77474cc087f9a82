"""Penalties that are kept up by one token a step, against the processors of the chain."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from maskwright.sampling import SampleRow, SamplingParams
from maskwright.sampling.penalties import Penalties
from tests.sampling.reference_chain import (
    ReferenceBatch,
    frequency_penalty,
    logit_bias,
    presence_penalty,
    repetition_penalty,
)

VOCAB = 7
TOKENS = st.integers(0, VOCAB - 1)
BIASES = st.dictionaries(TOKENS, st.sampled_from([-100, -0.3, 0.1, 3.0]), max_size=3)


def by_chain(params: SamplingParams, tokens: list[int], prompt: int, row: np.ndarray) -> np.ndarray:
    logits = torch.from_numpy(row.copy())[None]
    batch = ReferenceBatch([SampleRow(params, tokens, prompt, 0)], torch.full((1, 1), -1).int())
    for processor in (logit_bias, repetition_penalty, presence_penalty, frequency_penalty):
        processor(logits, batch)
    return logits[0].numpy()


@given(
    st.builds(
        SamplingParams,
        repetition_penalty=st.sampled_from([1.0, 0.01, 1.3, 100.0]),
        presence_penalty=st.sampled_from([0.0, 0.4, -2.0]),
        frequency_penalty=st.sampled_from([0.0, 0.3, -1.7]),
        logit_bias=BIASES,
    ),
    st.lists(TOKENS, max_size=8),
    st.lists(st.tuples(st.lists(TOKENS, max_size=4), st.lists(TOKENS, max_size=4)), max_size=6),
    st.integers(0, 2**32 - 1),
)
def test_logits_have_the_bits_of_the_chain(
    params: SamplingParams,
    prompt: list[int],
    steps: list[tuple[list[int], list[int]]],
    seed: int,
) -> None:
    """Over steps that bring some tokens each and have a draft, which is never part of the text."""
    random = np.random.default_rng(seed)
    penalties, tokens = Penalties(params, len(prompt)), list(prompt)
    for more, draft in steps:
        tokens += more
        logits = random.normal(0, 3, (1 + len(draft), VOCAB)).astype(np.float32)
        logits[random.random(logits.shape) < 0.1] = -np.inf
        logits[random.random(logits.shape) < 0.1] = 0.0
        expected = [
            by_chain(params, tokens + draft[:count], len(prompt), row)
            for count, row in enumerate(logits)
        ]
        penalties.apply(tokens, draft, logits)
        assert logits.view(np.int32).tolist() == np.stack(expected).view(np.int32).tolist()


def test_a_token_without_a_logit_is_left_out() -> None:
    penalties = Penalties(SamplingParams(presence_penalty=1.0, logit_bias={9: 5.0}), 0)
    logits = np.zeros((1, 4), np.float32)
    penalties.apply([3, 8], (), logits)
    assert logits.tolist() == [[0.0, 0.0, 0.0, -1.0]]
