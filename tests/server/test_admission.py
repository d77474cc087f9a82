"""Prompts that are too long are refused by their bytes, before anything else is done with them."""

from __future__ import annotations

import gzip
import json
import re
from typing import Any

import httpx
import pytest

from maskwright.server import ServerConfig
from maskwright.server.access import ApiKey, KeyRing, digest_of
from maskwright.server.observe.metrics import Metrics
from maskwright.server.request import body
from maskwright.server.request.body import LARGE as LARGE_BODY
from tests.server.scripted import CONTEXT, HELLO, Client, ScriptedEngine

CHAT, TEXT, RESPONSES = "/v1/chat/completions", "/v1/completions", "/v1/responses"
MESSAGES = "/v1/messages"


def said(*messages: tuple[str, Any]) -> dict[str, Any]:
    return {"messages": [{"role": role, "content": content} for role, content in messages]}


def parts(*texts: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": text} for text in texts]


HALF, REST = "x" * (CONTEXT // 2), "x" * (CONTEXT - CONTEXT // 2)
WHOLE = HALF + REST
OUTPUT = {"type": "function_call_output", "call_id": "c", "output": WHOLE}

TOO_LONG: dict[str, tuple[str, dict[str, Any], str]] = {
    "one message": (CHAT, said(("user", WHOLE)), "messages"),
    "accents": (CHAT, said(("user", "é" * (CONTEXT // 2))), "messages"),
    "several messages": (CHAT, said(("user", HALF), ("user", REST)), "messages"),
    "parts": (CHAT, said(("user", parts(HALF, REST))), "messages"),
    "parts that are bare strings": (CHAT, said(("user", [HALF, *parts(REST)])), "messages"),
    "bare strings of an input": (
        RESPONSES,
        {"input": said(("user", [HALF, REST]))["messages"]},
        "input",
    ),
    "a system's message": (CHAT, said(("developer", HALF), ("user", REST)), "messages"),
    "a tool's answer": (CHAT, said(("user", "x"), ("function", WHOLE)), "messages"),
    "a text": (TEXT, {"prompt": WHOLE}, "prompt"),
    "with an echo": (TEXT, {"prompt": WHOLE, "echo": True}, "prompt"),
    "one of several texts": (TEXT, {"prompt": ["a", WHOLE, "b"]}, "prompt"),
    "token ids": (TEXT, {"prompt": [65] * CONTEXT}, "prompt"),
    "several token ids": (TEXT, {"prompt": [[65], [65] * CONTEXT]}, "prompt"),
    "an input": (RESPONSES, {"input": WHOLE}, "input"),
    "instructions": (RESPONSES, {"instructions": HALF, "input": REST}, "instructions"),
    "long instructions": (RESPONSES, {"instructions": WHOLE, "input": "x"}, "instructions"),
    "long instructions alone": (RESPONSES, {"instructions": WHOLE}, "instructions"),
    "short instructions": (RESPONSES, {"instructions": "x", "input": WHOLE}, "input"),
    "items": (RESPONSES, {"input": said(("user", HALF), ("user", REST))["messages"]}, "input"),
    "Anthropic's": (MESSAGES, {**said(("user", parts(HALF, REST))), "max_tokens": 5}, "messages"),
    "an output": (RESPONSES, {"input": [OUTPUT]}, "input"),
}


@pytest.fixture
def read(engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is parsed, rendered and cut into tokens, in its order."""
    found: list[str] = []
    for owner, name in (
        (body, "parse_object"),
        (engine.loaded, "render_chat_texts"),
        (engine.loaded.encoder, "encode"),
        (engine.loaded.encoder, "windows"),
    ):
        work = getattr(owner, name)

        def noting(*given: Any, _name: str = name, _work: Any = work, **fields: Any) -> Any:
            found.append(_name)
            return _work(*given, **fields)

        monkeypatch.setattr(owner, name, noting)
    return found


@pytest.mark.parametrize("name", TOO_LONG)
@pytest.mark.parametrize("stream", [False, True])
def test_refused_before_it_is_parsed(
    client: Client, engine: ScriptedEngine, read: list[str], name: str, stream: bool
) -> None:
    path, body, param = TOO_LONG[name]
    response = client.call("POST", path, json={**body, "stream": stream})
    assert response.status_code == 400
    error = response.json()["error"]
    if path != MESSAGES:  # whose errors have other fields
        assert (error["param"], error["code"]) == (param, "context_length_exceeded")
    message = rf"takes at least 100\d tokens; the context holds {CONTEXT}, the answer included"
    assert re.search(message, error["message"])
    assert not read
    assert not engine.requests


@pytest.mark.parametrize("ascii", [False, True])
@pytest.mark.parametrize("size", [CONTEXT, 10 * LARGE_BODY])
@pytest.mark.parametrize(("coding", "pack"), [("identity", bytes), ("gzip", gzip.compress)])
def test_bodies_of_any_size_and_spelling_are_refused_so(
    client: Client, read: list[str], coding: str, pack: Any, size: int, ascii: bool
) -> None:
    text = ("é\n" * size)[:size]
    data = json.dumps(said(("user", f" {text}x ")), ensure_ascii=ascii).encode()
    headers = {"Content-Type": "application/json", "Content-Encoding": coding}
    response = client.call("POST", CHAT, content=pack(data), headers=headers)
    error = response.json()["error"]
    assert (error["param"], error["code"]) == ("messages", "context_length_exceeded")
    assert f"takes at least {len(text.encode()) + 1} tokens" in error["message"]
    assert not read


@pytest.mark.parametrize("size", [CONTEXT, 10 * LARGE_BODY])
@pytest.mark.parametrize("end", [b"", b"}}", b"]", b', "a": NaN}', b', "a": "\\ud800"}'])
def test_a_long_prompt_in_a_body_that_is_no_json_is_reported_as_such(
    client: Client, size: int, end: bytes
) -> None:
    whole = json.dumps(said(("user", "x" * size))).encode()
    headers = {"Content-Type": "application/json"}
    response = client.call("POST", CHAT, content=whole[:-1] + end, headers=headers)
    assert (response.status_code, response.json()["error"]["code"]) == (400, "invalid_json")


@pytest.mark.parametrize("size", [CONTEXT, 10 * LARGE_BODY])
def test_the_last_of_two_prompts_counts(client: Client, read: list[str], size: int) -> None:
    long, short = (json.dumps(said(("user", text)))[1:-1] for text in ("x" * size, "x"))
    headers = {"Content-Type": "application/json"}
    for first, last, status in ((long, short, 200), (short, long, 400)):
        read.clear()
        body = f'{{"model": "m", {first}, {last}}}'
        response = client.call("POST", CHAT, content=body, headers=headers)
        assert response.status_code == status, response.text
        assert ("parse_object" in read) == (status == 200)


FITTING: dict[str, tuple[str, dict[str, Any]]] = {
    # The chat's lines begin with the role: `user: ` and so on.
    "one message": (CHAT, said(("user", "x" * (CONTEXT - 7)))),
    "a text": (TEXT, {"prompt": "x" * (CONTEXT - 1)}),
    "several texts": (TEXT, {"prompt": ["x" * (CONTEXT - 1)] * 3}),
    "token ids": (TEXT, {"prompt": [65] * (CONTEXT - 1)}),
    "an input": (RESPONSES, {"input": "x" * (CONTEXT - 7)}),
    "a part is kept": (CHAT, {**said(("user", WHOLE)), "truncate_prompt_tokens": 9}),
    "ids that are cut": (TEXT, {"prompt": [65] * 9999, "truncate_prompt_tokens": -1}),
}


@pytest.mark.parametrize("name", FITTING)
def test_what_fits_is_answered(client: Client, engine: ScriptedEngine, name: str) -> None:
    path, body = FITTING[name]
    response = client.call("POST", path, json={**body, "model": "m"})
    assert response.status_code == 200, response.text
    assert engine.requests


def test_what_is_known_only_after_rendering_is_refused_then(client: Client) -> None:
    response = client.chat(**said(("user", "x" * (CONTEXT - 6))))
    error = response.json()["error"]
    assert (response.status_code, error["param"]) == (400, "messages")
    assert f"takes {CONTEXT} tokens" in error["message"]


NOT_COUNTED: list[dict[str, Any]] = [
    # Templates may leave these out.
    said(("user", "x"), ("system", WHOLE), ("user", "y")),
    said(("user", "x"), ("assistant", WHOLE)),
    {"messages": [{"role": "user", "content": "x", "name": WHOLE}]},
    said(("user", f"x{' ' * CONTEXT}")),
    said(("user", parts(" " * CONTEXT, "x"))),
]  # fmt: skip


@pytest.mark.parametrize("body", NOT_COUNTED, ids=range(len(NOT_COUNTED)))
def test_what_a_prompt_may_not_contain_is_not_counted(
    client: Client, read: list[str], body: dict[str, Any]
) -> None:
    client.chat(**body)
    assert "render_chat_texts" in read


MALFORMED: list[tuple[str, dict[str, Any], str]] = [
    (CHAT, {"messages": WHOLE}, "messages"),
    (CHAT, {"messages": [WHOLE]}, "messages[0]"),
    (CHAT, {"messages": [{"role": [], "content": WHOLE}]}, "messages[0].role"),
    (CHAT, {"messages": [{"role": "user", "content": {"text": WHOLE}}]}, "messages[0].content"),
    (CHAT, said(("user", [[WHOLE], {"text": 5}])), "messages[0].content[0]"),
    (TEXT, {"prompt": {"text": WHOLE}}, "prompt"),
    (TEXT, {"prompt": []}, "prompt"),
    (TEXT, {"prompt": [None, WHOLE]}, "prompt[0]"),
    (TEXT, {}, "prompt"),
    (RESPONSES, {"input": {"text": WHOLE}}, "input"),
    (RESPONSES, {"input": [WHOLE]}, "input[0]"),
    (RESPONSES, {"input": "x", "instructions": [WHOLE]}, "instructions"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "body", "param"), MALFORMED, ids=str)
def test_what_is_malformed_is_reported_as_ever(
    client: Client, path: str, body: dict[str, Any], param: str
) -> None:
    response = client.call("POST", path, json=body)
    assert response.status_code == 400
    assert response.json()["error"]["param"] == param


SMALL = ApiKey("small", digest_of("s"), tokens_per_minute=100, tokens_per_day=500)
LARGE = ApiKey("large", digest_of("l"), tokens_per_minute=10 * CONTEXT)


@pytest.fixture
def guarded(engine: ScriptedEngine) -> Client:
    return Client(engine, ServerConfig(keys=KeyRing([SMALL, LARGE])))


def ask(client: Client, key: str, path: str = CHAT, **fields: Any) -> httpx.Response:
    body = {**(HELLO if path == CHAT else {"model": "m"}), **fields}
    return client.call("POST", path, json=body, headers={"Authorization": f"Bearer {key}"})


@pytest.mark.parametrize(
    ("path", "body", "place"),
    [
        (CHAT, said(("user", "x" * 101)), "messages"),
        (TEXT, {"prompt": ["x" * 50, "x" * 51]}, "prompt"),
        (RESPONSES, {"input": "x" * 101}, "input"),
        (RESPONSES, {"instructions": "x" * 100, "input": "x"}, "instructions"),
    ],
)
def test_a_prompt_beyond_a_keys_quota_is_refused_before_it_is_read(
    guarded: Client, read: list[str], path: str, body: dict[str, Any], place: str
) -> None:
    """It would not be let in at another time either."""
    response = ask(guarded, "s", path, **body)
    assert response.status_code == 400
    error = response.json()["error"]
    assert (error["param"], error["code"]) == (place, "quota_too_small")
    assert "at least 101 tokens; the key small may use 100 tokens per minute" in error["message"]
    assert not read
    assert ask(guarded, "l", path, **body).status_code == 200


def test_a_prompt_waits_until_its_key_may_use_so_many_tokens(
    guarded: Client, read: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[tuple[str, str | None]] = []

    def count(_: Metrics, name: str, excess: str | None) -> None:
        counted.append((name, excess))

    monkeypatch.setattr(Metrics, "used_key", count)
    assert ask(guarded, "s", **said(("user", "x" * 60))).status_code == 200
    read.clear()
    for _ in range(2):
        response = ask(guarded, "s", **said(("user", "x" * 80)))
        assert response.status_code == 429
        assert response.json()["error"]["code"] == "rate_limit_exceeded"
        # 66 of 100 tokens were used; 80 are there again after 46 of 100 are filled up.
        assert 26 <= int(response.headers["retry-after"]) <= 28
    assert not read
    assert ask(guarded, "s", **said(("user", "x" * 20))).status_code == 200
    used = [(name, excess) for name, excess in counted if excess is not None]
    assert used == [("small", "tokens_per_minute")] * 2
