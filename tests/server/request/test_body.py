from __future__ import annotations

import asyncio
import gzip
import json
import random
import re
import threading
import zlib
from collections.abc import Mapping
from typing import Any, NoReturn

import pytest
from starlette.requests import Request

from maskwright.errors import InputError
from maskwright.server.config import ServerConfig
from maskwright.server.errors import HttpError
from maskwright.server.request.body import LARGE, MAX_DEPTH, parse_object, read_as
from maskwright.server.route import ClientGoneError
from tests.server.scripted import HELLO, Client


def nested(depth: int) -> bytes:
    """An object holding arrays: `depth` levels, the number inside counted."""
    return b'{"a":' + b"[" * (depth - 2) + b"1" + b"]" * (depth - 2) + b"}"


BAD = [
    (b"", "not valid JSON"),
    (b"{", "line 1, column 2"),
    (b'{"a": 1,\n "b": }', "line 2, column 7"),
    (b"[]", "must be a JSON object"),
    (b'"text"', "must be a JSON object"),
    (b"null", "must be a JSON object"),
    (b'{"a": NaN}', "NaN is not a JSON number"),
    (b'{"a": -Infinity}', "-Infinity is not a JSON number"),
    (b'{"a": "\xff"}', "not UTF-8 (byte 7)"),
    (b'{"a": "\\ud800"}', "\\ud800"),
    (b'{"\\udfff": 1}', "\\udfff"),
    (b'{"a": [{"b": "\\ud83d"}]}', "\\ud83d"),
    (b'{"a": ' + b"9" * 5000 + b"}", "too many digits"),
    (b'{"a": "\\ud800", "a": 1}', "\\ud800"),
    (b'{"a": {"\\ud800": 1}, "a": 1}', "\\ud800"),
    (nested(MAX_DEPTH + 1), "levels deep"),
    (nested(MAX_DEPTH + 1)[:-1] + b', "a": 1}', "levels deep"),
    (b'{"a":' + b"[" * 200_000, "levels deep"),
    (b'{"a":' * 200_000, "levels deep"),
]


@pytest.mark.parametrize(("data", "message"), BAD, ids=lambda value: repr(value)[:30])
def test_a_bad_body_is_told_what_is_wrong(data: bytes, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_object(data)
    assert message in caught.value.message
    assert caught.value.code == "invalid_json"


def test_the_deepest_body_allowed() -> None:
    assert parse_object(nested(MAX_DEPTH)).keys() == {"a"}


def test_property_order_is_kept_and_the_last_of_equal_keys_counts() -> None:
    tree = parse_object(b'{"z": 1, "a": 2, "m": 3, "z": 4}')
    assert [(name, tree[name]) for name in tree] == [("z", 4), ("a", 2), ("m", 3)]


@pytest.mark.parametrize("spelt", [r"\ud83d", r"\uDE00", r"\uDe00x"])
@pytest.mark.parametrize("body", ['{"a": ["%s"]}', '{"a": {"%s": 1}}'])
def test_half_a_surrogate_pair_is_refused_wherever_it_stands(spelt: str, body: str) -> None:
    with pytest.raises(InputError, match="half of a surrogate pair"):
        parse_object((body % spelt).encode())


def test_paired_surrogates_are_one_character() -> None:
    assert parse_object(b'{"a": "\\ud83d\\ude00"}') == {"a": "😀"}


@pytest.mark.parametrize(
    ("content_type", "status"),
    [
        ("application/json", 200),
        ("application/json; charset=utf-8", 200),
        ("Application/JSON", 200),
        ("application/vnd.api+json", 200),
        ("text/plain", 400),
        ("application/x-www-form-urlencoded", 400),
        ("", 400),
    ],
)
def test_content_types(client: Client, content_type: str, status: int) -> None:
    response = client.call(
        "POST",
        "/v1/chat/completions",
        content=json.dumps(HELLO),
        headers={"Content-Type": content_type},
    )
    assert response.status_code == status
    if status == 400:
        assert response.json()["error"]["code"] == "invalid_content_type"


def test_a_body_over_the_limit_is_a_413(client: Client) -> None:
    client.config = ServerConfig(body_bytes=200)
    assert client.chat().status_code == 200
    response = client.chat(user="x" * 200)
    assert response.status_code == 413
    assert response.json()["error"]["code"] == "body_too_large"


@pytest.mark.parametrize(("size", "apart"), [(LARGE - 1, False), (LARGE, True)])
def test_a_large_body_is_parsed_and_converted_in_another_thread(size: int, apart: bool) -> None:
    data = b'{"a": "' + b"x" * (size - 9) + b'"}'

    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": data, "more_body": False}

    def convert(tree: Mapping[str, object]) -> tuple[bool, int]:
        return threading.current_thread() is not threading.main_thread(), len(str(tree["a"]))

    headers = [(b"content-type", b"application/json")]
    request = Request({"type": "http", "headers": headers}, receive)
    assert asyncio.run(read_as(request, size, convert)) == (apart, size - 9)


def test_a_fault_in_a_large_body_is_reported_like_any_other(client: Client) -> None:
    response = client.chat(user="x" * LARGE, temperature="warm")
    assert response.status_code == 400
    assert response.json()["error"]["param"] == "temperature"


def packed(client: Client, body: bytes, coding: str, path: str = "/v1/chat/completions") -> Any:
    headers = {"Content-Type": "application/json", "Content-Encoding": coding}
    return client.call("POST", path, content=body, headers=headers)


@pytest.mark.parametrize(
    ("coding", "pack"), [("gzip", gzip.compress), ("deflate", zlib.compress), ("identity", bytes)]
)
def test_a_compressed_body_is_read(client: Client, coding: str, pack: Any) -> None:
    answer = packed(client, pack(json.dumps(HELLO).encode()), coding)
    assert answer.json()["choices"][0]["message"]["content"] == "Hello"
    tokens = packed(client, pack(b'{"tokens": [65, 66]}'), coding, "/detokenize").json()
    assert tokens["text"] == "AB"


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/tokenize", "/v1/check"])
def test_another_compression_is_refused(client: Client, path: str) -> None:
    answer = packed(client, b"x", "br", path)
    assert answer.status_code == 415
    assert answer.headers["accept-encoding"] == "gzip, deflate"
    error = answer.json()["error"]
    assert (error["type"], error["code"]) == ("invalid_request_error", "unsupported_encoding")


def test_a_body_that_is_not_compressed_as_it_says(client: Client) -> None:
    answer = packed(client, json.dumps(HELLO).encode(), "gzip")
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_encoding")


def test_a_compressed_body_is_bounded_before_and_after(client: Client) -> None:
    client.config = ServerConfig(body_bytes=200)
    small = gzip.compress(json.dumps({**HELLO, "user": "x" * 200}).encode())
    assert len(small) <= 200
    assert packed(client, small, "gzip").status_code == 413
    noise = random.Random(1).randbytes(300).hex()
    large = gzip.compress(json.dumps({**HELLO, "user": noise}).encode())
    assert len(large) > 200
    assert packed(client, large, "gzip").status_code == 413
    assert packed(client, gzip.compress(json.dumps(HELLO).encode()), "gzip").status_code == 200


def body_of(*chunks: bytes, ends: str = "http.request", length: int | None = None) -> Request:
    """A request whose body comes in chunks. `length`: as the client's header gives it."""
    left = list(chunks)

    async def receive() -> dict[str, object]:
        if left:
            chunk = left.pop(0)
            more = bool(left) or ends != "http.request"
            return {"type": "http.request", "body": chunk, "more_body": more}
        return {"type": ends}

    headers = [(b"content-type", b"application/json")]
    if length is not None:
        headers.append((b"content-length", b"%d" % length))
    return Request({"type": "http", "headers": headers}, receive)


def test_a_body_that_is_told_to_be_too_large_is_refused_unread() -> None:
    """A client that waits for the permission to send it is not told to go on."""

    async def receive() -> NoReturn:
        raise AssertionError("it is not to be read")

    headers = [(b"content-type", b"application/json"), (b"content-length", b"101")]
    request = Request({"type": "http", "headers": headers}, receive)
    with pytest.raises(HttpError, match="larger than 100 bytes") as raised:
        asyncio.run(read_as(request, 100, lambda tree: tree))
    assert (raised.value.status, raised.value.code) == (413, "body_too_large")


def test_a_body_of_the_greatest_length_is_read() -> None:
    data = b'{"a": 123}'
    for length in (None, len(data)):
        request = body_of(data[:3], data[3:], length=length)
        assert asyncio.run(read_as(request, len(data), lambda tree: tree)) == {"a": 123}
        with pytest.raises(HttpError):
            asyncio.run(read_as(body_of(data, length=length), len(data) - 1, lambda tree: tree))


def test_a_client_that_leaves_before_the_end_of_its_body() -> None:
    for chunks in ((), (b'{"a":',), (b'{"a": 1}',)):
        request = body_of(*chunks, ends="http.disconnect")
        with pytest.raises(ClientGoneError):
            asyncio.run(read_as(request, 1000, lambda tree: tree))


def test_a_large_body_is_parsed_as_a_small_one() -> None:
    small = {"a": [1, -2.5, 10**30, {"b": None, "b c": "é"}], "z": {"y": {"x": [True, []]}}}
    data = json.dumps(small).encode()
    assert parse_object(data, hooked=True) == parse_object(data) == small
    for bad, message in BAD:
        with pytest.raises(InputError, match=re.escape(message)):
            parse_object(bad, hooked=True)
