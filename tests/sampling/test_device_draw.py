"""Draws of a step on a device beside the CPU's: tokens, errors, scores and likeliest tokens."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
import torch
from msgspec import structs

from maskwright.errors import GenerationError
from maskwright.sampling import (
    MaskTable,
    SampleRow,
    TokenScore,
    draw_on_device,
    sample_on_host,
)
from maskwright.sampling.scores import find_likeliest
from maskwright.sampling.shares import measure
from tests.sampling.test_device_rows import VOCAB, random_row

COUNT = 50
WORDS = 3


def random_rows(rng: random.Random) -> list[SampleRow]:
    """Rows with and without scores, of both scales, with all or few of the likeliest tokens."""
    rows = [random_row(rng) for _ in range(COUNT)]
    return [
        structs.replace(
            row,
            params=replace(
                row.params,
                logprobs=rng.choice([None, 0, 1, 5, 20]),
                scale=rng.choice(["raw", "masked"]),
            ),
        )
        for row in rows
    ]


def close(values: list[float]) -> object:
    return pytest.approx(values, rel=1e-5, abs=2e-5)


def numbers_of(score: TokenScore) -> list[float]:
    return [score.raw, score.masked, score.kept, score.processed]


@pytest.mark.parametrize("which", ["some scored", "all scored", "none scored"])
@pytest.mark.parametrize("seed", range(3))
def test_draws_and_scores_are_those_of_the_cpu(seed: int, which: str) -> None:
    rng = random.Random(seed)
    torch.manual_seed(seed)
    rows = random_rows(rng)
    if which != "some scored":
        number = 4 if which == "all scored" else None
        rows = [structs.replace(row, params=replace(row.params, logprobs=number)) for row in rows]
    logits = torch.randn(COUNT, VOCAB) * torch.tensor([1.0, 30.0]).repeat(COUNT // 2)[:, None]
    logits[::3] = logits[::3].round()  # many equal logits
    bits = torch.rand(COUNT, VOCAB) < torch.tensor([0.05, 0.9, 1.0, 0.4, 0.0]).repeat(10)[:, None]
    packed = np.zeros((COUNT, 32 * WORDS), np.bool_)
    packed[:, :VOCAB] = bits.numpy()
    masks = list(np.packbits(packed, axis=1, bitorder="little").view("<i4"))

    outcomes = draw_on_device(logits.clone(), rows, masks, MaskTable(WORDS, torch.device("cpu")))

    words = torch.from_numpy(np.stack(masks))
    expected = sample_on_host(logits.clone(), rows, words)
    seen = 0
    for row, found, drawn in zip(rows, outcomes, expected, strict=True):
        if isinstance(drawn, GenerationError):
            assert type(found) is type(drawn)
            continue
        assert isinstance(found, tuple)
        assert found[0] == drawn[0]
        (token, mine_scored), (_, right) = found, drawn
        if row.params.logprobs is None:
            assert mine_scored is right is None
            continue
        assert mine_scored is not None
        assert right is not None
        assert numbers_of(mine_scored) == close(numbers_of(right))
        assert [other.token for other in mine_scored.top] == [other.token for other in right.top]
        for mine, other in zip(mine_scored.top, right.top, strict=True):
            assert mine.raw == close(other.raw)
            assert mine.masked == (None if other.masked is None else close(other.masked))
            if mine.token == token:
                assert (mine.raw, mine.masked) == (mine_scored.raw, mine_scored.masked)
        kept = ("raw", "masked", "kept", "processed", "top")
        assert (
            structs.replace(mine_scored, **{name: getattr(right, name) for name in kept}) == right
        )
        seen += 1 + len(mine_scored.top)
    assert seen > 60 or which == "none scored"


def test_of_equal_logits_the_lowest_token_comes_first() -> None:
    infinity = float("inf")
    logits = torch.tensor([[0.0, -0.0, -1.5, 2.0, -infinity, 2.0, 0.0, 1e-40]])
    assert find_likeliest(logits, 8).tolist() == [[3, 5, 7, 0, 1, 6, 2, 4]]
    some = torch.tensor([[True, True, False, False, True, False, True, True]])
    assert find_likeliest(logits, 6, some).tolist() == [[7, 0, 1, 6, 4, 2]]
    mask = np.packbits(some.numpy(), bitorder="little").astype(np.int32)
    for count in range(9):
        for only_allowed, order in ((False, [3, 5, 7, 0, 1, 6, 2, 4]), (True, [7, 0, 1, 6, 4])):
            found = measure(logits[0].numpy(), mask, 3, count, only_allowed=only_allowed)
            assert [token for token, _, _ in found.likeliest] == order[:count]
            assert all(allowed == some[0, token] for token, _, allowed in found.likeliest)
