"""The body of POST /v1/completions."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright.errors import InputError
from maskwright.server.request.answer_request import Prompt, TextPrompt, TokenLimit, TokenPrompt
from maskwright.server.request.completion_requests import CompletionRequest

PROMPTS: list[tuple[Any, tuple[Prompt, ...]]] = [
    ("a", (TextPrompt("a"),)),
    (["a", "b"], (TextPrompt("a"), TextPrompt("b"))),
    ([1, 2], (TokenPrompt((1, 2)),)),
    ([[1, 2], [3]], (TokenPrompt((1, 2)), TokenPrompt((3,)))),
    ([[1], "b"], (TokenPrompt((1,)), TextPrompt("b"))),
]


@pytest.mark.parametrize(("prompt", "read"), PROMPTS, ids=str)
def test_prompts(prompt: Any, read: tuple[Prompt, ...]) -> None:
    assert CompletionRequest.parse({"prompt": prompt}).prompts == read


def test_special_tokens_can_be_left_out() -> None:
    request = CompletionRequest.parse({"prompt": "a", "add_special_tokens": False})
    assert request.prompts == (TextPrompt("a", special=False),)


def test_defaults() -> None:
    request = CompletionRequest.parse({"prompt": "a"})
    assert request.limit == TokenLimit(16, "max_tokens")
    assert (request.options.n, request.reply.best, request.reply.echo) == (1, 1, False)
    assert (request.reply.logprobs, request.options.params.logprobs) == (False, None)


def test_the_best_of_several_need_scores() -> None:
    request = CompletionRequest.parse({"prompt": "a", "n": 2, "best_of": 5})
    assert (request.options.n, request.reply.best) == (5, 2)
    assert (request.reply.logprobs, request.options.params.logprobs) == (False, 0)
    assert CompletionRequest.parse({"prompt": "a", "n": 2}).options.params.logprobs is None


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"prompt": None}, "prompt"),
    ({"prompt": ""}, "prompt"),
    ({"prompt": []}, "prompt"),
    ({"prompt": [""]}, "prompt[0]"),
    ({"prompt": [[]]}, "prompt[0]"),
    ({"prompt": [1, "a"]}, "prompt[1]"),
    ({"prompt": [1, -1]}, "prompt[1]"),
    ({"prompt": [1.5]}, "prompt[0]"),
    ({"prompt": [[1, 2**31]]}, "prompt[0][1]"),
    ({"prompt": ["a", 1]}, "prompt[1]"),
    ({"prompt": [True]}, "prompt[0]"),
    ({"prompt": 5}, "prompt"),
    ({"suffix": "x"}, "suffix"),
    ({"messages": []}, "messages"),
    ({"tools": [{"type": "function", "function": {"name": "f"}}]}, "tools"),
    ({"tool_choice": "required"}, "tool_choice"),
    ({"logprobs": 21}, "logprobs"),
    ({"logprobs": True}, "logprobs"),
    ({"top_logprobs": 2}, "top_logprobs"),
    ({"n": 3, "best_of": 2}, "best_of"),
    ({"best_of": 2, "stream": True}, "best_of"),
    ({"max_tokens": 0}, "max_tokens"),
]


@pytest.mark.parametrize(("fields", "param"), REFUSED, ids=str)
def test_refused(fields: dict[str, Any], param: str) -> None:
    with pytest.raises(InputError) as caught:
        CompletionRequest.parse({"prompt": "a", **fields})
    assert caught.value.param == param
    assert caught.value.code


@pytest.mark.parametrize("fields", [{"suffix": ""}, {"suffix": None}, {"tools": []}], ids=str)
def test_values_without_an_effect(fields: dict[str, Any]) -> None:
    CompletionRequest.parse({"prompt": "a", **fields})
