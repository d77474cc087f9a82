"""What a connection takes of the responses of a worker, however they are cut into segments."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable

import pytest

from maskwright.dist.front.wire import Connection

HEAD = b"HTTP/1.1 200 OK\r\na: b"

Body = Callable[[Connection], AsyncGenerator[bytes]]


def sized(size: int) -> Body:
    return lambda connection: connection.sized(size)


async def taken(segments: list[bytes], body: Body, ends: bool = False) -> tuple[bytes, bytes, bool]:
    """Head and body of a response that comes in segments, and whether nothing is left."""
    connection = Connection()

    async def come() -> None:
        for segment in segments:
            connection.data_received(segment)
            await asyncio.sleep(0)
        if ends:
            connection.eof_received()

    coming = asyncio.ensure_future(come())
    head = await connection.head()
    found = b"".join([data async for data in body(connection)])
    await coming
    return head, found, connection.is_clean


@pytest.mark.parametrize(
    ("sent", "body", "whole"),
    [
        (b"abcdef", sized(6), b"abcdef"),
        (b"", sized(0), b""),
        (b"3\r\nabc\r\n10;x=y\r\n0123456789abcdef\r\n0\r\n\r\n", Connection.chunked,
         b"abc0123456789abcdef"),
        (b"2\r\n\r\n\r\n0\r\nlast: yes\r\nmore: yes\r\n\r\n", Connection.chunked, b"\r\n"),
        (b"0\r\n\r\n", Connection.chunked, b""),
    ],
)  # fmt: skip
def test_a_response_in_two_segments(sent: bytes, body: Body, whole: bytes) -> None:
    response = HEAD + b"\r\n\r\n" + sent
    for cut in range(1, len(response)):
        segments = [response[:cut], response[cut:]]
        assert asyncio.run(taken(segments, body)) == (HEAD, whole, True), cut


def test_a_body_that_ends_with_the_connection() -> None:
    segments = [HEAD + b"\r\n\r\nab", b"cd"]
    assert asyncio.run(taken(segments, Connection.rest, ends=True))[1] == b"abcd"


@pytest.mark.parametrize("body", [sized(9), Connection.chunked])
def test_a_body_that_is_cut_off(body: Body) -> None:
    with pytest.raises(EOFError):
        asyncio.run(taken([HEAD + b"\r\n\r\n5\r\nabc"], body, ends=True))


def test_a_chunk_that_is_none() -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        asyncio.run(taken([HEAD + b"\r\n\r\nno\r\n"], Connection.chunked))


def test_what_comes_after_a_response_is_left() -> None:
    _, body, is_clean = asyncio.run(taken([HEAD + b"\r\n\r\nabc"], sized(2)))
    assert (body, is_clean) == (b"ab", False)
