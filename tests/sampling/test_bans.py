"""What a request forbids, kept up by one token a step, and whole draws, against the chain."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from maskwright.errors import GenerationError
from maskwright.sampling import SampleRow, SamplingParams, TextBan, sample_on_host
from maskwright.sampling.bans import Bans
from maskwright.sampling.scores import TokenScore
from tests.sampling.reference_chain import (
    ReferenceBatch,
    bad_word_ends,
    ngram_ends,
    sample_by_chain,
    withheld_ends,
)
from tests.sampling.test_device_rows import VOCAB, random_row

SMALL = 7
TOKENS = st.integers(0, SMALL - 1)
TEXTS = (b"a", b"b", b"ab", b"xab", b"", b"c", b"ba")
WORDS = st.lists(st.lists(TOKENS, min_size=1, max_size=4).map(tuple), max_size=3).map(tuple)
PARAMS = st.builds(
    SamplingParams,
    bad_words=WORDS,
    banned=st.none() | st.builds(TextBan, st.just([b"ab", b"ca", b"b"]), st.just(TEXTS)),
    allowed_tokens=st.none() | st.lists(TOKENS, min_size=1).map(tuple),
    min_tokens=st.integers(0, 6),
    ignore_eos=st.booleans(),
    no_repeat_ngram=st.integers(0, 5),
)


def bits(words: np.ndarray) -> set[int]:
    return {token for token in range(32) if int(words[0]) >> token & 1}


@given(
    PARAMS,
    st.lists(TOKENS, max_size=8),
    st.lists(st.lists(TOKENS, max_size=3), max_size=6),
    st.frozensets(TOKENS, max_size=2),
    st.frozensets(TOKENS, max_size=2),
    st.integers(0, 2**SMALL - 1),
)
def test_masks_lose_what_the_chain_forbids(
    params: SamplingParams,
    prompt: list[int],
    steps: list[list[int]],
    eos: frozenset[int],
    stops: frozenset[int],
    mask: int,
) -> None:
    """Over steps that bring some tokens each."""
    tokens = list(prompt)
    bans = Bans(params, len(prompt), eos, stops)
    words = np.array([mask], np.int32)
    for more in [[], *steps]:
        tokens += more
        row = SampleRow(params, tokens, len(prompt), 0, eos, stops)
        forbidden = {*ngram_ends(row).tolist(), *bad_word_ends(row).tolist()}
        assert {*bans.forbidden(tokens).tolist()} == forbidden
        assert {*bans.withheld(tokens)} == withheld_ends(row)
        kept = bits(words) - forbidden
        if params.allowed_tokens is not None:
            kept &= {*params.allowed_tokens}
        narrowed, fallback = bans.narrow(tokens, words)
        assert bits(narrowed) == kept - withheld_ends(row)
        assert bits(narrowed if fallback is None else fallback) == kept
        assert (fallback is None) == (not withheld_ends(row))
        assert words.tolist() == [mask]


def test_tokens_outside_of_the_mask_are_left_out() -> None:
    params = SamplingParams(bad_words=((64,),), allowed_tokens=(1, 99), ignore_eos=True)
    narrowed, fallback = Bans(params, 0, frozenset({70}), frozenset()).narrow(
        [], np.array([-1, -1], np.int32)
    )
    assert narrowed.tolist() == [2, 0]
    assert fallback is not None
    assert fallback.tolist() == [2, 0]


def by_chain(logits: torch.Tensor, rows: list[SampleRow], words: torch.Tensor) -> list[object]:
    """What rows of the reference have: an error, or a token, of how many tokens that the chain
    leaves, and the logarithm of its probability."""
    processed = logits.clone()
    found: list[object] = []
    for number, drawn in enumerate(sample_by_chain(processed, ReferenceBatch(rows, words))):
        if isinstance(drawn, GenerationError):
            found.append(type(drawn))
        elif rows[number].params.greedy:
            found.append((drawn, 1, 0.0))
        else:
            share = processed[number].double().log_softmax(-1)[drawn].item()
            left = int(processed[number].isfinite().sum())
            found.append((drawn, left, pytest.approx(share, abs=1e-12)))
    return found


def as_chain(outcome: tuple[int, TokenScore | None] | GenerationError) -> object:
    if isinstance(outcome, GenerationError):
        return type(outcome)
    assert outcome[1] is not None
    return outcome[0], outcome[1].support, outcome[1].processed


@pytest.mark.parametrize("seed", range(6))
def test_draws_are_those_of_the_chain(seed: int) -> None:
    """Tokens, errors, and probabilities after the chain, of rows with all parameters."""
    rng = random.Random(seed)
    torch.manual_seed(seed)
    rows = [random_row(rng) for _ in range(120)]
    logits = torch.randn(120, VOCAB) * torch.tensor([1.0, 5.0, 50.0]).repeat(40)[:, None]
    logits[::4] = logits[::4].round()
    logits[5, 7] = logits[9, :] = float("nan")
    logits[7, 3] = float("inf")
    shares = torch.tensor([0.02, 0.3, 0.9, 1.0]).repeat(30)[:, None, None]
    words = ((torch.rand(120, 12, 8) < shares) * (1 << torch.arange(8))).sum(-1)
    words = words.to(torch.uint8).view(torch.int32)
    rows[9] = structs.replace(rows[9], params=SamplingParams(logprobs=0))
    words[9] = -1
    drawn = [*map(as_chain, sample_on_host(logits.clone(), rows, words))]
    assert drawn == by_chain(logits, rows, words)
    assert len({found for found in drawn if isinstance(found, type)}) == 2
    assert sum(isinstance(found, tuple) for found in drawn) > 60
