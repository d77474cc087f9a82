"""Reads a request body: returns its JSON object, or raises an error that says what is wrong.

Refused are bodies that are too large, nested too deep, not UTF-8, not JSON by RFC 8259 (`NaN`, lone
surrogates) or not an object. The order of properties is kept. If a name is repeated, the last value
counts, at the place of the first; a shape is read as it is written, and warned of.

A large body takes some hundred milliseconds to parse and check. This is done in another thread,
because every stream of the server waits for its event loop.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, NoReturn, TypeVar, cast

from starlette.requests import Request

from maskwright.errors import InputError
from maskwright.grammar.schema.document import object_of
from maskwright.server.errors import HttpError

T = TypeVar("T")

MAX_DEPTH = 128
LARGE: Final = 1 << 16
"""Bytes of a body from which on another thread parses it; one as large takes the event loop some
milliseconds."""
_THREAD: Final = ThreadPoolExecutor(1, thread_name_prefix="maskwright-bodies")
"""One thread: several would not be faster, since the interpreter's lock lets one work at a time."""
_SURROGATE = re.compile(rb"\\u[dD]")


async def read_object(request: Request, limit: int) -> dict[str, object]:
    """Return the JSON object of a request; never holds more than `limit` bytes."""
    return await read_as(request, limit, lambda tree: tree)


async def read_as(request: Request, limit: int, convert: Callable[[dict[str, object]], T]) -> T:
    """Return what `convert` makes of the JSON object of a request, which is parsed and converted
    in another thread if it is large; never holds more than `limit` bytes."""
    _require_json(request.headers.get("content-type"))
    chunks: list[bytes] = []
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > limit:
            raise HttpError(413, f"the body is larger than {limit} bytes", code="body_too_large")
        chunks.append(chunk)
    data = b"".join(chunks)
    chunks.clear()

    def converted() -> T:
        return convert(parse_object(data))

    if size < LARGE:
        return converted()
    return await asyncio.get_running_loop().run_in_executor(_THREAD, converted)


def parse_object(data: bytes) -> dict[str, object]:
    """Parse one JSON object. Raises InputError with line and column of the first error."""
    try:
        value: object = json.loads(
            data.decode("utf-8"), parse_constant=_refuse_constant, object_pairs_hook=object_of
        )
    except UnicodeDecodeError as error:
        raise _invalid(f"the body is not UTF-8 (byte {error.start})") from None
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise _invalid(f"the body is not valid JSON: {error.msg} at {place}") from None
    except RecursionError:
        raise _too_deep() from None
    except ValueError:
        raise _invalid("an integer in the body has too many digits") from None
    if not isinstance(value, dict):
        raise _invalid("the body must be a JSON object")
    tree = cast(dict[str, object], value)
    # Half of a pair can only be spelled by an escape, so that most bodies have none to look for.
    _check_tree(tree, texts=_SURROGATE.search(data) is not None)
    return tree


def _require_json(content_type: str | None) -> None:
    kind = (content_type or "").partition(";")[0].strip().lower()
    if kind != "application/json" and not (
        kind.startswith("application/") and kind.endswith("+json")
    ):
        raise InputError(
            "send the body as JSON with the header 'Content-Type: application/json'",
            code="invalid_content_type",
        )


def _check_tree(tree: object, *, texts: bool) -> None:
    """Check the depth and, if `texts`, the strings of all values, without recursion."""
    level: list[object] = [tree]
    depth = 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise _too_deep()
        below: list[object] = []
        for value in level:
            if isinstance(value, dict):
                members = cast(dict[str, object], value)
                below += members.values()
                if texts:
                    for name in members:
                        _check_text(name)
            elif isinstance(value, list):
                below += cast(list[object], value)
            elif texts and isinstance(value, str):
                _check_text(value)
        level = below


def _check_text(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        surrogate = f"\\u{ord(text[error.start]):04x}"
        raise _invalid(f"a string holds half of a surrogate pair ({surrogate})") from None


def _refuse_constant(name: str) -> NoReturn:
    raise _invalid(f"the body is not valid JSON: {name} is not a JSON number")


def _too_deep() -> InputError:
    return _invalid(f"the body is nested more than {MAX_DEPTH} levels deep")


def _invalid(message: str) -> InputError:
    return InputError(message, code="invalid_json")
