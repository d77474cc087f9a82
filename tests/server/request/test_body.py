from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Mapping

import pytest
from starlette.requests import Request

from maskwright.errors import InputError
from maskwright.server.config import ServerConfig
from maskwright.server.request.body import LARGE, MAX_DEPTH, parse_object, read_as
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
    (nested(MAX_DEPTH + 1), "levels deep"),
    (b'{"a":' + b"[" * 200_000, "levels deep"),
    (b'{"a":' * 200_000, "levels deep"),
]


@pytest.mark.parametrize(("data", "told"), BAD, ids=lambda value: repr(value)[:30])
def test_a_bad_body_is_told_what_is_wrong(data: bytes, told: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_object(data)
    assert told in caught.value.message
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


def test_a_fault_in_a_large_body_is_told_like_any_other(client: Client) -> None:
    response = client.chat(user="x" * LARGE, temperature="warm")
    assert response.status_code == 400
    assert response.json()["error"]["param"] == "temperature"
