"""POST /v1/completions over a scripted engine."""

from __future__ import annotations

import json
import math
from typing import Any

import httpx
import pytest

from maskwright.errors import InputError
from tests.server.scripted import Client, Script, ScriptedEngine, usage


def ask(client: Client, **fields: Any) -> httpx.Response:
    return client.call("POST", "/v1/completions", json={"prompt": [1, 2], **fields})


def events(client: Client, **fields: Any) -> list[Any]:
    blocks = ask(client, stream=True, **fields).text.strip().split("\n\n")
    assert blocks.pop() == "data: [DONE]"
    return [json.loads(block.removeprefix("data: ")) for block in blocks]


def choice(index: int, text: str, reason: str | None = None) -> dict[str, Any]:
    ended = {} if reason is None else {"stop_reason": None}
    return {"index": index, "text": text, "logprobs": None, "finish_reason": reason, **ended}


def test_a_whole_answer(client: Client, engine: ScriptedEngine) -> None:
    body = ask(client, model="m").json()
    assert body.pop("id").startswith("cmpl-")
    assert (body["object"], body["model"]) == ("text_completion", "m")
    assert body["choices"] == [choice(0, "Hello", "stop")]
    assert body["usage"] == usage(2, 2)
    assert list(engine.requests[0].prompt) == [1, 2]
    assert engine.requests[0].max_tokens == 16


def test_several_prompts_have_n_answers_each(client: Client, engine: ScriptedEngine) -> None:
    engine.scripts = [Script([text]) for text in "abcd"]
    body = ask(client, prompt=[[1], [2, 3]], n=2).json()
    assert body["choices"] == [choice(i, text, "stop") for i, text in enumerate("abcd")]
    assert [list(asked.prompt) for asked in engine.requests] == [[1], [1], [2, 3], [2, 3]]
    assert body["usage"] == usage(3, 4)


def test_the_likeliest_answers_are_returned(client: Client, engine: ScriptedEngine) -> None:
    """The scores of the script fall with the byte."""
    engine.scripts = [Script([text], spelled=True) for text in ("zz", "a", "zzzz", "b", "a", "z")]
    body = ask(client, prompt=[[1], [2]], best_of=3, n=2).json()
    assert [one["text"] for one in body["choices"]] == ["a", "zz", "a", "b"]
    assert [one["index"] for one in body["choices"]] == [0, 1, 2, 3]
    assert body["usage"] == usage(2, 2 + 1 + 4 + 1 + 1 + 1)


def test_the_echo_comes_before_the_answer(client: Client) -> None:
    asked: dict[str, Any] = {"prompt": [list(b"say "), list(b"no ")], "echo": True}
    whole = [one["text"] for one in ask(client, **asked).json()["choices"]]
    assert whole == ["say Hello", "no Hello"]
    joined = ["", ""]
    for event in events(client, **asked):
        [one] = event["choices"]
        joined[one["index"]] += one["text"]
    assert joined == whole


def test_a_stream(client: Client) -> None:
    made = events(client, stream_options={"include_usage": True})
    assert [event["choices"] for event in made] == [
        [choice(0, "Hel")],
        [choice(0, "lo")],
        [choice(0, "", "stop")],
        [],
    ]
    assert [event["usage"] for event in made] == [None] * 3 + [usage(2, 2)]
    assert len({event["id"] for event in made}) == 1


def test_log_probabilities_are_parallel_arrays(client: Client, engine: ScriptedEngine) -> None:
    engine.script = Script(["né", "x"], spelled=True)
    scores = ask(client, logprobs=0).json()["choices"][0]["logprobs"]
    assert scores["tokens"] == ["n", "\ufffd", "\ufffd", "x"]
    assert scores["text_offset"] == [0, 1, 1, 2]
    assert scores["token_logprobs"] == [-byte / 256 for byte in "néx".encode()]
    assert scores["top_logprobs"][0] == {"n": -ord("n") / 256}
    streamed = [event["choices"][0]["logprobs"] for event in events(client, logprobs=0)]
    for name, values in scores.items():
        assert [value for one in streamed if one for value in one[name]] == values


@pytest.mark.parametrize("texts", [["so"], []], ids=["words", "nothing"])
def test_scores_of_the_prompt_come_before_those_of_the_answer(
    client: Client, engine: ScriptedEngine, texts: list[str]
) -> None:
    """Each choice of a stream begins with its prompt, also one that says nothing."""
    engine.script = Script(texts, spelled=True)
    prompts = [list("né ".encode()), [120]]
    asked: dict[str, Any] = {"prompt": prompts, "echo": True, "logprobs": 2, "n": 2}
    whole = ask(client, **asked).json()["choices"]
    assert [one.prompt_logprobs for one in engine.requests] == [2, None, 2, None]
    joined: list[Any] = [{"text": "", "logprobs": {}} for _ in whole]
    for event in events(client, **asked):
        [one] = event["choices"]
        joined[one["index"]]["text"] += one["text"]
        for name, values in (one["logprobs"] or {}).items():
            joined[one["index"]]["logprobs"].setdefault(name, []).extend(values)
    for one, streamed in zip(whole, joined, strict=True):
        assert {name: one[name] for name in streamed} == streamed
    text = "".join(texts)
    scores = whole[0]["logprobs"]
    assert whole[0]["text"] == "né " + text
    assert scores["tokens"] == ["n", "\ufffd", "\ufffd", " ", *text]
    assert scores["text_offset"] == [0, 1, 1, 2, *range(3, 3 + len(text))]
    assert scores["token_logprobs"][:2] == [None, pytest.approx(-math.log(257))]
    assert scores["top_logprobs"][0] is None
    assert whole[2]["logprobs"]["token_logprobs"][0] is None
    assert whole[2]["logprobs"]["tokens"] == ["x", *text]


@pytest.mark.parametrize("scored", [{}, {"logprobs": 1}], ids=["text", "scored"])
def test_the_echo_alone(client: Client, engine: ScriptedEngine, scored: dict[str, Any]) -> None:
    """What evaluations ask for that compare the likelihoods of texts."""
    asked: dict[str, Any] = {"prompt": list(b"ab"), "echo": True, "max_tokens": 0, **scored}
    body = ask(client, **asked).json()
    [one] = body["choices"]
    assert (one["text"], one["finish_reason"]) == ("ab", "length")
    assert body["usage"] == usage(2, 0)
    if scored:
        assert one["logprobs"]["tokens"] == ["a", "b"]
    streamed = events(client, stream_options={"include_usage": True}, **asked)
    assert "".join(c["text"] for event in streamed for c in event["choices"]) == "ab"
    assert streamed[-1]["usage"] == usage(2, 0)
    for wrong in ({"echo": False}, {"max_tokens": False}, {"max_tokens": -1}):
        assert ask(client, **{**asked, **wrong}).json()["error"]["param"] == "max_tokens"


def test_a_failure_midway_is_the_last_event(client: Client, engine: ScriptedEngine) -> None:
    engine.script = Script(texts=("x",), end="error", error=InputError("why", param="logit_bias"))
    blocks = ask(client, stream=True).text.strip().split("\n\n")
    assert json.loads(blocks[-1].removeprefix("data: "))["error"]["message"] == "why"


def test_a_token_outside_the_vocabulary(client: Client) -> None:
    error = ask(client, prompt=[[1], [2, 257]]).json()["error"]
    assert error["param"] == "prompt"
    assert "257" in error["message"]
