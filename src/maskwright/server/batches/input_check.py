"""Checks the input of a batch before anything is asked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from maskwright.errors import InputError
from maskwright.records.batch_lines import BatchLine, parse_batch_line
from maskwright.server.json import Json

MOST_REQUESTS: Final = 50_000
MOST_ERRORS: Final = 100
"""Errors that are told."""


def input_errors(path: Path, endpoint: str, line_bytes: int) -> tuple[int, list[Json]]:
    """Return how many requests an input has, and what is wrong with it, as OpenAI tells it. With
    errors, no request is sent. `line_bytes`: upper bound on the bytes of one request."""
    errors: list[Json] = []
    known: set[str] = set()
    count = 0
    for number, line in _numbered(path):
        count += 1
        if count > MOST_REQUESTS:
            return count, [
                *errors,
                _error("too_many_requests", f"there are more than {MOST_REQUESTS:,} requests"),
            ]
        found = _line_error(line, endpoint, line_bytes, known, number)
        if found is not None:
            errors.append(found)
            if len(errors) == MOST_ERRORS:
                break
    if count == 0:
        errors.append(_error("empty_file", "the input has no requests"))
    return count, errors


def requests_of(path: Path) -> Iterator[BatchLine]:
    """The requests of an input that was checked."""
    return (parse_batch_line(line) for _, line in _numbered(path))


def _numbered(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, with their numbers from 1."""
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield number, line


def _line_error(
    line: bytes, endpoint: str, line_bytes: int, known: set[str], number: int
) -> Json | None:
    if len(line) > line_bytes:
        return _error("line_too_large", f"the line is larger than {line_bytes} bytes", None, number)
    try:
        request = parse_batch_line(line)
    except InputError as error:
        return _error(error.code, error.message, error.param, number)
    if request.url != endpoint:
        message = f"'url' is {request.url}, and the batch is for {endpoint}"
        return _error("mismatched_endpoint", message, "url", number)
    if request.custom_id in known:
        message = f"the custom_id {request.custom_id!r} comes twice"
        return _error("duplicate_custom_id", message, "custom_id", number)
    known.add(request.custom_id)
    return None


def _error(code: str, message: str, param: str | None = None, line: int | None = None) -> Json:
    return {"code": code, "message": message, "param": param, "line": line}
