"""What the official `openai` package gets from POST /v1/completions and the shipped model."""

from __future__ import annotations

from typing import Any, cast

import openai
import pytest

from tests.api.test_openai_client import PERSON, check
from tests.pages.demo_server import Served

PROMPT = "<|user|>Anna Berg, 34, lives in Oslo.<|assistant|>"


def test_text_is_continued(client: openai.OpenAI) -> None:
    answer = client.completions.create(model="demo", prompt="Anna Berg lives", temperature=0)
    assert answer.object == "text_completion"
    assert answer.usage is not None
    assert answer.usage.completion_tokens <= 16
    assert answer.choices[0].finish_reason in ("stop", "length")


def test_text_and_token_ids_are_one_prompt(served: Served, client: openai.OpenAI) -> None:
    tokens = served.engine.loaded.encoder.encode(PROMPT, special=False)
    assert len(tokens) < len(PROMPT) / 2, "control tokens in a plain prompt count as such"
    asked: dict[str, Any] = {"model": "demo", "temperature": 0, "max_tokens": 8}
    prompts: list[Any] = [PROMPT, tokens, [PROMPT, PROMPT], [tokens, tokens]]
    answers = [client.completions.create(prompt=prompt, **asked) for prompt in prompts]
    assert [len(answer.choices) for answer in answers] == [1, 1, 2, 2]
    assert len({choice.text for answer in answers for choice in answer.choices}) == 1


@pytest.mark.parametrize(
    "shape",
    [
        {"response_format": {"type": "json_schema", "json_schema": {"schema": PERSON}}},
        {"structured_outputs": {"json": PERSON}},
        {"guided_json": PERSON},
    ],
    ids=lambda shape: next(iter(shape)),
)
def test_shapes_are_satisfied(client: openai.OpenAI, shape: dict[str, Any]) -> None:
    answer = client.completions.create(
        model="demo", prompt=[PROMPT, PROMPT], max_tokens=100, n=2, extra_body=shape
    )
    assert [choice.index for choice in answer.choices] == [0, 1, 2, 3]
    for choice in answer.choices:
        check(choice.text, PERSON)


def test_a_stream_gives_what_a_whole_answer_has(client: openai.OpenAI) -> None:
    asked: dict[str, Any] = {
        "model": "demo",
        "prompt": [PROMPT, "Once"],
        "seed": 3,
        "n": 2,
        "echo": True,
        "max_tokens": 20,
    }
    texts = [""] * 4
    for chunk in client.completions.create(stream=True, **asked):
        for choice in chunk.choices:
            texts[choice.index] += choice.text
    whole = client.completions.create(**asked)
    assert [choice.text for choice in whole.choices] == texts
    assert all(text.startswith(PROMPT) for text in texts[:2])


def test_log_probabilities(client: openai.OpenAI) -> None:
    answer = client.completions.create(
        model="demo", prompt=PROMPT, temperature=0, logprobs=3, max_tokens=8
    )
    [choice] = answer.choices
    scores = choice.logprobs
    assert scores is not None
    assert scores.tokens is not None
    assert scores.top_logprobs is not None
    assert scores.token_logprobs is not None
    assert scores.text_offset is not None
    assert "".join(scores.tokens) == choice.text
    for token, value, top, offset in zip(
        scores.tokens, scores.token_logprobs, scores.top_logprobs, scores.text_offset, strict=True
    ):
        assert top[token] == value == max(top.values())
        assert choice.text[offset:].startswith(token)


def test_every_chunk_has_arrays_of_log_probabilities(client: openai.OpenAI) -> None:
    """Clients read them without a look at whether they are there; the ids belong to the text."""
    fields = {"return_token_ids": True, "return_tokens_as_token_ids": True, "ignore_eos": True}
    asked: dict[str, Any] = {"model": "demo", "prompt": PROMPT, "temperature": 0, "logprobs": 1}
    named: list[str] = []
    tokens: list[int] = []
    for chunk in client.completions.create(**asked, stream=True, max_tokens=8, extra_body=fields):
        [choice] = chunk.choices
        assert choice.logprobs is not None
        assert choice.logprobs.tokens is not None
        named += choice.logprobs.tokens
        tokens += cast(Any, choice).token_ids
    assert named == [f"token_id:{token}" for token in tokens]
    assert len(tokens) == 8


def test_the_likeliest_of_several(client: openai.OpenAI) -> None:
    asked: dict[str, Any] = {"model": "demo", "prompt": PROMPT, "seed": 1, "max_tokens": 12}
    every = client.completions.create(n=4, **asked)
    best = client.completions.create(n=1, best_of=4, **asked)
    assert best.choices[0].text in {choice.text for choice in every.choices}
    assert best.usage is not None
    assert every.usage is not None
    assert best.usage.completion_tokens == every.usage.completion_tokens, "all four are counted"


@pytest.mark.parametrize("stream", [False, True])
def test_a_suffix_is_refused_by_name(client: openai.OpenAI, stream: bool) -> None:
    asked: dict[str, Any] = {"model": "demo", "prompt": "a", "suffix": "b", "stream": stream}
    with pytest.raises(openai.BadRequestError) as caught:
        client.completions.create(**asked)
    assert caught.value.param == "suffix"
