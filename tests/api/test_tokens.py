"""Tokenising and joining tokens, in the forms of three other servers; and what describes the
server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.pages.demo_server import Served

TEXTS = ["Anna Berg, 34", "né 😀", "<|user|>hi<|assistant|>"]


@pytest.fixture
def http(served: Served) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=served.url, timeout=60) as client:
        yield client


def post(http: httpx.Client, path: str, **body: Any) -> Any:
    response = http.post(path, json=body)
    assert response.status_code == 200, response.text
    return response.json()


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("path", ["/tokenize", "/v1/tokenize"])
def test_a_text_comes_back(served: Served, http: httpx.Client, text: str, path: str) -> None:
    answer = post(http, path, model="demo", prompt=text, return_token_strs=True)
    assert answer["count"] == len(answer["tokens"]) == len(answer["token_strs"])
    assert answer["max_model_len"] == served.engine.max_context
    assert post(http, path, prompt=text)["token_strs"] is None
    back = post(http, path.replace("token", "detoken"), tokens=answer["tokens"])
    assert back == {"prompt": text, "content": text, "text": text}


def test_control_tokens_can_be_left_out(http: httpx.Client) -> None:
    tokens = post(http, "/tokenize", prompt=TEXTS[2])["tokens"]
    assert post(http, "/detokenize", tokens=tokens, skip_special_tokens=True)["text"] == "hi"


def test_several_texts(http: httpx.Client) -> None:
    """As SGLang's clients send them."""
    many = post(http, "/tokenize", prompt=TEXTS)
    single = [post(http, "/tokenize", prompt=text) for text in TEXTS]
    assert many["tokens"] == [one["tokens"] for one in single]
    assert many["count"] == [one["count"] for one in single]
    assert post(http, "/detokenize", tokens=many["tokens"])["text"] == TEXTS


def test_pieces(http: httpx.Client) -> None:
    """As llama.cpp's clients ask for them; a piece that is a part of a character is its bytes."""
    tokens = post(http, "/tokenize", content=TEXTS[1])["tokens"]
    pieces = post(http, "/tokenize", content=TEXTS[1], with_pieces=True)["tokens"]
    assert [piece["id"] for piece in pieces] == tokens
    joined = b"".join(
        piece["piece"].encode() if isinstance(piece["piece"], str) else bytes(piece["piece"])
        for piece in pieces
    )
    assert joined.decode() == TEXTS[1]


def test_a_chat_has_the_tokens_of_its_prompt(http: httpx.Client) -> None:
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
    asked: dict[str, Any] = {"messages": [{"role": "user", "content": "hi"}], "tools": [tool]}
    answer = post(http, "/tokenize", **asked)
    usage = post(http, "/v1/chat/completions", max_tokens=1, tool_choice="none", **asked)["usage"]
    assert answer["count"] == usage["prompt_tokens"]
    bare = post(http, "/tokenize", **asked, add_generation_prompt=False)
    assert answer["tokens"][: bare["count"]] == bare["tokens"]
    assert bare["count"] == answer["count"] - 1


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("/tokenize", {}, "prompt"),
    ("/tokenize", {"prompt": 5}, "prompt"),
    ("/tokenize", {"prompt": ["a", 5]}, "prompt[1]"),
    ("/tokenize", {"content": 5}, "content"),
    ("/tokenize", {"messages": []}, "messages"),
    ("/detokenize", {}, "tokens"),
    ("/detokenize", {"tokens": [-1]}, "tokens[0]"),
    ("/detokenize", {"tokens": [[1], ["a"]]}, "tokens[1][0]"),
    ("/detokenize", {"tokens": [[1], 2]}, "tokens[1]"),
    ("/detokenize", {"tokens": [10**9]}, "tokens"),
]


@pytest.mark.parametrize(("path", "body", "param"), REFUSED, ids=str)
def test_refused(http: httpx.Client, path: str, body: dict[str, Any], param: str) -> None:
    response = http.post(path, json=body)
    assert response.status_code == 400
    assert response.json()["error"]["param"] == param


def test_the_server_describes_itself(http: httpx.Client) -> None:
    assert http.get("/version").json()["version"]
    assert http.get("/load").json() == {"server_load": 0}
    for method in ("GET", "POST"):
        response = http.request(method, "/ping")
        assert (response.status_code, response.content) == (200, b"")


def test_the_last_message_is_continued(http: httpx.Client) -> None:
    begun = {"role": "assistant", "content": "Anna lives in"}
    messages = [{"role": "user", "content": "Where?"}, begun]
    continued = post(http, "/tokenize", messages=messages, continue_final_message=True)["tokens"]
    text = post(http, "/detokenize", tokens=continued)["text"]
    assert text.endswith("<|assistant|>Anna lives in")
    answer = post(
        http,
        "/v1/chat/completions",
        messages=messages,
        continue_final_message=True,
        add_generation_prompt=False,
        max_tokens=4,
        temperature=0,
    )
    plain = post(http, "/v1/completions", prompt=text, max_tokens=4, temperature=0)
    assert answer["choices"][0]["message"]["content"] == plain["choices"][0]["text"]
    both = http.post(
        "/v1/chat/completions",
        json={"messages": messages, "continue_final_message": True, "add_generation_prompt": True},
    )
    assert both.json()["error"]["param"] == "continue_final_message"
