"""What a connection takes of the responses of a worker, however they are cut into segments."""

from __future__ import annotations

import asyncio

import pytest

from maskwright.dist.front.wire import BUFFER, Connection, Headers

SIZED = b"HTTP/1.1 200 OK\r\nA: b \r\ncontent-length: %d\r\n\r\n"
CHUNKED = b"HTTP/1.1 200 OK\r\nA: b\r\ntransfer-encoding: chunked\r\n\r\n"
ENDLESS = b"HTTP/1.1 200 OK\r\nA: b\r\n\r\n"


async def taken(segments: list[bytes], ends: bool = False) -> tuple[int, Headers, bytes, bool]:
    """Status, headers and body of a response that comes in segments, and whether nothing is
    left."""
    connection = Connection()
    assert connection.is_clean
    connection.begin()
    assert not connection.is_clean

    async def come() -> None:
        for segment in segments:
            connection.data_received(segment)
            await asyncio.sleep(0)
        if ends:
            connection.eof_received()

    coming = asyncio.ensure_future(come())
    await connection.head()
    found = b"".join([data async for data in connection.body()])
    await coming
    return connection.status, connection.headers, found, connection.is_clean


@pytest.mark.parametrize(
    ("response", "whole"),
    [
        (SIZED % 6 + b"abcdef", b"abcdef"),
        (SIZED % 0, b""),
        (CHUNKED + b"3\r\nabc\r\n10;x=y\r\n0123456789abcdef\r\n0\r\n\r\n",
         b"abc0123456789abcdef"),
        (CHUNKED + b"2\r\n\r\n\r\n0\r\nlast: yes\r\nmore: yes\r\n\r\n", b"\r\n"),
        (CHUNKED + b"0\r\n\r\n", b""),
    ],
)  # fmt: skip
def test_a_response_in_two_segments(response: bytes, whole: bytes) -> None:
    for cut in range(1, len(response)):
        segments = [response[:cut], response[cut:]]
        status, headers, body, is_clean = asyncio.run(taken(segments))
        assert (status, headers[0], body, is_clean) == (200, (b"a", b"b"), whole, True), cut
        assert (b"last", b"yes") not in headers


@pytest.mark.parametrize("status", [204, 304])
def test_a_response_that_has_no_body(status: int) -> None:
    response = b"HTTP/1.1 %d Nothing\r\n\r\n" % status
    assert asyncio.run(taken([response])) == (status, [], b"", True)


def test_a_body_that_ends_with_the_connection() -> None:
    found = asyncio.run(taken([ENDLESS + b"ab", b"cd"], ends=True))
    assert found[2:] == (b"abcd", False)


@pytest.mark.parametrize("head", [SIZED % 9, CHUNKED])
def test_a_body_that_is_cut_off(head: bytes) -> None:
    with pytest.raises(EOFError):
        asyncio.run(taken([head + b"5\r\nabc"], ends=True))


def test_a_chunk_that_is_none() -> None:
    with pytest.raises(ValueError, match="chunk size"):
        asyncio.run(taken([CHUNKED + b"no\r\n"]))


def test_a_head_that_is_too_long() -> None:
    with pytest.raises(ValueError, match="too long"):
        asyncio.run(taken([b"HTTP/1.1 200 OK\r\na: " + b"b" * BUFFER]))


def test_what_comes_after_a_response_is_left() -> None:
    _, _, body, is_clean = asyncio.run(taken([SIZED % 2 + b"abHTTP/1.1 200 OK\r\n\r\n"]))
    assert (body, is_clean) == (b"ab", False)


def test_what_comes_without_a_request_is_left() -> None:
    connection = Connection()
    connection.data_received(SIZED % 0)
    assert not connection.is_clean


def test_one_connection_takes_several_responses() -> None:
    async def three() -> list[bytes]:
        connection, found = Connection(), list[bytes]()
        for number in range(3):
            connection.begin()
            connection.data_received(SIZED % 1 + b"%d" % number)
            await connection.head()
            found += [data async for data in connection.body()]
            assert connection.is_clean
        return found

    assert asyncio.run(three()) == [b"0", b"1", b"2"]
