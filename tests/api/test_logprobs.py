"""Log-probabilities as the official client reads them."""

from __future__ import annotations

import json
import math
from typing import Any

import openai
import pytest

from tests.api.shapes import SHAPES

MESSAGES: Any = [{"role": "user", "content": "Anna Berg, 34, lives in Oslo."}]
SHAPE: Any = {
    "type": "json_schema",
    "json_schema": {"name": "person", "schema": SHAPES["person"]},
}


def asked(**fields: Any) -> Any:
    return {
        "model": "demo", "messages": MESSAGES, "logprobs": True, "top_logprobs": 3,
        "response_format": SHAPE, "max_tokens": 80, "seed": 4, **fields,
    }  # fmt: skip


def test_whole_and_streamed_are_the_same_and_spell_the_answer(client: openai.OpenAI) -> None:
    (choice,) = client.chat.completions.create(**asked()).choices
    assert choice.logprobs is not None
    assert choice.logprobs.content is not None
    whole = choice.logprobs.content
    spelled = b"".join(bytes(entry.bytes or ()) for entry in whole).decode()
    assert spelled == choice.message.content
    json.loads(spelled)
    streamed, text = [], ""
    for chunk in client.chat.completions.create(**asked(stream=True)):
        (part,) = chunk.choices
        text += part.delta.content or ""
        if part.logprobs is not None:
            streamed += part.logprobs.content or []
            so_far = b"".join(bytes(entry.bytes or ()) for entry in streamed)
            assert so_far.startswith(text.encode()), "an entry is later than its text"
    assert text == choice.message.content
    assert [one.model_dump() for one in streamed] == [one.model_dump() for one in whole]


def test_raw_is_the_models_and_masked_the_grammars(client: openai.OpenAI) -> None:
    def entries(scale: str) -> list[Any]:
        made = client.chat.completions.create(
            **asked(temperature=0, top_logprobs=20),
            extra_body={"maskwright": {"logprobs": scale}},
        )
        assert made.choices[0].logprobs is not None
        return made.choices[0].logprobs.content or []

    raw, masked = entries("raw"), entries("masked")
    assert [one.token for one in raw] == [one.token for one in masked]
    kept = [math.exp(one.logprob - other.logprob) for one, other in zip(raw, masked, strict=True)]
    assert all(0 < share <= 1 + 1e-9 for share in kept)
    assert min(kept) < 0.9999, "nothing was masked"
    for one, other in zip(raw, masked, strict=True):
        assert one.logprob <= other.logprob + 1e-9
        assert one.top_logprobs[0].logprob == max(top.logprob for top in one.top_logprobs)
        assert other.logprob == other.top_logprobs[0].logprob, "the likeliest that is allowed"
        assert sum(math.exp(top.logprob) for top in other.top_logprobs) <= 1 + 1e-9


def test_without_alternatives(client: openai.OpenAI) -> None:
    made = client.chat.completions.create(**asked(top_logprobs=None, n=2))
    for choice in made.choices:
        assert choice.logprobs is not None
        assert all(one.top_logprobs == [] for one in choice.logprobs.content or [])


def test_alternatives_need_logprobs(client: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        client.chat.completions.create(**asked(logprobs=False))
    assert caught.value.param == "top_logprobs"
