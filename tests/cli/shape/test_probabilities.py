"""Probabilities of a text's tokens, compared with the engine's that generates it."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from maskwright import compile_json_schema
from maskwright.cli.shape import probabilities
from maskwright.cli.shape.probabilities import prompt_tokens, token_probabilities
from maskwright.engine import Engine, EngineConfig, Request
from maskwright.errors import InputError
from maskwright.models import DEMO_PATH, LoadedModel, load
from maskwright.sampling import SamplingParams
from tests.engine.tiny import save_checkpoint

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 12}, "age": {"type": "integer"}},
    "required": ["name", "age"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def demo() -> LoadedModel:
    return load(DEMO_PATH)


@pytest.mark.parametrize("rows", [128, 16])
def test_they_are_those_of_the_engine(
    demo: LoadedModel, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine computes a token at a time; here all are computed at once, or in parts."""
    monkeypatch.setattr(probabilities, "ROWS", rows)
    grammar = compile_json_schema(SCHEMA, demo.vocab, whitespace="spaced")
    prompt = prompt_tokens(demo, "Anna Berg, 34, lives in Oslo.", SCHEMA)
    config = EngineConfig(canonical=False, drafts=0)
    params = SamplingParams(logprobs=0, temperature=1.0, seed=7)
    with Engine(demo, config) as engine:
        done = engine.submit(Request(prompt, params, max_tokens=64, grammar=grammar)).result()
    tokens = [each.token for each in done.scores]
    assert len(tokens) > 8
    found = [*token_probabilities(demo, grammar, prompt, tokens)]
    assert len(found) == len(tokens)
    for mine, theirs in zip(found, done.scores, strict=True):
        assert mine.raw == pytest.approx(math.exp(theirs.raw), rel=1e-3, abs=1e-9)
        assert mine.masked == pytest.approx(math.exp(theirs.masked), rel=1e-3)
        assert mine.kept == pytest.approx(theirs.kept, rel=1e-3, abs=1e-9)


def test_a_text_that_is_too_long_for_the_model_is_refused(tmp_path: Path) -> None:
    tiny = load(save_checkpoint(tmp_path / "tiny"))
    grammar = compile_json_schema({"type": "string"}, tiny.vocab)
    many = [0] * (tiny.decoder.max_positions + 1)
    with pytest.raises(InputError, match="positions"):
        next(token_probabilities(tiny, grammar, many, [0]))
    assert [*token_probabilities(tiny, grammar, many, [])] == []


def test_a_model_without_a_template_continues_the_prompt(tmp_path: Path) -> None:
    tiny = load(save_checkpoint(tmp_path / "tiny"))
    if tiny.chat_template:
        tiny.tokenizer.chat_template = None
    assert prompt_tokens(tiny, "abc") == tiny.encode("abc")
    with pytest.raises(InputError, match="give --prompt"):
        prompt_tokens(tiny, "")
