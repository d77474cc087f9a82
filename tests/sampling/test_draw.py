"""The compiled draw against its plain twin, and against the chain."""

import math

import numpy as np
import pytest
import torch

from maskwright.kernels.reference import draw, random_words
from maskwright.sampling import SampleRow, SamplingParams, sample
from maskwright.sampling.draw import draw_rows
from tests.sampling.reference_chain import ReferenceBatch, sample_by_chain

ROWS = 64


def both(logits: torch.Tensor, words: np.ndarray, temperatures: np.ndarray, seed: int) -> list:
    """What the compiled draw chooses, which has to be what the twin does."""
    rng = np.random.default_rng(seed)
    seeds = rng.integers(0, 2**64, len(logits), np.uint64)
    positions = rng.integers(1, 5000, len(logits)).astype(np.uint64)
    out = np.empty(len(logits), np.int64)
    off = np.zeros(len(logits), np.int64), np.ones(len(logits)), np.zeros(len(logits))
    draw_rows(logits.numpy(), words, temperatures, *off, seeds, positions, out)
    twin = draw(
        logits,
        torch.from_numpy(words),
        torch.from_numpy(temperatures),
        torch.from_numpy(seeds.view(np.int64)),
        torch.from_numpy(positions.astype(np.int64)),
    )
    assert out.tolist() == twin.tolist()
    return out.tolist()


def masks(rng: np.random.Generator, vocab: int, share: float) -> np.ndarray:
    """Bits beyond the vocabulary are set at random too; they mean nothing."""
    return np.packbits(rng.random((ROWS, -(-vocab // 32) * 32)) < share, 1, "little").view("<i4")


@pytest.mark.parametrize("vocab", [1, 31, 64, 65, 500, 1025])
@pytest.mark.parametrize("share", [0.02, 0.6, 1.0])
@pytest.mark.parametrize("scale", [0.0, 0.5, 3.0, 40.0])
def test_it_is_its_twin(vocab: int, share: float, scale: float) -> None:
    """Rows, some with no token left; equal logits, and zeros of both signs."""
    rng = np.random.default_rng(vocab + int(7 * scale))
    logits = np.round(rng.standard_normal((ROWS, vocab)) * scale, 1).astype(np.float32)
    logits[rng.random(logits.shape) < 0.05] = -np.inf
    temperatures = rng.choice([0, 1e-30, 0.3, 1, 7], ROWS).astype(np.float32)
    chosen = both(torch.from_numpy(logits), masks(rng, vocab, share), temperatures, vocab)
    assert any(token >= 0 for token in chosen) or vocab * share < 1


@pytest.mark.parametrize("bad", [math.nan, -math.nan, math.inf])
def test_numbers_that_are_none_count_where_they_are_allowed(bad: float) -> None:
    logits = torch.zeros(2, 100)
    logits[:, 37] = bad
    words = np.full((2, 4), -1, np.int32)
    words[1, 1] ^= 1 << 5
    first, second = both(logits, words, np.ones(2, np.float32), 0)
    assert first == -2
    assert second >= 0


WIDE = 65_536
"""Tokens among which two often get equal random words."""


@pytest.fixture(scope="module")
def equal_words() -> tuple[int, int, int, list[int]]:
    """A seed, two tokens of different blocks whose words at position 1 are equal, and all words."""
    for seed in range(100):
        words = random_words(torch.tensor([seed]), torch.tensor([1]), WIDE)[0].tolist()
        seen: dict[int, int] = {}
        for token, word in enumerate(words):
            if word in seen and token // 64 != seen[word] // 64:
                return seed, seen[word], token, words
            seen[word] = token
    pytest.fail("no two words are equal")


@pytest.mark.parametrize("later_first", [False, True])
def test_of_equal_scores_the_lowest_token_is_taken(
    equal_words: tuple[int, int, int, list[int]], later_first: bool
) -> None:
    """In whichever order they are looked at: the block that has the highest logit comes first."""
    seed, low, high, words = equal_words
    logits = torch.zeros(1, WIDE)
    allowed = [low, high]
    if later_first:  # beside a higher logit, whose noise makes up for it
        beside = range(high // 64 * 64, high // 64 * 64 + 64)
        loser = max(beside, key=words.__getitem__)
        logits[0, loser] = 1e-6
        allowed.append(loser)
    mask = np.zeros(WIDE, np.bool_)
    mask[allowed] = True
    row = SampleRow(SamplingParams(), [0], 1, seed)
    packed = torch.from_numpy(np.packbits(mask, bitorder="little").view("<i4")[None])
    assert sample(logits, [row], packed) == [low]


TRUNCATIONS = [
    {},
    {"top_k": 1},
    {"top_k": 7},
    {"top_k": 5_000},
    {"top_p": 0.0},
    {"top_p": 0.4},
    {"top_p": 0.95},
    {"top_p": 1 - 2.0**-53},
    {"min_p": 0.05},
    {"min_p": 1.0},
    {"top_k": 40, "top_p": 0.8},
    {"top_k": 9, "min_p": 0.2},
    {"top_k": 60, "top_p": 0.9, "min_p": 0.01},
]


@pytest.mark.parametrize("truncation", TRUNCATIONS, ids=str)
@pytest.mark.parametrize("vocab", [1, 300, 4_001])
@pytest.mark.parametrize("decimals", [0, 2, 7], ids="rounded to {} decimals".format)
def test_rows_choose_as_the_chain_does(truncation: dict, vocab: int, decimals: int) -> None:
    """Where many logits are equal, too. Some rows are flat, some have one likely token."""
    rng = np.random.default_rng(vocab + decimals)
    spread = rng.choice([0.0, 0.1, 3.0, 60.0], (ROWS, 1))
    values = np.round(rng.standard_normal((ROWS, vocab)) * spread, decimals).astype(np.float32)
    values[rng.random(values.shape) < 0.05] = -np.inf
    logits, words = torch.from_numpy(values), torch.from_numpy(masks(rng, vocab, 0.4))
    for temperature in (0.0, 1e-45, 0.7, 1.3, 100.0):
        params = SamplingParams(temperature, **truncation)
        rows = [SampleRow(params, [0] * (n + 1), 1, 2**63 + 77 * n) for n in range(ROWS)]
        drawn = sample(logits.clone(), rows, words)
        expected = sample_by_chain(logits.clone(), ReferenceBatch(rows, words))
        assert [*map(str, drawn)] == [*map(str, expected)]


def test_flat_rows_of_a_large_vocabulary_leave_what_the_chain_leaves() -> None:
    """All tokens are in few buckets, and in the last one of all."""
    rng = np.random.default_rng(5)
    logits = torch.from_numpy(rng.standard_normal((4, 70_000)).astype(np.float32))
    logits[0] *= 1e-3
    logits[1, 1:] -= 500
    logits[2, :] = torch.arange(70_000) % 2 * 80.0
    words = torch.full((4, -(-70_000 // 32)), -1, dtype=torch.int32)
    for truncation in ({"top_p": 0.9}, {"top_k": 40_000}, {"top_k": 2, "top_p": 0.99}):
        params = SamplingParams(1.0, **truncation)
        rows = [SampleRow(params, [0] * 9, 1, seed) for seed in (3, 4, 5, 6)]
        drawn = sample(logits.clone(), rows, words)
        assert drawn == sample_by_chain(logits.clone(), ReferenceBatch(rows, words))


def test_errors_of_rows_with_bans_among_others_are_their_own() -> None:
    rows = [
        SampleRow(SamplingParams(0, bad_words=((token,),) if token else ()), [0], 1, 0)
        for token in (0, 3, 0, 4, 0)
    ]
    words = torch.full((5, 1), 8, dtype=torch.int32)
    chosen = sample(torch.zeros(5, 32), rows, words)
    assert [token if isinstance(token, int) else None for token in chosen] == [3, None, 3, 3, 3]
