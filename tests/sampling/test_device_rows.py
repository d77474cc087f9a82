"""What the sampling kernels are given, against the chain: tokens, errors and scores."""

from __future__ import annotations

import random

import pytest
import torch

from maskwright.errors import EmptySupportError
from maskwright.kernels.sample import sample_rows
from maskwright.kernels.sample_inputs import EMPTY, NOT_FINITE, ORDER
from maskwright.sampling import (
    SampleRow,
    SamplingParams,
    TextBan,
    sample_on_host,
)
from maskwright.sampling.device_rows import lay_out
from tests.sampling.reference_chain import CHAIN

VOCAB = 77
TEXTS = tuple(bytes([97 + token % 5, 97 + token % 7]) for token in range(VOCAB))


def test_the_chain_has_the_order_of_the_kernels() -> None:
    assert tuple(processor.__name__ for processor in CHAIN) == ORDER


def random_row(rng: random.Random) -> SampleRow:
    """A row with parameters that are often neutral, so that many combinations occur."""

    def often(neutral: object, *others: object) -> object:
        return neutral if rng.random() < 0.6 else rng.choice(others)

    def some(count: int) -> tuple[int, ...]:
        return tuple(rng.sample(range(VOCAB), count))

    tokens = [rng.randrange(12) for _ in range(rng.randint(1, 30))]
    params = SamplingParams(
        temperature=often(1.0, 0.0, 0.4, 3.0, 1e-45),
        top_k=often(0, 1, 4, 30, 2**31),
        top_p=often(1.0, 0.0, 0.2, 0.8),
        min_p=often(0.0, 0.05, 0.4, 1.0),
        repetition_penalty=often(1.0, 1.4, 0.6),
        presence_penalty=often(0.0, 1.5, -1.0),
        frequency_penalty=often(0.0, 0.5, -0.3),
        logit_bias=often({}, {3: 4.0, 5: -2.5, 40: 1.25}, {rng.randrange(VOCAB): 100.0}),
        bad_words=often((), ((4,), (*tokens[-1:], 5)), tuple((t,) for t in some(70))),
        banned=often(None, TextBan([b"ab", b"cc"], TEXTS)),
        allowed_tokens=often(None, some(5), some(1)),
        min_tokens=often(0, 3, 50),
        ignore_eos=often(False, True),
        no_repeat_ngram=often(0, 1, 2, 3),
        logprobs=0,
    )
    ends = frozenset(some(rng.choice([1, 3, 60])))
    return SampleRow(
        params, tokens, rng.randint(1, len(tokens)), rng.getrandbits(64), ends, frozenset(some(2))
    )


@pytest.mark.parametrize("seed", range(6))
def test_kernels_choose_what_the_chain_chooses(seed: int) -> None:
    rng = random.Random(seed)
    torch.manual_seed(seed)
    count = 60
    rows = [random_row(rng) for _ in range(count)]
    logits = torch.randn(count, VOCAB) * torch.tensor([1.0, 5.0, 50.0]).repeat(20)[:, None]
    logits[::4] = logits[::4].round()
    logits[5, 7] = logits[9, :] = float("nan")
    shares = torch.tensor([0.02, 0.3, 0.9, 1.0]).repeat(15)[:, None, None]
    bits = (torch.rand(count, 12, 8) < shares) * (1 << torch.arange(8))
    words = bits.sum(-1).to(torch.uint8).view(torch.int32)
    numbers = torch.randperm(count)
    table = torch.empty_like(words)
    table[numbers] = words

    inputs = lay_out(rows, table, numbers.int())
    drawn = sample_rows(logits.clone(), inputs, scored=True)
    outcomes = sample_on_host(logits.clone(), rows, words)
    codes = [
        outcome[0]
        if isinstance(outcome, tuple)
        else EMPTY
        if isinstance(outcome, EmptySupportError)
        else NOT_FINITE
        for outcome in outcomes
    ]
    assert drawn.tokens.tolist() == codes
    assert EMPTY in codes
    assert len(set(codes)) > 15
    for number, outcome in enumerate(outcomes):
        if isinstance(outcome, tuple) and logits[number].isfinite().all():
            score = outcome[1]
            assert score is not None
            assert int(drawn.support[number]) == score.support
            assert int(drawn.allowed[number]) == score.allowed
            found = [
                part[number] for part in (drawn.raw, drawn.masked, drawn.kept, drawn.processed)
            ]
            right = [score.raw, score.masked, score.kept, score.processed]
            torch.testing.assert_close(
                torch.stack(found).double(), torch.tensor(right).double(), rtol=1e-5, atol=2e-5
            )


def test_rows_without_parameters_list_no_token() -> None:
    rows = [SampleRow(SamplingParams(), [1, 2], 1, 3)]
    assert lay_out(rows, torch.zeros(1, 1, dtype=torch.int32), torch.tensor([0])).listed is None
