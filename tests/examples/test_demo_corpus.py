"""The generated corpus: deterministic, valid, split into training and held-out parts."""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers import AutoTokenizer, PreTrainedTokenizerFast

from examples.demo_model.batches import encode, pack, render, value_spans
from examples.demo_model.corpus import Example, example, extraction
from examples.demo_model.texts.domains import domains
from examples.demo_model.texts.instructions import (
    HELD_OUT_INSTRUCTIONS,
    INSTRUCTION_VERBS,
    INSTRUCTIONS,
)
from examples.demo_model.texts.records import domain_facts
from examples.demo_model.texts.values import draw, words
from examples.demo_model.texts.words import LISTS, entries, is_held_out_word, made_up
from examples.demo_model.tokenizer import train
from maskwright.models import DEMO_PATH

ROOT = Path(__file__).resolve().parent.parent.parent
VALUES = (
    *("person", "word", "lower", "city", "country", "company", "product", "color", "food"),
    *("job", "animal", "material", "topic", "dish", "hotel", "email", "site"),
)


@pytest.fixture(scope="module")
def tokenizer() -> PreTrainedTokenizerFast:
    return AutoTokenizer.from_pretrained(DEMO_PATH)


def drawn(count: int, *, held_out: bool) -> list[Example]:
    return [example(3, i, held_out=held_out, level=(i % 5) / 4) for i in range(count)]


def test_an_example_depends_on_seed_and_number_alone() -> None:
    assert [example(3, i) for i in range(20)] == [example(3, i) for i in range(20)]
    assert example(3, 0) != example(4, 0)
    code = (
        "from examples.demo_model.corpus import example; print([example(3, i) for i in range(20)])"
    )
    for hash_seed in ("0", "1"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        printed = subprocess.check_output(
            [sys.executable, "-c", code], cwd=ROOT, env=environment, text=True
        )
        assert printed.strip() == str([example(3, i) for i in range(20)])


@pytest.mark.parametrize("held_out", [False, True])
def test_every_answer_has_the_shape_of_its_schema(held_out: bool) -> None:
    for item in drawn(1500, held_out=held_out):
        if item.schema is not None:
            jsonschema.Draft202012Validator.check_schema(item.schema)
            jsonschema.Draft202012Validator(item.schema).validate(item.value)
        if item.value is not None:
            assert item.answer == json.dumps(item.value, ensure_ascii=False)


def test_the_reported_examples_stay_the_same() -> None:
    """A richer corpus must not change what the figures in docs/demo-model.md are measured on."""
    reported = [asdict(extraction(2_000_003, index)) for index in range(250)]
    digest = hashlib.sha256(json.dumps(reported, sort_keys=True).encode()).hexdigest()
    assert digest == "41348800986bf4fba596ac8da6745f1c4db89fe7af5b53c1249ebe919627cc2f"


def test_every_tool_call_names_a_tool_and_fits_its_parameters() -> None:
    calls = [item for item in drawn(2500, held_out=False) if item.tools]
    assert len(calls) > 50
    for item in calls:
        functions = {tool["function"]["name"]: tool["function"] for tool in item.tools}
        jsonschema.validate(item.value["arguments"], functions[item.value["name"]]["parameters"])


def test_keys_come_in_the_order_of_the_schema() -> None:
    checked = 0
    for item in drawn(1000, held_out=False):
        if isinstance(item.value, dict) and item.schema and "properties" in item.schema:
            keys = list(item.value)
            assert keys == [key for key in item.schema["properties"] if key in item.value]
            checked += len(keys) > 1
    assert checked > 300


def test_answers_are_found_in_the_text() -> None:
    """A made-up or listed value is never one the model would have to guess."""
    for index in range(300):
        item = extraction(5, index)
        text = item.messages[-1]["content"]
        for value in re.findall(r'": "([^"]+)"', item.answer):
            iso = re.fullmatch(r"\d{4}-\d\d-\d\d", value)
            assert iso or value.lower() in text.lower(), (value, text)


@pytest.mark.parametrize("name", sorted(LISTS))
def test_listed_words_are_split(name: str) -> None:
    known, held_out = entries(name, False), entries(name, True)
    assert known
    assert held_out
    assert not set(known) & set(held_out)


@given(st.integers(), st.booleans())
def test_made_up_words_are_split(seed: int, held_out: bool) -> None:
    assert is_held_out_word(made_up(random.Random(seed), held_out)) == held_out


@pytest.mark.parametrize("kind", VALUES)
def test_no_value_stands_in_both_splits(kind: str) -> None:
    rng = random.Random(1)
    known = {words(rng, kind, False) for _ in range(800)}
    assert not known & {words(rng, kind, True) for _ in range(800)}


def test_wordings_are_split() -> None:
    assert not set(INSTRUCTIONS) & set(HELD_OUT_INSTRUCTIONS)
    for wording in HELD_OUT_INSTRUCTIONS:
        assert not set(INSTRUCTION_VERBS.split()) & set(re.findall("[A-Z][a-z]+", wording))
    for domain in domains():
        for field in domain.fields:
            assert field.clauses
            assert field.held_out_clauses
            assert not set(field.clauses) & set(field.held_out_clauses)


@pytest.mark.parametrize("held_out", [False, True])
def test_a_text_uses_wordings_of_its_split(held_out: bool) -> None:
    rng = random.Random(2)
    for domain in domains():
        for fact in domain_facts(rng, domain, len(domain.fields), held_out):
            field = next(f for f in domain.fields if fact.prop.key in f.keys)
            wordings = field.held_out_clauses if held_out else field.clauses
            stated = [part.replace("{v}", fact.text) for w in wordings for part in w.split(" ~ ")]
            assert fact.clause in stated


def test_texts_survive_the_tokenizer(tokenizer: PreTrainedTokenizerFast) -> None:
    for item in drawn(300, held_out=True):
        for text in (item.answer, item.messages[-1]["content"]):
            assert tokenizer.decode(tokenizer.encode(text, add_special_tokens=False)) == text


@given(st.text())
def test_any_text_survives_the_tokenizer(text: str) -> None:
    loaded = AutoTokenizer.from_pretrained(DEMO_PATH)
    assert loaded.decode(loaded.encode(text, add_special_tokens=False)) == text


@pytest.mark.parametrize("kind", ["person", "city", "color", "product", "code", "email", "date"])
def test_a_value_has_the_same_tokens_in_a_sentence_and_in_json(
    tokenizer: PreTrainedTokenizerFast, kind: str
) -> None:
    rng = random.Random(4)
    for _ in range(50):
        value = draw(rng, kind, True).text
        alone = tokenizer.encode(value, add_special_tokens=False)
        for text in (f"This is {value} and more.", f'{{"a": "{value}", "b": 1}}'):
            ids = tokenizer.encode(text, add_special_tokens=False)
            places = [i for i in range(len(ids)) if ids[i : i + len(alone)] == alone]
            assert places, (value, text)


def test_tokens_cross_grammar_boundaries(tokenizer: PreTrainedTokenizerFast) -> None:
    vocabulary = tokenizer.get_vocab()
    assert len(vocabulary) == 4000
    for text in ('": "', '", "', '{"', '"}', '": {"', '"}, {"'):
        assert len(tokenizer.encode(text, add_special_tokens=False)) == 1, text


def test_training_the_tokenizer_is_deterministic() -> None:
    first, second = (train(7, 200) for _ in range(2))
    assert first.get_vocab() == second.get_vocab()


def test_spans_point_at_the_values(tokenizer: PreTrainedTokenizerFast) -> None:
    answer = '{"a": "x, y", "b": [1, -2.5], "c": {"d": null, "e": true}}'
    ids = tokenizer.encode(answer, add_special_tokens=False)
    texts = [tokenizer.decode(ids[a:b]) for a, b in value_spans(tokenizer, answer)]
    values = ["x, y", "1", "-2.5", "null", "true"]
    assert len(texts) == len(values)
    assert all(value in text for value, text in zip(values, texts, strict=True))


def test_a_batch_asks_for_the_answers(tokenizer: PreTrainedTokenizerFast) -> None:
    items = drawn(8, held_out=False)
    rows = [encode(tokenizer, item) for item in items]
    batch = pack(rows, tokenizer.pad_token_id)
    flat = batch.ids.flatten()
    assert batch.targets.tolist() == [token for row in rows for token in row.answer]
    firsts = [0, *(len(row.answer) for row in rows[:-1])]
    start = 0
    for offset, row, item in zip(firsts, rows, items, strict=True):
        start += offset
        assert flat[batch.at[start]] == tokenizer.convert_tokens_to_ids("<|assistant|>")
        assert tokenizer.decode(row.prompt) == render(tokenizer, item)
