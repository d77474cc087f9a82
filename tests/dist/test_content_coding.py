"""Compressed bodies: read, bounded, or refused with the reason."""

from __future__ import annotations

import gzip
import zlib

import pytest

from maskwright.dist.content_coding import (
    CodingError,
    DecodedTooLargeError,
    UnknownCodingError,
    coding_of,
    decode,
)

DATA = b'{"a": 1}' * 1000
PACKED = {"gzip": gzip.compress(DATA), "deflate": zlib.compress(DATA)}


@pytest.mark.parametrize(
    ("header", "coding"),
    [
        ("", None),
        ("identity", None),
        (" Identity , ", None),
        ("gzip", "gzip"),
        ("X-GZip", "gzip"),
        ("identity, deflate", "deflate"),
    ],
)
def test_the_coding_that_a_header_names(header: str, coding: str | None) -> None:
    assert coding_of(header) == coding


@pytest.mark.parametrize("header", ["br", "zstd", "gzip, gzip", "deflate, gzip", "compress"])
def test_other_codings_are_refused(header: str) -> None:
    with pytest.raises(UnknownCodingError, match="gzip or deflate is read here"):
        coding_of(header)


@pytest.mark.parametrize("coding", PACKED)
def test_what_was_compressed_comes_back(coding: str) -> None:
    assert decode(PACKED[coding], coding, len(DATA)) == DATA


@pytest.mark.parametrize("coding", PACKED)
def test_a_decoded_body_is_bounded(coding: str) -> None:
    with pytest.raises(DecodedTooLargeError, match=f"larger than {len(DATA) - 1} bytes"):
        decode(PACKED[coding], coding, len(DATA) - 1)


def test_a_body_that_would_fill_the_memory_is_not_decoded() -> None:
    pack = zlib.compressobj(9, wbits=16 + zlib.MAX_WBITS)
    packed = b"".join(pack.compress(bytes(1 << 20)) for _ in range(200)) + pack.flush()
    with pytest.raises(DecodedTooLargeError):
        decode(packed, "gzip", 1000)


@pytest.mark.parametrize(
    ("body", "coding", "why"),
    [
        (DATA, "gzip", "is not gzip"),
        (PACKED["deflate"], "gzip", "is not gzip"),
        (PACKED["gzip"], "deflate", "is not deflate"),
        (PACKED["gzip"][:-9], "gzip", "ends before its gzip data"),
        (b"", "gzip", "ends before its gzip data"),
        (PACKED["gzip"] + b"x", "gzip", "has more after the end"),
        (PACKED["gzip"] * 2, "gzip", "has more after the end"),
    ],
    ids=["plain", "deflate", "gzip", "cut", "empty", "more", "twice"],
)
def test_what_is_not_compressed_so_is_refused(body: bytes, coding: str, why: str) -> None:
    with pytest.raises(CodingError, match=why):
        decode(body, coding, 1 << 20)
