"""Streams that another server goes on with: equal texts wherever they were cut."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

import httpx
import pytest

from maskwright.dist.front.relay import RECORD, RELAY
from tests.api.conftest import Served
from tests.api.shapes import record
from tests.api.test_tools import MESSAGES, TOOLS
from tests.bounds import PATIENCE

PERSON = record({"name": {"type": "string"}, "age": {"type": "integer"}})
CHAT: dict[str, Any] = {
    "model": "demo",
    "messages": [{"role": "user", "content": "Anna Berg, 34, lives in Oslo."}],
    "temperature": 1,
    "max_tokens": 60,
    "stream": True,
}
SHAPE = {"type": "json_schema", "json_schema": {"name": "person", "schema": PERSON}}
BODIES: dict[str, tuple[str, dict[str, Any]]] = {
    "a free chat without a seed": ("chat/completions", {**CHAT, "min_tokens": 30}),
    "a schema": ("chat/completions", {**CHAT, "response_format": SHAPE, "seed": 3}),
    "a schema that the limit shortens": (
        "chat/completions",
        {
            **CHAT,
            "response_format": SHAPE,
            "seed": 3,
            "max_tokens": 11,
            "stream_options": {"include_usage": True},
        },
    ),
    "tools, which have ids": (
        "chat/completions",
        {**CHAT, "messages": MESSAGES, "tools": TOOLS, "tool_choice": "required", "seed": 5},
    ),
    "several choices and their usage": (
        "chat/completions",
        {
            **CHAT,
            "response_format": SHAPE,
            "n": 3,
            "stream_options": {"include_usage": True, "continuous_usage_stats": True},
        },
    ),
    "log-probabilities, which are generated again": (
        "chat/completions",
        {**CHAT, "response_format": SHAPE, "logprobs": True, "top_logprobs": 2, "seed": 1},
    ),
    "stop strings": (
        "chat/completions",
        {**CHAT, "response_format": SHAPE, "stop": ["34", "zz"], "seed": 2},
    ),
    "two prompts": (
        "completions",
        {
            "model": "demo",
            "prompt": ["Anna", "Bert lives"],
            "max_tokens": 20,
            "stream": True,
            "echo": True,
        },
    ),
    "a response, whose events are numbered": (
        "responses",
        {
            "model": "demo",
            "input": "Anna Berg, 34, lives in Oslo.",
            "max_output_tokens": 40,
            "stream": True,
            "text": {"format": {"type": "json_schema", "name": "person", "schema": PERSON}},
        },
    ),
}


def pieces_of(url: str, path: str, body: dict[str, Any]) -> list[bytes]:
    """The events and comments of a stream as a router gets them."""
    answer = httpx.post(f"{url}/v1/{path}", json=body, headers={RELAY: "1"}, timeout=PATIENCE)
    assert answer.status_code == 200, answer.text
    return [piece + b"\n\n" for piece in answer.content.split(b"\n\n")[:-1]]


def records_of(pieces: list[bytes]) -> list[dict[str, Any]]:
    return [json.loads(piece.removeprefix(RECORD)) for piece in pieces if piece.startswith(RECORD)]


def events_of(pieces: list[bytes]) -> list[bytes]:
    """What clients read of a stream."""
    return [piece for piece in pieces if not piece.startswith(b":")]


def told_at(pieces: list[bytes]) -> dict[str, Any]:
    """What a router sends after it has got `pieces`."""
    head, *records = records_of(pieces)
    deltas = [one["delta"] for one in records]
    return {**head, "deltas": deltas, "events": len(events_of(pieces))}


def after_tokens(pieces: list[bytes], least: int) -> dict[str, Any]:
    """What a router receives in the first half of a stream, or as much more of it as brings `least`
    tokens: a busy machine sends several at once."""
    halves = (told_at(pieces[:place]) for place in range(len(pieces) // 2, len(pieces)))
    return next(t for t in halves if sum(len(delta) - 3 for delta in t["deltas"]) >= least)


def folded(events: list[bytes]) -> dict[str, Any]:
    """A stream without its division into events: per choice all texts, calls and scores; of a
    response its whole body at the end. Cached tokens are left out, since a second server may have
    others."""
    whole: dict[str, Any] = defaultdict(str)
    for number, event in enumerate(events):
        data = event.decode().rpartition("data: ")[2]
        if data.strip() == "[DONE]":
            whole["done"] = number == len(events) - 1
            continue
        body = json.loads(data)
        if "choices" not in body:
            assert body["sequence_number"] == number
            whole[f"{body.get('item_id')} {body['type']}"] += body.get("delta", "")
            whole["body"] = without_cached(body.get("response"))
            continue
        for choice in body.pop("choices"):
            fold_choice(whole, choice)
        usage = body.pop("usage", None)
        whole["usage"] = without_cached(usage)
        assert whole.setdefault("head", body) == body
    return dict(whole)


def fold_choice(whole: dict[str, Any], choice: dict[str, Any]) -> None:
    place, delta = choice["index"], choice.get("delta", {})
    whole[f"{place} text"] += delta.get("content") or choice.get("text", "")
    whole[f"{place} end"] += choice["finish_reason"] or ""
    for call in delta.get("tool_calls", ()):
        whole[f"{place} call {call['index']}"] += call.get("id", "")
        whole[f"{place} arguments {call['index']}"] += call["function"]["arguments"]
    scores = choice["logprobs"]
    if scores is not None:
        whole[f"{place} scores"] += json.dumps(scores["content"])[1:-1] + ", "


def without_cached(body: Any) -> Any:
    if body is not None and body.get("usage") is not None:
        body["usage"].pop("input_tokens_details")
    if body is not None:
        body.pop("prompt_tokens_details", None)
    return body


@pytest.mark.parametrize("name", BODIES)
def test_a_stream_goes_on_wherever_it_was_cut(served: Served, name: str) -> None:
    path, body = BODIES[name]
    whole = pieces_of(served.url, path, body)
    assert len(records_of(whole)) >= 2
    expected = folded(events_of(whole))
    if name == "a schema that the limit shortens":
        at = expected["usage"]["completion_tokens_details"]["shortened_at"]
        assert (expected["0 end"], at < 11) == ("length", True)
        json.loads(expected["0 text"])
    places = sorted({1, min(3, len(whole)), len(whole) // 2, len(whole) - 2, len(whole)})
    for place in places:
        asked = {**body, "maskwright": {"continuation": told_at(whole[:place])}}
        rest = pieces_of(served.url, path, asked)
        assert folded(events_of(whole[:place]) + events_of(rest)) == expected, place
        # The second server's records continue the first one's.
        after = [one for one in records_of(whole[:place] + rest) if "delta" in one]
        tokens = [[token for one in after if one["delta"][0] == i for token in one["delta"][3:]]
                  for i in range(3)]  # fmt: skip
        before = [one for one in records_of(whole) if "delta" in one]
        assert tokens == [
            [token for one in before if one["delta"][0] == i for token in one["delta"][3:]]
            for i in range(3)
        ]
        changed = [{one["delta"][2] for one in records if one["delta"][0] == 0} - {None}
                   for records in (after, before)]  # fmt: skip
        assert changed[0] == changed[1]


def test_clients_get_no_records_unless_they_ask(served: Served) -> None:
    answer = httpx.post(f"{served.url}/v1/chat/completions", json=CHAT, timeout=PATIENCE)
    assert RECORD not in answer.content


def test_tokens_that_the_grammar_forbids_are_refused(served: Served) -> None:
    path, body = BODIES["a schema"]
    whole = pieces_of(served.url, path, body)
    beginning = after_tokens(whole, 1)
    [beginning["deltas"][0][3], *_] = served.engine.loaded.vocab.encode(b"}")
    rest = pieces_of(served.url, path, {**body, "maskwright": {"continuation": beginning}})
    assert b'"error"' in rest[-1]


def test_an_answer_that_is_not_streamed_is_continued(served: Served) -> None:
    path, body = BODIES["a schema"]
    beginning = after_tokens(whole := pieces_of(served.url, path, body), 2)
    texts: list[str] = []
    for own in ({}, {"maskwright": {"continuation": beginning}}):
        asked = {**body, "stream": False, **own}
        answer = httpx.post(f"{served.url}/v1/{path}", json=asked, timeout=PATIENCE).json()
        texts.append(answer["choices"][0]["message"]["content"])
    assert texts[0] == texts[1]
    assert answer["id"] == json.loads(events_of(whole)[0].removeprefix(b"data: "))["id"]
