"""Prompts of megabytes to the real model: refused at once, or read apart from everybody else's."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from maskwright.vocab.text_encoder import QUICK, WINDOW, TextEncoder
from tests.bounds import PATIENCE
from tests.pages.demo_server import Served

LINE = "The order 4711 of Anna Smith, Berlin, was paid on 2024-05-01 with 12.50 EUR.\n"
MEGABYTES = (LINE * 70_000)[:5_000_000]
SMALL: dict[str, Any] = {
    "messages": [{"role": "user", "content": "Anna"}],
    "max_tokens": 3,
    "temperature": 0,
}


@pytest.fixture
def http(served: Served, monkeypatch: pytest.MonkeyPatch) -> Iterator[httpx.Client]:
    """A client of a server whose event loop cuts no text that takes long."""
    encode = TextEncoder.encode

    def apart(encoder: TextEncoder, text: str, *, special: bool) -> list[int]:
        if len(text) > QUICK:
            with pytest.raises(RuntimeError, match="no running event loop"):
                asyncio.get_running_loop()
        return encode(encoder, text, special=special)

    monkeypatch.setattr(TextEncoder, "encode", apart)
    with httpx.Client(base_url=served.url, timeout=PATIENCE) as client:
        yield client


def chat(text: str, **fields: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}], "max_tokens": 3, **fields}


LONG: dict[str, tuple[str, dict[str, Any], str]] = {
    "a chat": ("/v1/chat/completions", chat(MEGABYTES), "messages"),
    "Chinese": ("/v1/chat/completions", chat("中文字符，" * 300_000), "messages"),
    "a text": ("/v1/completions", {"prompt": MEGABYTES}, "prompt"),
    "a response": ("/v1/responses", {"input": MEGABYTES}, "input"),
    "token ids": ("/v1/completions", {"prompt": [5] * 500_000}, "prompt"),
    # which their bytes don't refuse
    "80 kB": ("/v1/chat/completions", chat(MEGABYTES[:80_000]), "messages"),
    "tools": (
        "/v1/chat/completions",
        chat("Anna", tools=[{"type": "function", "name": "f", "description": MEGABYTES}]),
        "tools",
    ),
    "instructions": (
        "/v1/responses",
        {"input": "Anna", "instructions": MEGABYTES[:80_000]},
        "instructions",
    ),
    "instructions beside a schema": (
        "/v1/responses",
        {"input": "Anna", "instructions": MEGABYTES[:80_000], "guided_json": {"type": "object"}},
        "instructions",
    ),
    "instructions and input": (
        "/v1/responses",
        {"input": MEGABYTES[:40_000], "instructions": MEGABYTES[:40_000]},
        "input",
    ),
    "a system": ("/v1/messages", {**chat("Anna"), "system": MEGABYTES}, "system"),
    "an assistant": (
        "/v1/chat/completions",
        {"messages": [{"role": "assistant", "content": MEGABYTES}, *SMALL["messages"]]},
        "messages",
    ),
}


@pytest.mark.parametrize("name", LONG)
def test_prompts_of_megabytes_are_refused(http: httpx.Client, name: str) -> None:
    path, body, param = LONG[name]
    response = http.post(path, json=body)
    assert response.status_code == 400
    error = response.json()["error"]
    assert (error["code"], error["param"]) == ("context_length_exceeded", param)
    assert "takes at least " in error["message"]


def test_a_small_chat_is_answered_beside_them(http: httpx.Client) -> None:
    alone = http.post("/v1/chat/completions", json=SMALL).json()["choices"]

    def ask(name: str) -> int:
        path, body, _ = LONG[name]
        return http.post(path, json=body).status_code

    with ThreadPoolExecutor(3) as pool:
        long = [pool.submit(ask, name) for name in ("a chat", "80 kB", "tools") * 2]
        for _ in range(5):
            assert http.post("/v1/chat/completions", json=SMALL).json()["choices"] == alone
            assert http.get("/health").status_code == 200
        assert [future.result(PATIENCE) for future in long] == [400] * 6


def test_a_long_text_is_tokenised_in_windows_as_in_one_go(
    served: Served, http: httpx.Client
) -> None:
    text = MEGABYTES[: 5 * WINDOW]
    answer = http.post("/tokenize", json={"prompt": text}).json()
    assert answer["tokens"] == served.engine.loaded.encoder.encode(text, special=True)
    assert answer["count"] == len(answer["tokens"])
    back = http.post("/detokenize", json={"tokens": answer["tokens"]}).json()
    assert back["text"] == text
    many = http.post("/tokenize", json={"prompt": [text, "Anna"]}).json()
    assert many["tokens"][0] == answer["tokens"]
    pieces = http.post("/tokenize", json={"content": text, "with_pieces": True}).json()["tokens"]
    assert [piece["id"] for piece in pieces] == answer["tokens"]
    count = http.post("/v1/responses/input_tokens", json={"input": text}).json()["input_tokens"]
    assert count > answer["count"]


def test_the_end_of_a_long_text_can_be_kept(served: Served, http: httpx.Client) -> None:
    text = MEGABYTES[: 4 * WINDOW]
    tokens = served.engine.loaded.encoder.encode(text, special=True)
    for side, kept in (("left", tokens[-9:]), ("right", tokens[:9])):
        asked = {"prompt": text, "truncate_prompt_tokens": 9, "truncation_side": side}
        answer = http.post(
            "/v1/completions", json={**asked, "max_tokens": 1, "return_token_ids": True}
        ).json()
        assert answer["choices"][0]["prompt_token_ids"] == kept
        assert answer["usage"]["prompt_tokens"] == 9
