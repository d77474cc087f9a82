"""A text that is replaced is followed as if it had been written from the beginning."""

from __future__ import annotations

import random

import numpy as np
import pytest

from maskwright import BudgetError, Grammar, Vocabulary, compile_regex
from maskwright.integrations.followed_text import FollowedText

LETTERS = [b"a", b"b", b"ab", b"ba", b"c", b"<end>"]
END = 5
VOCABULARY = Vocabulary(LETTERS, eos=END)
GRAMMAR = compile_regex("(ab|ba){1,4}c?", VOCABULARY)


def mask_of(grammar: Grammar, tokens: list[int], budget: int) -> list[int] | None:
    """The mask after the tokens as a new matcher gives it; None after the end of a text and after
    a token that is refused."""
    matcher = grammar.matcher()
    if not all(matcher.accept(token) for token in tokens) or matcher.terminated:
        return None
    row = np.zeros(VOCABULARY.words, np.int32)
    matcher.fill_mask(row, budget)
    return row.tolist()


def test_replaced_texts_have_the_masks_of_new_ones() -> None:
    draw = random.Random(5)
    text = FollowedText(GRAMMAR)
    before: list[int] = []
    opened = closed = 0
    for _ in range(400):
        kept = before[: draw.randrange(len(before) + 1)]
        tokens = kept + [draw.randrange(len(LETTERS)) for _ in range(draw.randrange(5))]
        if draw.random() < 0.5:
            text.replace(tokens)
        else:
            text.replace(kept)
            for token in tokens[len(kept) :]:
                text.append(token)
        row = np.zeros(VOCABULARY.words, np.int32)
        expected = mask_of(GRAMMAR, tokens, 20)
        assert text.is_open is (expected is not None)
        assert text.fill_mask(row, 20) is text.is_open
        assert row.tolist() == (expected or [0])
        opened, closed = opened + text.is_open, closed + (not text.is_open)
        before = tokens
    assert min(opened, closed) > 40


def test_the_budget_is_obeyed() -> None:
    text = FollowedText(GRAMMAR)
    row = np.zeros(VOCABULARY.words, np.int32)
    assert text.fill_mask(row, 1)
    assert row.tolist() == [0b01100]  # only the tokens of two letters
    text.append(0)
    assert text.fill_mask(row, 1)
    assert row.tolist() == [0b00010]
    assert not text.fill_mask(row, 0)


def test_a_budget_that_no_text_meets_is_an_error() -> None:
    text = FollowedText(compile_regex("abababc", VOCABULARY))
    with pytest.raises(BudgetError) as caught:
        text.fill_mask(np.zeros(VOCABULARY.words, np.int32), 3)
    assert caught.value.needed == 4
