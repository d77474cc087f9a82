"""Exchanged words: the same in text and answer, and never in the schema."""

from __future__ import annotations

import random
import re

import pytest
from transformers import AutoTokenizer, PreTrainedTokenizerFast

from examples.demo_model.batches import Encoded, encode
from examples.demo_model.corpus import example
from examples.demo_model.exchange import EXAMPLES, Exchange
from maskwright.models import DEMO_PATH


@pytest.fixture(scope="module")
def tokenizer() -> PreTrainedTokenizerFast:
    return AutoTokenizer.from_pretrained(DEMO_PATH)


def exchanged(tokenizer: PreTrainedTokenizerFast, count: int) -> list[tuple[Encoded, Encoded]]:
    rng, exchange = random.Random(1), Exchange(tokenizer)
    rows = [encode(tokenizer, example(1, index)) for index in range(count)]
    return [(row, Encoded(*exchange(rng, row.prompt, row.answer))) for row in rows]


def test_the_exchange_is_one_to_one(tokenizer: PreTrainedTokenizerFast) -> None:
    for before, after in exchanged(tokenizer, 200):
        text, schema_end = before.prompt, before.prompt.index(tokenizer.encode("<|user|>")[0])
        assert after.prompt[:schema_end] == before.prompt[:schema_end]
        pairs = dict(zip(before.answer, after.answer, strict=True))
        assert [pairs[token] for token in before.answer] == after.answer
        assert len(set(pairs.values())) == len(pairs)
        for old, new in zip(text[schema_end:], after.prompt[schema_end:], strict=True):
            if old in pairs:
                assert new == pairs[old]
            elif new != old:  # a disturbed wording
                assert re.fullmatch("[a-z]{3,}", tokenizer.decode(old))
                assert re.fullmatch("[a-z]{3,}", tokenizer.decode(new))
                assert new not in after.answer


def test_most_examples_change_and_stay_text(tokenizer: PreTrainedTokenizerFast) -> None:
    rows = exchanged(tokenizer, 300)
    changed = [after for before, after in rows if before != after]
    assert 0.5 * EXAMPLES < len(changed) / len(rows) < EXAMPLES
    for row in changed:
        assert tokenizer.decode(row.answer).endswith("<|end|>")


def test_a_chat_without_schema_is_left_alone(tokenizer: PreTrainedTokenizerFast) -> None:
    prompt = tokenizer.encode("<|user|>Say Kessan<|assistant|>", add_special_tokens=False)
    answer = tokenizer.encode("Kessan", add_special_tokens=False)
    exchange = Exchange(tokenizer)
    for seed in range(20):
        assert exchange(random.Random(seed), prompt, answer) == (prompt, answer)
