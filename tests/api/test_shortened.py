"""What the token limit does to an answer is reported: by the finish reason, the usage, the report
and the trace, in every endpoint, streamed and whole."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import httpx
import jsonschema
import pytest

from maskwright.engine import Engine, EngineConfig
from maskwright.models import DEMO_PATH, load
from maskwright.server import create_app
from tests.api.test_reasoning import SECTION
from tests.bounds import PATIENCE
from tests.live_server import live_server
from tests.pages.demo_server import Served
from tests.properties.schemas import schema as random_schema

ORDER = {
    "type": "object",
    "properties": {
        "total": {"type": "integer"},
        "items": {
            "type": "array",
            "items": {"type": "string", "maxLength": 12},
            "maxItems": 2,
        },
    },
    "required": ["total", "items"],
    "additionalProperties": False,
}
TEXT = "The order of Anna Berg: 3 lamps and 1 desk. Total: 123456."
MESSAGES = [{"role": "user", "content": TEXT}]
FORMAT = {"type": "json_schema", "json_schema": {"name": "order", "schema": ORDER}}
CHAT = {"messages": MESSAGES, "response_format": FORMAT, "temperature": 0}
PLACES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "chat": ("chat/completions", "max_tokens", CHAT),
    "completion": (
        "completions",
        "max_tokens",
        {"prompt": f"<|user|>{TEXT}<|assistant|>", "response_format": FORMAT, "temperature": 0},
    ),
    "response": (
        "responses",
        "max_output_tokens",
        {
            "input": TEXT,
            "text": {"format": {"type": "json_schema", "name": "order", "schema": ORDER}},
            "temperature": 0,
        },
    ),
    "message": (
        "messages",
        "max_tokens",
        {"messages": MESSAGES, "response_format": FORMAT, "temperature": 0},
    ),
}


def post(url: str, path: str, **body: Any) -> Any:
    response = httpx.post(f"{url}/v1/{path}", json=body, timeout=PATIENCE)
    assert response.status_code == 200, response.text
    return response.json()


def events_of(url: str, path: str, **body: Any) -> list[Any]:
    asked = {**body, "stream": True}
    if path not in ("responses", "messages"):
        asked["stream_options"] = {"include_usage": True}
    response = httpx.post(f"{url}/v1/{path}", json=asked, timeout=PATIENCE)
    assert response.status_code == 200, response.text
    data = [block.rpartition("data: ")[2] for block in response.text.strip().split("\n\n")]
    return [json.loads(one) for one in data if one != "[DONE]"]


class Answered:
    """What an answer says of itself."""

    def __init__(self, text: str, reason: str, usage: Any, own: Any) -> None:
        self.text, self.reason, self.own = text, reason, own
        self.tokens = usage.get("completion_tokens", usage.get("output_tokens"))
        details = usage.get("completion_tokens_details", usage.get("output_tokens_details"))
        self.at = (usage if details is None else details).get("shortened_at")


def of_response(body: Any) -> Answered:
    """What a response says, with its status as a chat's finish reason."""
    reasons = {("completed", None): "stop", ("incomplete", "max_output_tokens"): "length"}
    details = body["incomplete_details"] or {}
    [item] = body["output"]
    assert item["status"] == body["status"]
    text = item["content"][0]["text"]
    reason = reasons[body["status"], details.get("reason")]
    return Answered(text, reason, body["usage"], body.get("maskwright"))


def of_message(url: str, *, stream: bool, **body: Any) -> Answered:
    """Ask for a message; its stop reason as a chat's finish reason."""
    if stream:
        events = events_of(url, "messages", **body)
        deltas = [event["delta"] for event in events if event["type"] == "content_block_delta"]
        [end] = [event for event in events if event["type"] == "message_delta"]
        text, usage, own = "".join(delta["text"] for delta in deltas), end["usage"], end["delta"]
    else:
        own = post(url, "messages", **body)
        [block] = own["content"]
        text, usage = block["text"], own["usage"]
    reason = {"end_turn": "stop", "max_tokens": "length"}[own["stop_reason"]]
    return Answered(text, reason, usage, own.get("maskwright"))


def answered(url: str, path: str, *, stream: bool, **body: Any) -> Answered:
    """Ask for one answer, whole or as a stream."""
    if path == "messages":
        return of_message(url, stream=stream, **body)
    if path == "responses":
        if not stream:
            return of_response(post(url, path, **body))
        last = events_of(url, path, **body)[-1]
        found = of_response(last["response"])
        assert last["type"] == f"response.{last['response']['status']}"
        return found
    if not stream:
        answer = post(url, path, **body)
        [choice] = answer["choices"]
        text = choice["text"] if path == "completions" else choice["message"]["content"]
        return Answered(
            text or "", choice["finish_reason"], answer["usage"], choice.get("maskwright")
        )
    *chunks, last = events_of(url, path, **body)
    text, reasons, own = "", list[str](), None
    for chunk in chunks:
        for choice in chunk["choices"]:
            text += choice.get("text") or choice.get("delta", {}).get("content") or ""
            reasons += [choice["finish_reason"]] if choice["finish_reason"] else []
            own = choice.get("maskwright", own)
    [reason] = reasons
    return Answered(text, reason, last["usage"], own)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("place", PLACES)
def test_a_value_that_the_limit_shortens_is_not_told_as_whole(
    served: Served, place: str, stream: bool
) -> None:
    """At each limit from the shortest answer up to the whole one and beyond."""
    path, field, body = PLACES[place]
    own = {"report": True, "trace": True}
    ample = answered(served.url, path, stream=stream, **body, **{field: 90}, maskwright=own)
    assert (ample.reason, ample.at) == ("stop", None)
    assert json.loads(ample.text)["total"] == 123456
    assert ample.own["report"]["shortened_at"] is None
    assert ample.own["trace"]["shortened_at"] is None
    totals: list[int] = []
    for limit in range(8, ample.tokens + 2):
        found = answered(served.url, path, stream=stream, **body, **{field: limit}, maskwright=own)
        jsonschema.validate(json.loads(found.text), ORDER)
        totals.append(json.loads(found.text)["total"])
        assert (found.reason == "stop") == (found.text == ample.text) == (limit >= ample.tokens)
        assert found.reason in {"stop", "length"}
        assert (found.at is None) == (found.reason == "stop")
        assert found.own["report"]["shortened_at"] == found.at
        assert found.own["report"]["valid"] is True
        assert found.own["trace"]["shortened_at"] == found.at
        assert found.own["trace"]["finish_reason"] in (
            ["length"] if found.at is not None else ["stop", "grammar_complete"]
        )
        kept = answered(
            *(served.url, path), stream=stream, **body, **{field: limit},
            maskwright={**own, "length_if_shortened": False},
        )  # fmt: skip
        assert (kept.text, kept.reason, kept.at) == (found.text, "stop", found.at)
        assert kept.own["report"]["shortened_at"] == found.at
    assert totals[0] < 123456
    assert totals[-1] == 123456


def test_each_choice_has_its_own_reason(served: Served) -> None:
    body = {**CHAT, "temperature": 2, "seed": 3, "n": 6, "max_tokens": 16}
    own = {"report": True}
    answer = post(served.url, "chat/completions", **body, maskwright=own)
    reasons = [choice["finish_reason"] for choice in answer["choices"]]
    places = [choice["maskwright"]["report"]["shortened_at"] for choice in answer["choices"]]
    assert {*reasons} == {"stop", "length"}
    assert [at is None for at in places] == [reason == "stop" for reason in reasons]
    least = min(at for at in places if at is not None)
    assert answer["usage"]["completion_tokens_details"]["shortened_at"] == least
    *chunks, last = events_of(served.url, "chat/completions", **body, maskwright=own)
    ends = {
        choice["index"]: (choice["finish_reason"], choice["maskwright"]["report"]["shortened_at"])
        for chunk in chunks
        for choice in chunk["choices"]
        if choice["finish_reason"]
    }
    assert [ends[index] for index in range(6)] == list(zip(reasons, places, strict=True))
    assert last["usage"]["completion_tokens_details"]["shortened_at"] == least


WEATHER = {
    "type": "function",
    "function": {
        "name": "order",
        "parameters": ORDER,
    },
}


@pytest.mark.parametrize("stream", [False, True])
def test_a_call_that_the_limit_shortens(served: Served, stream: bool) -> None:
    asked: dict[str, Any] = {
        "messages": MESSAGES,
        "tools": [WEATHER],
        "tool_choice": "required",
        "parallel_tool_calls": False,
        "temperature": 0,
    }

    def call(**fields: Any) -> tuple[str, Any]:
        if not stream:
            [choice] = post(served.url, "chat/completions", **asked, **fields)["choices"]
            [made] = choice["message"]["tool_calls"]
            return choice["finish_reason"], json.loads(made["function"]["arguments"])
        text, reason = "", ""
        for chunk in events_of(served.url, "chat/completions", **asked, **fields):
            for choice in chunk["choices"]:
                reason = choice["finish_reason"] or reason
                for made in choice["delta"].get("tool_calls", ()):
                    text += made["function"]["arguments"]
        return reason, json.loads(text)

    ample = call(max_tokens=90)
    assert ample[0] == "tool_calls"
    refused = httpx.post(
        f"{served.url}/v1/chat/completions", json={**asked, "max_tokens": 1}, timeout=PATIENCE
    ).json()
    least = int(refused["error"]["message"].split(" tokens")[0].split()[-1])
    reason, arguments = call(max_tokens=least)
    jsonschema.validate(arguments, ORDER)
    assert (reason, arguments == ample[1]) == ("length", False)
    kept = call(max_tokens=least, maskwright={"length_if_shortened": False})
    assert kept == ("tool_calls", arguments)
    older = post(
        *(served.url, "chat/completions"), messages=MESSAGES, temperature=0, max_tokens=least,
        functions=[WEATHER["function"]], function_call={"name": "order"},
    )  # fmt: skip
    assert older["choices"][0]["finish_reason"] == "length"
    assert older["choices"][0]["message"]["function_call"]


CUSTOM = {"type": "custom", "custom": {"name": "note", "format": {"type": "text"}}}
TAGS = {
    "type": "triggered_tags",
    "triggers": ["<f"],
    "tags": [
        {
            "begin": "<f>",
            "content": {"type": "json_schema", "json_schema": ORDER},
            "end": "</f>",
        }
    ],
}
FREE: dict[str, dict[str, Any]] = {
    "no shape": {},
    "a tool that may be called": {"tools": [{"type": "function", "function": {"name": "f"}}]},
    "a tool with parameters": {"tools": [WEATHER]},
    "triggered tags": {"response_format": {"type": "structural_tag", "format": TAGS}},
    "any text": {"response_format": {"type": "structural_tag", "format": {"type": "any_text"}}},
    "any characters": {"guided_regex": r"(.|\n)*"},
    "an open pattern": {"guided_regex": "[A-Za-z0-9 ,.:\\n]+"},
    "an open grammar": {"guided_grammar": "start: /[^#]/+"},
    "a custom tool": {"tools": [CUSTOM]},
    "a custom tool that is called": {"tools": [CUSTOM], "tool_choice": "required"},
}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("shape", FREE)
def test_free_text_that_the_limit_cuts(served: Served, shape: str, stream: bool) -> None:
    story: dict[str, Any] = {
        "messages": [{"role": "user", "content": "Tell me a long story."}],
        "logit_bias": {str(token): -100 for token in served.engine.loaded.eos},
        **FREE[shape],
    }
    if shape != "a custom tool that is called":
        story["max_tokens"] = 4
    else:
        story["max_tokens"] = 40
    for seed in range(3):
        found = answered(served.url, "chat/completions", stream=stream, seed=seed, **story)
        assert found.reason == "length"
        if shape != "a custom tool that is called":  # whose end the limit may force some tokens ago
            assert found.tokens == story["max_tokens"]
        assert found.at is not None
        assert found.at <= found.tokens


def test_free_text_that_ends_before_the_limit(served: Served) -> None:
    """The neighbours of the cases above: the model's own end, with room to spare and with none."""
    end = {str(token): 100 for token in served.engine.loaded.eos}
    for shape in ("no shape", "a tool that may be called", "triggered tags", "any characters"):
        for limit in (1, 4):
            found = answered(
                *(served.url, "chat/completions"), stream=False, messages=MESSAGES,
                max_tokens=limit, logit_bias=end, **FREE[shape],
            )  # fmt: skip
            assert (found.reason, found.tokens, found.at) == ("stop", 1, None)


@pytest.fixture(scope="module")
def thinking() -> Iterator[Served]:
    """A server whose chats begin with a reasoning section."""
    loaded = load(DEMO_PATH)
    loaded.tokenizer.chat_template += SECTION
    with (
        Engine(loaded, EngineConfig(max_running=8)) as engine,
        live_server(create_app(engine)) as url,
    ):
        yield Served(url, engine)


@pytest.mark.parametrize("fields", [{}, {"tools": [WEATHER]}], ids=["no shape", "tools"])
def test_reasoning_that_the_limit_cuts(thinking: Served, fields: dict[str, Any]) -> None:
    no_end = {str(token): -100 for token in thinking.engine.loaded.eos}
    body = {"messages": MESSAGES, "max_tokens": 5, "seed": 2, "logit_bias": no_end, **fields}
    answer = post(thinking.url, "chat/completions", **body)
    [choice] = answer["choices"]
    assert not choice["message"]["content"]
    assert choice["finish_reason"] == "length"
    assert choice["message"]["reasoning_content"]


def test_metrics_count_the_reason(served: Served) -> None:
    def finished() -> Counter[str]:
        return Counter(served.engine.stats().finished)

    before = finished()
    answered(served.url, "chat/completions", stream=False, **CHAT, max_tokens=8)
    assert finished() - before == {"length": 1}


def test_stop_is_only_said_of_what_twice_the_limit_gives_too(served: Served) -> None:
    """Over random schemas, seeds and limits; and what is shortened is whole JSON."""
    rng, kinds = random.Random(32), Counter[str]()
    with httpx.Client(base_url=served.url, timeout=PATIENCE) as client:
        while kinds.total() < 60:
            document = random_schema(rng)
            body: dict[str, Any] = {
                "messages": [{"role": "user", "content": rng.choice([TEXT, "a b c", "1 2 3"])}],
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {"name": "x", "schema": document},
                },
                "temperature": rng.choice([0, 1, 1.5]),
                "seed": rng.getrandbits(31),
                "max_tokens": rng.choice([2, 4, 6, 8, 12, 20]),
            }
            response = client.post("/v1/chat/completions", json=body)
            if response.status_code != 200:
                assert response.json()["error"]["code"] in {
                    "max_tokens_too_small", "unsatisfiable_json_schema",
                }, response.text  # fmt: skip
                continue
            [choice] = response.json()["choices"]
            json.loads(choice["message"]["content"])
            kinds[choice["finish_reason"]] += 1
            if choice["finish_reason"] == "stop":
                more = client.post(
                    "/v1/chat/completions", json={**body, "max_tokens": 2 * body["max_tokens"]}
                )
                assert more.json()["choices"] == [choice]
    assert min(kinds["stop"], kinds["length"]) > 10
