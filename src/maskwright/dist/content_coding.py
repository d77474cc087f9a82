"""Bodies that a client has compressed, as the header `Content-Encoding` says (RFC 9110, 8.4)."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Final

WINDOW_BITS: Final[Mapping[str, int]] = {"gzip": 16 + zlib.MAX_WBITS, "deflate": zlib.MAX_WBITS}
"""The codings that are read, and how zlib calls their formats: RFC 1952 and RFC 1950."""

_NAMES: Final = {"x-gzip": "gzip"}


class CodingError(Exception):
    """A body can't be decoded; the message says why."""


class UnknownCodingError(CodingError):
    """The header names a coding that isn't read."""


class DecodedTooLargeError(CodingError):
    """The decoded body would be too large."""


def coding_of(header: str) -> str | None:
    """Return the coding that a header names; None for a body that is sent as it is. Raises
    `UnknownCodingError`, also for several."""
    named = [name.strip().lower() for name in header.split(",")]
    codings = [_NAMES.get(name, name) for name in named if name not in ("", "identity")]
    if not codings:
        return None
    if len(codings) > 1 or codings[0] not in WINDOW_BITS:
        raise UnknownCodingError(
            f"the body has the Content-Encoding {header.strip()!r}; {' or '.join(WINDOW_BITS)} is "
            "read here, or a body without one"
        )
    return codings[0]


def decode(body: bytes, coding: str, limit: int) -> bytes:
    """Return a decoded body of at most `limit` bytes. Raises `CodingError`."""
    stream = zlib.decompressobj(WINDOW_BITS[coding])
    try:
        data = stream.decompress(body, limit + 1)
    except zlib.error:
        raise CodingError(f"the body is not {coding}, which its Content-Encoding names") from None
    if len(data) > limit:
        raise DecodedTooLargeError(f"the body is larger than {limit} bytes when it is decoded")
    if not stream.eof:
        raise CodingError(f"the body ends before its {coding} data does")
    if stream.unused_data:
        raise CodingError(f"the body has more after the end of its {coding} data")
    return data
