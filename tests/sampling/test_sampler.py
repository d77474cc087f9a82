"""Draws: their distribution, their seeds, their independence of the batch."""

import math

import numpy as np
import pytest
import torch

from maskwright.errors import EmptySupportError
from maskwright.kernels.reference import random_words
from maskwright.sampling import SampleRow, SamplingParams, sample

VOCAB = 45
EVERY = np.packbits(np.arange(64) < VOCAB, bitorder="little").view("<i4")


def draw(logits: torch.Tensor, rows: list[SampleRow], words: np.ndarray | None = None) -> list:
    masks = np.tile(EVERY, (len(rows), 1)) if words is None else words
    return sample(logits.clone(), rows, torch.from_numpy(masks))


def row(seed: int, position: int = 1, **params: object) -> SampleRow:
    return SampleRow(SamplingParams(**params), [0] * position, 1, seed)


def test_frequencies_follow_the_softmax() -> None:
    """Chi-square over 20,000 draws of one distribution, by position and by seed."""
    torch.manual_seed(0)
    logits = torch.randn(VOCAB) * 2
    expected = logits.softmax(dim=0).double().numpy() * 20_000
    for rows in (
        [row(3, position) for position in range(1, 20_001)],
        [row(seed * 2**33 + 5) for seed in range(20_000)],
    ):
        drawn = draw(logits.expand(len(rows), VOCAB), rows)
        counts = np.bincount(drawn, minlength=VOCAB)
        big = expected >= 5
        statistic = ((counts - expected)[big] ** 2 / expected[big]).sum()
        assert statistic < 90, "p below 1e-5 for 44 degrees of freedom"
        assert counts[~big].sum() < 10 * max(1.0, expected[~big].sum())


@pytest.mark.parametrize("scale", [0.0, 0.3, 3.0, 30.0])
@pytest.mark.parametrize("hidden", [0.0, 0.9])
def test_no_token_that_could_win_is_passed_over(scale: float, hidden: float) -> None:
    """Against the noise of every token, made one by one."""
    torch.manual_seed(4)
    logits = torch.randn(200, VOCAB) * scale
    logits[:, 1:][torch.rand(200, VOCAB - 1) < hidden] = -torch.inf
    rows = [row(seed * 7919, seed + 1) for seed in range(200)]
    expected = []
    for number, one in enumerate(rows):
        scores = []
        place = torch.tensor([one.seed]), torch.tensor([len(one.tokens)])
        words = random_words(*place, VOCAB)[0].tolist()
        for word, value in zip(
            words, (logits[number] - logits[number].max()).tolist(), strict=True
        ):
            uniform = (float(word) + 0.5) / 2**32
            scores.append(value - math.log(-math.log1p(-uniform)))
        expected.append(scores.index(max(scores)))
    assert draw(logits, rows) == expected


@pytest.mark.parametrize(
    ("option", "inside"),
    [
        ({"top_k": 3}, {0, 1, 2}),
        ({"top_p": 0.3}, {0, 1, 2}),
        ({"min_p": 0.7}, {0, 1, 2}),
        ({"min_p": 1.0}, {0}),
        ({"logit_bias": {44: 100.0}}, {44}),
        ({"no_repeat_ngram": 1, "top_k": 1}, {1}),
        ({"bad_words": ((0,),), "top_k": 1}, {1}),
        ({"presence_penalty": 2.0, "top_k": 1}, {1}),
        ({"frequency_penalty": 2.0, "top_k": 1}, {1}),
        ({"repetition_penalty": 2.0, "top_k": 1}, {1}),
    ],
)
def test_an_option_is_obeyed(option: dict, inside: set[int]) -> None:
    """Tokens 0, 1, 2 … have 13, 11, 10 … percent; the prompt and the output are token 0."""
    logits = torch.linspace(3, -3, VOCAB).expand(500, VOCAB)
    rows = [SampleRow(SamplingParams(**option), [0, 0], 1, seed) for seed in range(500)]
    assert set(draw(logits, rows)) == inside


@pytest.mark.parametrize("scale", [0.1, 3.0, 30.0])
def test_a_draw_is_independent_of_its_neighbours(scale: float) -> None:
    """Dense and sparse noise, alone and together, in any order: the same token."""
    torch.manual_seed(1)
    logits = torch.randn(60, VOCAB) * scale
    rng = np.random.default_rng(2)
    rows = [
        row(
            int(rng.integers(2**63)), int(rng.integers(1, 99)), temperature=float(t), top_p=float(p)
        )
        for t, p in zip(
            rng.choice([0, 0.5, 1, 2], 60), rng.choice([0.5, 0.9, 1.0], 60), strict=True
        )
    ]
    alone = [draw(logits[i : i + 1], [rows[i]])[0] for i in range(60)]
    order = rng.permutation(60)
    together = draw(logits[order], [rows[i] for i in order])
    assert together == [alone[i] for i in order]


def test_greedy_takes_the_lowest_of_the_highest() -> None:
    logits = torch.zeros(1, VOCAB)
    logits[0, [7, 30]] = 4.0
    assert {draw(logits, [row(s, temperature=0)])[0] for s in range(20)} == {7}


def test_padded_ids_are_never_drawn() -> None:
    """The vocabulary's own mask hides them even where the model prefers them."""
    logits = torch.full((200, VOCAB), -5.0)
    logits[:, 40:] = 50.0
    words = np.tile(np.packbits(np.arange(64) < 40, bitorder="little").view("<i4"), (200, 1))
    assert max(draw(logits, [row(s) for s in range(200)], words)) < 40


def test_an_empty_row_fails_alone() -> None:
    words = np.tile(EVERY, (3, 1))
    words[1] = 0
    first, second, third = draw(torch.zeros(3, VOCAB), [row(1), row(2), row(3)], words)
    assert isinstance(second, EmptySupportError)
    assert [first, third] == draw(torch.zeros(2, VOCAB), [row(1), row(3)])
