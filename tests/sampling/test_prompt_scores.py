"""Scores of a prompt against the definition."""

import numpy as np
import pytest
import torch

from maskwright.sampling import join_scores, score_prompt
from maskwright.sampling.scores import ROWS_AT_A_TIME


@pytest.mark.parametrize("top", [0, 3, 100])
def test_scores_are_the_definition(top: int) -> None:
    count, vocab = 2 * ROWS_AT_A_TIME + 3, 40
    rng = np.random.default_rng(top)
    raw = rng.normal(scale=4, size=(count, vocab)).astype(np.float32)
    raw[::2] = raw[::2].round()  # many equal logits
    tokens = rng.integers(vocab, size=count).tolist()
    whole = score_prompt(torch.from_numpy(raw), tokens, top)
    shares = np.exp(raw.astype(np.float64))
    shares = np.log(shares / shares.sum(axis=1, keepdims=True))
    assert len(whole) == count
    for row, token, score in zip(shares, tokens, whole.read(top), strict=True):
        assert score.token == token
        assert score.logprob == pytest.approx(row[token])
        assert score.rank == 1 + sum(row > row[token])
        # Sorting is stable: of equal ones, the lowest token comes first.
        best = sorted(range(vocab), key=lambda i: -row[i])[:top]
        assert [i for i, _ in score.top] == best
        assert [value for _, value in score.top] == pytest.approx(row[best].tolist())
    parts = [
        score_prompt(torch.from_numpy(raw[a:b]), tokens[a:b], top)
        for a, b in ((0, 5), (5, 6), (6, count))
    ]
    assert [*join_scores(parts).read(2)] == [*whole.read(2)]
