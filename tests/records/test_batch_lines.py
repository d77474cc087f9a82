from __future__ import annotations

import json
from typing import Any

import pytest

from maskwright.records.batch_lines import (
    BatchLineError,
    error_line,
    parse_batch_line,
    result_line,
)

REQUEST: dict[str, Any] = {
    "custom_id": "a",
    "method": "POST",
    "url": "/v1/completions",
    "body": {"prompt": "x"},
}


def test_a_request() -> None:
    line = parse_batch_line(json.dumps(REQUEST).encode())
    assert (line.custom_id, line.url, line.body) == ("a", "/v1/completions", {"prompt": "x"})


@pytest.mark.parametrize(
    ("change", "param"),
    [
        ({"custom_id": ""}, "custom_id"),
        ({"custom_id": 3}, "custom_id"),
        ({"method": "GET"}, "method"),
        ({"url": "/v1/files"}, "url"),
        ({"url": ["/v1/completions"]}, "url"),
        ({"body": "x"}, "body"),
        ({"body": {"stream": True}}, "body.stream"),
        ({"priority": 1}, "priority"),
    ],
)
def test_what_is_no_request(change: dict[str, Any], param: str) -> None:
    with pytest.raises(BatchLineError) as caught:
        parse_batch_line(json.dumps({**REQUEST, **change}).encode())
    assert caught.value.param == param


@pytest.mark.parametrize("line", [b"", b"{", b"[]", b"\xff", b"[" * 100_000])
def test_what_is_no_object(line: bytes) -> None:
    with pytest.raises(BatchLineError) as caught:
        parse_batch_line(line)
    assert caught.value.code == "invalid_json_line"


def test_results() -> None:
    answered = result_line("a", 400, None, {"error": {}})
    assert str(answered.pop("id")).startswith("batch_req_")
    assert answered == {
        "custom_id": "a",
        "response": {"status_code": 400, "request_id": "", "body": {"error": {}}},
        "error": None,
    }
    failed = error_line("b", "batch_expired", "too late")
    assert failed.pop("id") != error_line("b", "", "")["id"]
    error = {"code": "batch_expired", "message": "too late"}
    assert failed == {"custom_id": "b", "response": None, "error": error}
