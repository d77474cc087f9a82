"""Fields that decide which tokens are drawn and where an answer ends, with the shipped model."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from tests.api.test_openai_client import MESSAGES, PERSON, check
from tests.pages.demo_server import Served

SHAPE = {"type": "json_schema", "json_schema": {"name": "person", "schema": PERSON}}


def ask(served: Served, **fields: Any) -> httpx.Response:
    body = {"messages": MESSAGES, "seed": 1, "max_tokens": 24, **fields}
    return httpx.post(f"{served.url}/v1/chat/completions", json=body, timeout=60)


def answer(served: Served, **fields: Any) -> tuple[str, int, str]:
    """The text, the number of tokens and the finish reason."""
    response = ask(served, **fields)
    assert response.status_code == 200, response.text
    body = response.json()
    [choice] = body["choices"]
    return choice["message"]["content"], body["usage"]["completion_tokens"], choice["finish_reason"]


def tokens_of(served: Served, text: str) -> list[int]:
    return served.engine.loaded.encoder.encode(text, special=False)


def test_an_answer_has_the_least_number_of_tokens(served: Served) -> None:
    """Without it, the model ends some of these answers."""
    asked: dict[str, Any] = {"temperature": 2, "max_tokens": 60}
    short = [answer(served, **{**asked, "seed": seed})[1] for seed in range(6)]
    assert min(short) < 60
    for field in ({"min_tokens": 60}, {"ignore_eos": True}):
        for seed in range(6):
            assert answer(served, **{**asked, **field, "seed": seed})[1:] == (60, "length")


def test_a_shape_ends_where_it_is_complete(served: Served) -> None:
    fields: dict[str, Any] = {"response_format": SHAPE, "max_tokens": 100}
    for more in ({"min_tokens": 90}, {"ignore_eos": True}):
        text, count, reason = answer(served, **fields, **more)
        check(text, PERSON)
        assert (count < 90, reason) == (True, "stop")


def test_more_tokens_than_the_limit_can_not_be_demanded(served: Served) -> None:
    error = ask(served, min_tokens=30).json()["error"]
    assert error["param"] == "min_tokens"


LONG: dict[str, Any] = {"temperature": 1, "ignore_eos": True}
"""An answer of 24 tokens that differ."""


def test_stop_tokens_end_the_text(served: Served) -> None:
    response = ask(served, **LONG, logprobs=True)
    spelled = [bytes(e["bytes"]) for e in response.json()["choices"][0]["logprobs"]["content"]]
    at = next(at for at in range(3, 24) if spelled[at] not in spelled[:at])
    stop = served.engine.loaded.vocab.tokens.index(spelled[at])
    text, count, reason = answer(served, **LONG, stop_token_ids=[stop])
    assert (text.encode(), count, reason) == (b"".join(spelled[:at]), at + 1, "stop")
    text, _, _ = answer(served, **LONG, stop_token_ids=[stop], include_stop_str_in_output=True)
    assert text.encode() == b"".join(spelled[: at + 1])
    text, count, _ = answer(served, **LONG, stop_token_ids=[stop], min_tokens=at + 2)
    assert count >= at + 2
    assert text.encode().startswith(b"".join(spelled[:at]))


def test_a_stop_string_can_be_included(served: Served) -> None:
    whole, _, _ = answer(served, **LONG)
    stop = whole[4:7]
    cut = whole[: whole.index(stop)]
    assert answer(served, **LONG, stop=stop)[0] == cut
    assert answer(served, **LONG, stop=stop, include_stop_str_in_output=True)[0] == cut + stop


def test_bad_words_never_occur(served: Served) -> None:
    for seed in range(4):
        whole, _, _ = answer(served, **LONG)
        words = [whole[at : at + 2] for at in range(0, 12, 3)]
        text, _, _ = answer(served, **{**LONG, "seed": seed}, bad_words=words)
        assert not any(word in text for word in words)
    for temperature in (0, 1):
        asked: dict[str, Any] = {"temperature": temperature, "response_format": SHAPE}
        text, _, _ = answer(served, **asked, bad_words=["A", "B"], max_tokens=100)
        assert not set("AB") & set(str(check(text, PERSON)))


def test_a_bad_word_that_the_shape_demands_leaves_nothing(served: Served) -> None:
    response = ask(served, bad_words=["age"], response_format=SHAPE, max_tokens=100)
    assert response.status_code == 400
    assert response.json()["error"]["code"] == "empty_support"


def test_only_allowed_tokens_occur(served: Served) -> None:
    allowed = tokens_of(served, "yes no")
    texts = {served.engine.loaded.vocab.tokens[token] for token in allowed}
    response = ask(served, allowed_token_ids=allowed, max_tokens=8, logprobs=True)
    [choice] = response.json()["choices"]
    spelled = [bytes(entry["bytes"]) for entry in choice["logprobs"]["content"]]
    assert set(spelled) <= texts
    assert len(spelled) == 8, "no end token is allowed"


def test_no_ngram_occurs_twice(served: Served) -> None:
    text, _, _ = answer(served, temperature=0, no_repeat_ngram_size=1, ignore_eos=True)
    response = ask(served, temperature=0, logprobs=True, no_repeat_ngram_size=1, ignore_eos=True)
    entries = response.json()["choices"][0]["logprobs"]["content"]
    spelled = [tuple(entry["bytes"]) for entry in entries]
    assert bytes(byte for one in spelled for byte in one).decode(errors="replace") == text
    assert len(set(spelled)) == len(spelled)


def test_the_end_of_a_prompt_is_kept(served: Served) -> None:
    def prompt_tokens(**fields: Any) -> int:
        return ask(served, **fields).json()["usage"]["prompt_tokens"]

    whole = prompt_tokens()
    assert prompt_tokens(truncate_prompt_tokens=5) == 5
    assert prompt_tokens(truncate_prompt_tokens=whole + 5) == whole
    long = [{"role": "user", "content": "word " * 4000}]
    assert ask(served, messages=long).status_code == 400
    room = served.engine.max_context - 24
    assert prompt_tokens(messages=long, truncate_prompt_tokens=-1) == room


def test_the_side_on_which_a_prompt_is_cut(served: Served) -> None:
    def prompt(**fields: Any) -> list[int]:
        return ask(served, return_token_ids=True, **fields).json()["prompt_token_ids"]

    whole = prompt()
    assert len(whole) > 5
    assert prompt(truncate_prompt_tokens=5, truncation_side="right") == whole[:5]
    assert prompt(truncate_prompt_tokens=5, truncation_side="left") == whole[-5:]
    assert prompt(truncate_prompt_tokens=len(whole) + 1, truncation_side="right") == whole
    assert prompt(truncation_side="right") == whole, "nothing is cut unless that is asked for"


TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"min_tokens": -1}, "min_tokens"),
    ({"stop_token_ids": [10**6]}, "stop_token_ids"),
    ({"stop_token_ids": ["a"]}, "stop_token_ids[0]"),
    ({"stop_token_ids": [300], "tools": [TOOL]}, "stop_token_ids"),
    (
        {"stop": "a", "include_stop_str_in_output": True, "tools": [TOOL]},
        "include_stop_str_in_output",
    ),
    ({"allowed_token_ids": []}, "allowed_token_ids"),
    ({"allowed_token_ids": [10**6]}, "allowed_token_ids"),
    ({"bad_words": [""]}, "bad_words"),
    ({"bad_words": ["a"] * 65}, "bad_words"),
    ({"bad_words": [5]}, "bad_words[0]"),
    ({"ignore_eos": "yes"}, "ignore_eos"),
    ({"truncate_prompt_tokens": -2}, "truncate_prompt_tokens"),
    ({"truncate_prompt_tokens": 0}, "truncate_prompt_tokens"),
    ({"truncation_side": "middle"}, "truncation_side"),
    ({"thinking_token_budget": -2}, "thinking_token_budget"),
    ({"cache_salt": ""}, "cache_salt"),
]


@pytest.mark.parametrize(("fields", "param"), REFUSED, ids=str)
def test_refused(served: Served, fields: dict[str, Any], param: str) -> None:
    response = ask(served, **fields)
    assert response.status_code == 400, response.text
    assert response.json()["error"]["param"] == param


def test_a_trace_tells_them(served: Served) -> None:
    own = {"trace": "tokens"}
    response = ask(served, maskwright=own, bad_words=["zz"], min_tokens=2, max_tokens=4)
    params = response.json()["choices"][0]["maskwright"]["tokens"]["params"]
    assert (params["banned"], params["min_tokens"]) == (["zz"], 2)
    assert json.dumps(params)


def test_what_stopped_an_answer_is_reported(served: Served) -> None:
    asked: dict[str, Any] = {"messages": [{"role": "user", "content": "Hello!"}], "temperature": 0}
    whole = answer(served, **asked)[0]
    stop = whole[3:5]
    [choice] = ask(served, **asked, stop=[stop, "never there"]).json()["choices"]
    assert (choice["stop_reason"], choice["message"]["content"]) == (
        stop,
        whole[: whole.index(stop)],
    )
    token = tokens_of(served, whole)[1]
    [choice] = ask(served, **asked, stop_token_ids=[token]).json()["choices"]
    assert choice["stop_reason"] == token
    [choice] = ask(served, **asked, max_tokens=3).json()["choices"]
    assert choice["stop_reason"] is None


def test_tokens_are_returned_by_their_ids(served: Served) -> None:
    body = ask(served, return_token_ids=True, return_tokens_as_token_ids=True, logprobs=True).json()
    [choice] = body["choices"]
    assert len(choice["token_ids"]) == body["usage"]["completion_tokens"]
    assert len(body["prompt_token_ids"]) == body["usage"]["prompt_tokens"]
    vocab = served.engine.loaded.vocab
    assert vocab.decode(choice["token_ids"]).decode() == choice["message"]["content"]
    entries = choice["logprobs"]["content"]
    named = [f"token_id:{token}" for token in choice["token_ids"]]
    assert [entry["token"] for entry in entries] == named[: len(entries)]
