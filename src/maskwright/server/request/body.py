"""Reads a request body: returns its JSON object, or raises an error that says what is wrong.

Refused are bodies that are too large, nested too deep, not UTF-8, not JSON by RFC 8259 (`NaN`, lone
surrogates) or not an object. The order of properties is kept. If a name is repeated, the last value
counts, at the place of the first; a shape is read as it is written, and warned of.

A large body takes some hundred milliseconds to parse and check. This is done in another thread,
because every stream of the server waits for its event loop. There the parser calls a function for
each object and number, before which another thread can have the interpreter's lock. What needs no
lock, such as to decompress a body and to read it as bytes, has a thread of its own, in which it
doesn't wait for that.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, NoReturn, TypeVar, cast

from starlette.requests import ClientDisconnect, Request

from maskwright.dist.content_coding import (
    WINDOW_BITS,
    CodingError,
    DecodedTooLargeError,
    UnknownCodingError,
    coding_of,
    decode,
)
from maskwright.errors import InputError
from maskwright.grammar.schema.document import float_of, object_of
from maskwright.json_faults import json_reason
from maskwright.server.errors import HttpError
from maskwright.server.prompt_sizes import MAX_DEPTH
from maskwright.server.route import ClientGoneError

T = TypeVar("T")

LARGE: Final = 1 << 16
"""Bytes of a body from which on another thread parses it; one as large takes the event loop some
milliseconds."""
_THREAD: Final = ThreadPoolExecutor(1, thread_name_prefix="maskwright-bodies")
"""One thread: several would not be faster, since the interpreter's lock lets one work at a time."""
_THREAD_OF_BYTES: Final = ThreadPoolExecutor(1, thread_name_prefix="maskwright-bytes")
_SURROGATE = re.compile(rb"\\u[dD]")


async def read_as(
    request: Request,
    limit: int,
    convert: Callable[[dict[str, object]], T],
    admit: Callable[[bytes], None] | None = None,
) -> T:
    """Return what `convert` makes of the JSON object of a request, which is parsed and converted
    in another thread if it is large; never holds more than `limit` bytes, decoded or not. `admit`
    gets the decoded bytes before they are parsed, and may raise an error. Raises ClientGoneError if
    the client leaves before it has sent all of it."""
    _require_json(request.headers.get("content-type"))
    coding = coding_of_body(request)
    too_large = HttpError(413, f"the body is larger than {limit} bytes", code="body_too_large")
    data = b"".join([chunk async for chunk in chunks_of(request, limit, too_large)])
    large = coding is not None or len(data) >= LARGE

    def admitted() -> bytes:
        decoded = _decoded(data, coding, limit)
        if admit is not None:
            admit(decoded)
        return decoded

    def converted(decoded: bytes) -> T:
        return convert(parse_object(decoded, hooked=large))

    if not large:
        return converted(admitted())
    loop = asyncio.get_running_loop()
    decoded = await loop.run_in_executor(_THREAD_OF_BYTES, admitted)
    return await loop.run_in_executor(_THREAD, converted, decoded)


async def chunks_of(request: Request, limit: int, too_large: HttpError) -> AsyncGenerator[bytes]:
    """Yield the body of a request as it comes. Raises `too_large` for one of more than `limit`
    bytes: before any of it is read if a header gives its length, so that a client that waits for
    the permission to send it (`Expect: 100-continue`) gets the refusal instead. Raises
    ClientGoneError if the client leaves before the end."""
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length) > limit:
        raise too_large
    size = 0
    try:
        async for chunk in request.stream():
            size += len(chunk)
            if size > limit:
                raise too_large
            yield chunk
    except ClientDisconnect:
        raise ClientGoneError from None


def coding_of_body(request: Request, offered: Iterable[str] = WINDOW_BITS) -> str | None:
    """Return how the body of a request is compressed; None if it isn't. Raises HttpError for
    another coding than those `offered`."""
    named = request.headers.get("content-encoding")
    if named is None:
        return None
    try:
        coding = coding_of(named)
        if coding is None or coding in offered:
            return coding
        message = f"this body is read without a Content-Encoding, and it is {coding}"
    except UnknownCodingError as error:
        message = str(error)
    offer = {"Accept-Encoding": ", ".join(offered) or "identity"}
    raise HttpError(415, message, code="unsupported_encoding", headers=offer)


def _decoded(data: bytes, coding: str | None, limit: int) -> bytes:
    if coding is None:
        return data
    try:
        return decode(data, coding, limit)
    except DecodedTooLargeError as error:
        raise HttpError(413, str(error), code="body_too_large") from None
    except CodingError as error:
        raise InputError(str(error), code="invalid_encoding") from None


def _integer(digits: str) -> int:
    return int(digits)


_HOOKS: Final[Mapping[str, Any]] = {"parse_int": _integer}


def parse_object(data: bytes, *, hooked: bool = False) -> dict[str, object]:
    """Parse one JSON object. `hooked`: give way to other threads at each integer too, and not
    only at each object. Raises InputError with line and column of the first error."""
    hooks = _HOOKS if hooked else {}
    try:
        value: object = json.loads(
            data.decode("utf-8"),
            parse_constant=_refuse_constant,
            object_pairs_hook=object_of,
            parse_float=float_of,
            **hooks,
        )
    except UnicodeDecodeError as error:
        raise _invalid(f"the body is not UTF-8 (byte {error.start})") from None
    except json.JSONDecodeError as error:
        raise _invalid(f"the body is not valid JSON: {json_reason(error)}") from None
    except RecursionError:
        raise _too_deep() from None
    except ValueError:
        raise _invalid("an integer in the body has too many digits") from None
    if not isinstance(value, dict):
        raise _invalid("the body must be a JSON object")
    tree = cast(dict[str, object], value)
    # Half of a pair can only be spelled by an escape, so that most bodies have none to look for.
    _check_tree(tree, texts=b"\\u" in data and _SURROGATE.search(data) is not None)
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
                # Also values of a name that has another one: shapes are read as they are written.
                for name, member in cast(dict[str, object], value).items():
                    below.append(member)
                    if texts:
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
