"""Likelihoods of continuations as evaluations read them: the prompt comes back with the log-
probabilities of its tokens and one token more, and sums are taken from the context's end up to that
token. Held against the plain forward pass of the shipped model.

The arithmetic is the one of lm-evaluation-harness's `local-completions`
(the method parse_logprobs of its class LocalCompletionsAPI).
"""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from tests.api.test_logprobs import plain
from tests.bounds import PATIENCE
from tests.pages.demo_server import Served

PAIRS = [
    ("The order is", " paid."),
    ("The order is paid.", " The desk is sold."),
    ("Anna Berg, 34,", " lives in Oslo."),
    ("Anna Berg", ", 34, lives in Oslo."),
    ("<|user|>Anna Berg, 34, lives in Oslo.<|assistant|>", '{"name": "Anna Berg", "age": 34}'),
    ("<|user|>Anna Berg, 34, lives in Oslo.<|assistant|>", '{"name": "Anna", "age": 34}'),
    ("<|user|>Is it paid?<|assistant|>", "yes"),
    ("<|user|>Is it paid?<|assistant|>", "no"),
    ("Question: 3 + 4?\nAnswer:", " 7"),
    ("Question: 3 + 4?\nAnswer:", " 8"),
    ("true", "true"),
    ("{", '"total": 12}'),
    ('{"items": [', '"lamp", "desk"]}'),
    ("Éva Õ lives in", " 東京."),
    ("東京", "は晴れ"),
    ("The the the", " the the"),
    ("1, 2, 3,", " 4, 5, 6"),
    ("x = ", "y + 1\n"),
    ("Once upon a time", ", there was a king."),
    ("<|user|>Hello!<|assistant|>Hello!", "<|end|>"),
]


def scores_of(choice: Any, context: int) -> tuple[float, bool]:
    """The sum over a continuation that begins after `context` tokens, and whether each of its
    tokens is the likeliest: all entries count but the context's and the last one, which is
    the token that was generated."""
    logprobs = choice["logprobs"]
    values = logprobs["token_logprobs"][context:-1]
    tops = logprobs["top_logprobs"][context:-1]
    likeliest = all(value == max(top.values()) for value, top in zip(values, tops, strict=True))
    return sum(values), likeliest


def encoded(served: Served, text: str) -> list[int]:
    return served.engine.loaded.encoder.encode(text, special=False)


def ask(served: Served, **fields: Any) -> Any:
    body = {"model": "demo", "temperature": 0, "logprobs": 1, "seed": 1234, "echo": True, **fields}
    response = httpx.post(f"{served.url}/v1/completions", json=body, timeout=PATIENCE)
    assert response.status_code == 200, response.text
    return response.json()


@pytest.mark.parametrize("at_once", [1, 7, 20])
def test_sums_are_those_of_the_plain_forward(served: Served, at_once: int) -> None:
    assert len(PAIRS) == 20
    ended = likeliest = 0
    for begin in range(0, len(PAIRS), at_once):
        pairs = PAIRS[begin : begin + at_once]
        contexts = [encoded(served, context) for context, _ in pairs]
        prompts = [
            one + encoded(served, rest) for one, (_, rest) in zip(contexts, pairs, strict=True)
        ]
        answer = ask(served, prompt=prompts, max_tokens=1)
        choices = sorted(answer["choices"], key=lambda choice: choice["index"])
        assert answer["usage"]["total_tokens"] == sum(
            len(choice["logprobs"][name])
            for choice in choices
            for name in ("tokens", "token_logprobs", "top_logprobs", "text_offset")
        ) / 4  # fmt: skip
        for choice, context, prompt in zip(choices, contexts, prompts, strict=True):
            rows = plain(tuple(prompt))[len(context) - 1 : -1]
            rest = prompt[len(context) :]
            expected = sum(float(row[token]) for row, token in zip(rows, rest, strict=True))
            found, is_likeliest = scores_of(choice, len(context))
            assert found == pytest.approx(expected, abs=1e-3 * len(rest))
            assert is_likeliest == (rows.argmax(dim=-1).tolist() == rest)
            likeliest += is_likeliest
            assert len(choice["logprobs"]["tokens"]) == len(prompt) + 1
            ended += choice["finish_reason"] == "stop"
    assert 0 < ended < len(PAIRS), "some generate an end token, and others don't"
    assert 0 < likeliest < len(PAIRS)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    "fields",
    [
        {"prompt": "The order is paid.", "max_tokens": 1},  # an end token
        {"prompt": "The order is paid.", "max_tokens": 8},
        {"prompt": "The order is", "max_tokens": 6, "seed": 2},  # cut
        {"prompt": "The order is", "max_tokens": 0},
        {"prompt": ["The order is paid.", "The order is"], "max_tokens": 3, "n": 2},
        {"prompt": "1, 2, 3,", "max_tokens": 20, "stop": ["5", "0", "e"]},
        {"prompt": "1, 2, 3,", "max_tokens": 9, "guided_choice": ["4", "four", "5"]},
        {"prompt": "The order is paid.", "max_tokens": 1, "return_tokens_as_token_ids": True},
    ],
    ids=str,
)
def test_there_is_an_entry_for_every_token_that_the_usage_counts(
    served: Served, fields: dict[str, Any], stream: bool
) -> None:
    if not stream:
        answer = ask(served, **fields)
        usage, counted = answer["usage"], [c["logprobs"] for c in answer["choices"]]
    else:
        body = {"model": "demo", "temperature": 0, "logprobs": 1, "echo": True, "seed": 1234}
        response = httpx.post(
            f"{served.url}/v1/completions",
            json={**body, **fields, "stream": True, "stream_options": {"include_usage": True}},
            timeout=PATIENCE,
        )
        data = [line.removeprefix("data: ") for line in response.text.strip().split("\n\n")]
        *chunks, last = [json.loads(one) for one in data if one != "[DONE]"]
        usage = last["usage"]
        counted = [choice["logprobs"] for chunk in chunks for choice in chunk["choices"]]
    prompts = fields["prompt"] if isinstance(fields["prompt"], list) else [fields["prompt"]]
    repeated = sum(len(encoded(served, prompt)) for prompt in prompts) * fields.get("n", 1)
    for name in ("tokens", "token_logprobs", "top_logprobs", "text_offset"):
        found = sum(len(scores[name]) for scores in counted)
        assert found == repeated + usage["completion_tokens"]
