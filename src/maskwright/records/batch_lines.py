"""Lines of OpenAI's batch files: requests and their results.

A request is `{"custom_id", "method": "POST", "url", "body"}`. A result is `{"id", "custom_id",
"response": {"status_code", "request_id", "body"}, "error"}`, in any order.
"""

from __future__ import annotations

import json
import uuid
from codecs import BOM_UTF8
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal, cast, get_args

from maskwright.errors import InputError
from maskwright.immutable import Immutable
from maskwright.json_faults import json_reason

BatchEndpoint = Literal["/v1/chat/completions", "/v1/completions", "/v1/responses"]
ENDPOINTS: Final = get_args(BatchEndpoint)
"""Endpoints that a request may name."""

KEYS: Final = frozenset({"custom_id", "method", "url", "body"})


class BatchLineError(InputError):
    """A line of a batch file is no request. `param`: the key that is wrong."""

    default_code = "invalid_batch_line"


class BatchLine(Immutable):
    """One request of a batch file."""

    custom_id: str
    url: str
    body: dict[str, object]


def numbered_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines of a file that are not blank, with their numbers from 1 among all lines,
    without white space around them. A byte order mark before the first is no part of it."""
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            text = (line.removeprefix(BOM_UTF8) if number == 1 else line).strip()
            if text:
                yield number, text


def parse_batch_line(line: bytes) -> BatchLine:
    """Parse one request. Raises BatchLineError."""
    try:
        value: object = json.loads(line)
    except (ValueError, RecursionError) as error:
        reason = json_reason(error, one_line=True)
        raise BatchLineError(
            f"this line is not valid JSON: {reason}", code="invalid_json_line"
        ) from None
    if not isinstance(value, dict):
        raise BatchLineError("a line is a JSON object", code="invalid_json_line")
    fields = cast(dict[str, object], value)
    for key in fields.keys() - KEYS:
        raise BatchLineError(f"{key!r} is not a key of a request", param=key)
    custom_id = fields.get("custom_id")
    if not isinstance(custom_id, str) or not custom_id:
        raise BatchLineError("'custom_id' is a string that is not empty", param="custom_id")
    if fields.get("method") != "POST":
        raise BatchLineError("'method' is POST", param="method")
    url = fields.get("url")
    if not isinstance(url, str) or url not in ENDPOINTS:
        raise BatchLineError(f"'url' is one of {', '.join(ENDPOINTS)}", param="url")
    body = fields.get("body")
    if not isinstance(body, dict):
        raise BatchLineError("'body' is a JSON object", param="body")
    request = cast(dict[str, object], body)
    if request.get("stream"):
        raise BatchLineError("a request of a batch can't be streamed", param="body.stream")
    return BatchLine(custom_id, url, request)


def result_line(
    custom_id: str, status: int, request_id: str | None, body: object
) -> dict[str, object]:
    """The result of a request that was answered, with whatever status."""
    response = {"status_code": status, "request_id": request_id or "", "body": body}
    return {"id": _result_id(), "custom_id": custom_id, "response": response, "error": None}


def error_line(custom_id: str, code: str, message: str) -> dict[str, object]:
    """The result of a request that has no answer."""
    error = {"code": code, "message": message}
    return {"id": _result_id(), "custom_id": custom_id, "response": None, "error": error}


def _result_id() -> str:
    return f"batch_req_{uuid.uuid4().hex[:24]}"
