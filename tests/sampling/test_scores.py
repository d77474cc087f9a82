"""Scores against the definition, in float64."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from maskwright.sampling import (
    SampleRow,
    SamplingParams,
    sample,
    sample_on_host,
    score,
)

VOCAB = 40


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([0.0, 0.7, 1.0]), st.integers(0, 5))
def test_scores_are_the_definition(seed: int, temperature: float, top: int) -> None:
    rng = np.random.default_rng(seed)
    raw = rng.normal(scale=3, size=VOCAB)
    allowed = rng.random(VOCAB) < rng.choice([0.1, 0.5, 1.0])
    allowed[rng.integers(VOCAB)] = True
    bits = np.zeros(64, np.bool_)
    bits[:VOCAB] = allowed
    words = torch.from_numpy(np.packbits(bits, bitorder="little").view("<i4"))
    params = SamplingParams(temperature=temperature, top_k=3, logprobs=top)
    logits = torch.tensor(raw, dtype=torch.float32)[None]
    kept = logits[0].clone()
    row = SampleRow(params, [1, 2], 2, seed)
    (drawn,) = sample_on_host(logits, [row], words[None])
    assert isinstance(drawn, tuple)
    token, scored = drawn
    assert scored is not None
    (alone,) = sample(logits, [row], words[None])
    assert alone == token

    shares = np.exp(kept.double().numpy())
    shares /= shares.sum()
    assert allowed[token]
    assert scored.raw == pytest.approx(math.log(shares[token]), rel=1e-13, abs=1e-13)
    assert scored.kept == pytest.approx(shares[allowed].sum(), rel=1e-13)
    assert scored.masked == pytest.approx(math.log(shares[token] / shares[allowed].sum()))
    assert scored.allowed == allowed.sum()
    assert scored.forced == (scored.allowed == 1)
    assert [a.token for a in scored.top] == np.argsort(-shares, kind="stable")[:top].tolist()
    legal_first = np.argsort(np.where(allowed, -shares, 1.0), kind="stable")
    among = scored.processed, scored.support, replace(params, scale="masked")
    by_mask = score(kept.numpy(), words.numpy(), token, *among)
    assert [a.token for a in by_mask.top] == legal_first[: min(top, allowed.sum())].tolist()
    assert structs.replace(by_mask, top=scored.top) == scored
    for other in scored.top:
        assert other.raw == pytest.approx(math.log(shares[other.token]))
        assert (other.masked is None) == (not allowed[other.token])
    legal = np.sort(np.where(allowed, kept.double().numpy(), -np.inf))[::-1][:3]
    legal = legal[np.isfinite(legal)]
    if temperature == 0:
        assert (scored.processed, scored.support) == (0.0, 1)
    else:
        powers = np.exp((legal - legal[0]) / temperature)
        place = kept[token].item()
        chance = math.exp((place - legal[0]) / temperature) / powers.sum()
        assert scored.processed == pytest.approx(math.log(chance), abs=1e-5)
        assert scored.support == len(legal)
