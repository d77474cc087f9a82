"""Log-probabilities as the official client reads them; for prompts, against the plain forward
pass of the shipped model."""

from __future__ import annotations

import json
import math
from functools import cache
from typing import Any

import openai
import pytest
import torch
import transformers

from maskwright.models import DEMO_PATH
from tests.api.conftest import Served
from tests.api.shapes import SHAPES

PROMPT = "<|user|>Anna Berg, 34, lives in Oslo. Éva Õ lives in 東京.<|assistant|>"
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


@cache
def plain(tokens: tuple[int, ...]) -> Any:
    """The logarithms of the probabilities `[tokens, vocab]` after each token."""
    model = transformers.AutoModelForCausalLM.from_pretrained(DEMO_PATH, dtype=torch.float32)
    with torch.no_grad():
        logits = model(torch.tensor([tokens]), use_cache=False).logits[0]
    return torch.log_softmax(logits.double(), dim=-1)


def compare(listed: Any, tokens: list[int], most: int, served: Served) -> None:
    """Compare vLLM's field with the plain forward."""
    assert listed[0] is None
    assert len(listed) == len(tokens)
    texts = served.engine.loaded.vocab.tokens
    for at, (entry, row) in enumerate(zip(listed[1:], plain(tuple(tokens)), strict=False), 1):
        assert most <= len(entry) <= most + 1
        own = entry[str(tokens[at])]
        assert own["logprob"] == pytest.approx(float(row[tokens[at]]), abs=1e-3)
        ranked = sorted((one["rank"], one["logprob"]) for one in entry.values())
        assert [rank for rank, _ in ranked][:most] == list(range(1, most + 1))
        best = row.topk(most).values.tolist()
        assert [value for _, value in ranked][:most] == pytest.approx(best, abs=1e-3)
        if texts[tokens[at]]:
            assert own["decoded_token"] == texts[tokens[at]].decode(errors="replace")


@pytest.mark.parametrize("most", [0, 3])
def test_of_prompts(served: Served, client: openai.OpenAI, most: int) -> None:
    prompts: Any = [PROMPT, "Once"]
    fields = {"prompt_logprobs": most, "return_token_ids": True}
    body: Any = client.completions.create(
        model="demo", prompt=prompts, n=2, max_tokens=4, extra_body=fields
    )
    assert len(body.choices) == 4
    for choice in body.choices:
        compare(choice.prompt_logprobs, choice.prompt_token_ids, most, served)
        assert choice.logprobs is None


def test_of_the_prompt_of_a_chat_with_a_shape(served: Served, client: openai.OpenAI) -> None:
    """Once, beside the choices; the shape restricts the answer alone."""
    fields = {"prompt_logprobs": 2, "return_token_ids": True, "guided_choice": ["yes"]}
    asked: Any = {"model": "demo", "messages": MESSAGES, "n": 2, "extra_body": fields}
    client.chat.completions.create(model="demo", messages=MESSAGES, max_tokens=1)
    body: Any = client.chat.completions.create(**asked)
    assert [choice.message.content for choice in body.choices] == ["yes", "yes"]
    compare(body.prompt_logprobs, body.prompt_token_ids, 2, served)
    assert body.usage.prompt_tokens_details.cached_tokens == 0
    again: Any = client.chat.completions.create(**asked)
    assert again.prompt_logprobs == body.prompt_logprobs


@pytest.mark.parametrize("stream", [False, True])
def test_echo_with_log_probabilities(served: Served, client: openai.OpenAI, stream: bool) -> None:
    """As evaluations read the likelihood of a continuation."""
    asked: Any = {"model": "demo", "prompt": PROMPT, "echo": True, "logprobs": 1, "seed": 1}
    made = client.completions.create(**asked, max_tokens=3, stream=stream)
    text, scores = "", dict[str, list[Any]]()
    for part in made if stream else [made]:  # type: ignore[union-attr]
        for choice in part.choices:
            text += choice.text
            for name, values in (choice.logprobs or openai.BaseModel()).model_dump().items():
                scores.setdefault(name, []).extend(values)
    tokens = served.engine.loaded.encoder.encode(PROMPT, special=False)
    assert scores["token_logprobs"][0] is None
    assert scores["top_logprobs"][0] is None
    assert text.startswith(PROMPT)
    for at, row in enumerate(plain(tuple(tokens))[:-1], 1):
        own = float(row[tokens[at]])
        assert scores["token_logprobs"][at] == pytest.approx(own, abs=1e-3)
        assert max(scores["top_logprobs"][at].values()) == pytest.approx(float(row.max()), abs=1e-3)
        offset, token = scores["text_offset"][at], scores["tokens"][at]
        assert "\ufffd" in token or text[offset:].startswith(token)
    assert len(scores["tokens"]) >= len(tokens)


@pytest.mark.parametrize(
    "fields",
    [{"prompt_logprobs": 1, "stream": True}, {"prompt_logprobs": -1}, {"prompt_logprobs": 21}],
)
def test_scores_of_prompts_that_are_refused(client: openai.OpenAI, fields: Any) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        client.chat.completions.create(model="demo", messages=MESSAGES, extra_body=fields)
    assert caught.value.param == "prompt_logprobs"
