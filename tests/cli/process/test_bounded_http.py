"""The HTTP of servers and routers: ordinary requests, bounds, and what is malformed."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import httpx
import pytest

from maskwright.cli.process import bounded_http
from maskwright.cli.process.bounded_http import (
    HEAD_BYTES,
    LATE,
    MALFORMED,
    MOST_WAITING,
    PIECE_BYTES,
)
from tests.bounds import PATIENCE, wait_until
from tests.live_server import address, live_server

BODY = b'{"a": 1}'
HEAD = b"POST /v1/x?y=1 HTTP/1.1\r\nHost: here\r\n"
PLAIN = HEAD + b"Content-Length: 8\r\n\r\n" + BODY


PIECES = 400
PIECE = b"x" * 50_000


class Echo:
    """Answers with what it was asked. `sent`: pieces of the last stream so far; `left`: streams
    whose client has disconnected; `cut`: requests whose body did not come."""

    def __init__(self) -> None:
        self.sent = self.left = self.cut = 0

    async def __call__(self, scope: Any, receive: Callable[[], Any], send: Any) -> None:
        if scope["type"] != "http":
            return
        if scope["path"] == "/refuse":  # without reading any of the body
            head = [(b"content-length", b"2")]
            await send({"type": "http.response.start", "status": 413, "headers": head})
            await send({"type": "http.response.body", "body": b"no"})
            return
        body, more = b"", True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        if message["type"] == "http.disconnect":
            self.cut += 1
            return
        if scope["path"] == "/slow":
            await asyncio.sleep(0.2)
        if scope["path"] == "/wait":
            while message["type"] != "http.disconnect":
                message = await receive()
            self.left += 1
            return
        if scope["path"] == "/fail":
            raise RuntimeError("on purpose")
        if scope["path"] == "/stream":
            await self._stream(receive, send)
            return
        kinds = "type", "method", "path", "http_version", "scheme"
        request = {kind: scope[kind] for kind in kinds}
        request["query"] = scope["query_string"].decode()
        request["headers"] = [[name.decode(), value.decode()] for name, value in scope["headers"]]
        request["body"] = [len(body), body[:8].decode()]
        request["addresses"] = [scope["server"][0], scope["client"][0]]
        data = json.dumps(request).encode()
        head = [(b"content-length", b"%d" % len(data))]
        await send({"type": "http.response.start", "status": 200, "headers": head})
        await send({"type": "http.response.body", "body": data})

    async def _stream(self, receive: Callable[[], Any], send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        gone = asyncio.ensure_future(receive())
        for self.sent in range(PIECES):
            await send({"type": "http.response.body", "body": PIECE, "more_body": True})
            if gone.done():
                self.left += 1
                return
            await asyncio.sleep(0)
        await send({"type": "http.response.body", "body": b"end"})
        gone.cancel()


@pytest.fixture(scope="module")
def echo() -> Echo:
    return Echo()


@pytest.fixture(scope="module")
def url(echo: Echo) -> Iterator[str]:
    with live_server(echo) as base:  # pyright: ignore[reportArgumentType]
        yield base


def answers(url: str, *segments: bytes, count: int = 1) -> list[tuple[int, Any]]:
    """The responses to what is sent in segments on one connection: status and body."""
    found: list[tuple[int, Any]] = []
    with socket.create_connection(address(url), timeout=PATIENCE) as client:
        for segment in segments:
            client.sendall(segment)
            threading.Event().wait(0.01)
        reader = client.makefile("rb")
        while len(found) < count:
            status = int(reader.readline().split()[1])
            fields = dict(line.lower().split(b": ", 1) for line in iter(reader.readline, b"\r\n"))
            length = fields.get(b"content-length")
            data = reader.read(-1 if length is None else int(length))
            found.append((status, json.loads(data) if data.startswith(b"{") else data))
    return found


@pytest.mark.parametrize("cut", [0, 5, len(HEAD) - 1, len(PLAIN) - 3])
def test_a_plain_request(url: str, cut: int) -> None:
    """Whole, or in two segments."""
    [(status, echoed)] = answers(url, *filter(None, (PLAIN[:cut], PLAIN[cut:])))
    assert status == 200
    assert echoed == {
        "type": "http", "method": "POST", "path": "/v1/x", "query": "y=1", "http_version": "1.1",
        "scheme": "http", "headers": [["host", "here"], ["content-length", "8"]],
        "body": [8, BODY.decode()], "addresses": ["127.0.0.1", "127.0.0.1"],
    }  # fmt: skip


def test_one_connection_answers_requests_in_their_order(url: str) -> None:
    get = b"GET /%d HTTP/1.1\r\nHost: h\r\n\r\n"
    chunked = (
        b"POST /3 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n"
    )
    last = b"POST /4 HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\ncd"
    found = answers(url, get % 1 + get % 2 + chunked + last, count=4)
    assert [(echoed["path"], echoed["body"]) for _, echoed in found] == [
        ("/1", [0, ""]), ("/2", [0, ""]), ("/3", [2, "ab"]), ("/4", [2, "cd"]),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("lines", "body", "expected"),
    [
        (b"Transfer-Encoding: chunked\r\n", b"3\r\nabc\r\n0\r\n\r\n", [3, "abc"]),
        (b"Transfer-Encoding: chunked\r\n", b"1\r\na\r\n0\r\nTrailer: t\r\n\r\n", [1, "a"]),
        (b"Connection: close\r\nContent-Length: 3\r\n", b"abc", [3, "abc"]),
        (b"Connection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 3\r\n", b"abc", [3, "abc"]),
        (b"Content-Length: 2000000\r\n", b"y" * 2_000_000, [2_000_000, "y" * 8]),
        (b"Long: " + b"z" * 15_000 + b"\r\nContent-Length: 1\r\n", b"a", [1, "a"]),
    ],
)
def test_other_requests_are_answered_too(
    url: str, lines: bytes, body: bytes, expected: Any
) -> None:
    [(status, answer)] = answers(url, HEAD + lines + b"\r\n" + body)
    assert (status, answer["body"]) == (200, expected)


CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n"


@pytest.mark.parametrize(
    "parts",
    [
        [HEAD + b"Long: " + b"z" * HEAD_BYTES + b"\r\n\r\n"],
        [HEAD, b"Many: headers\r\n" * HEAD_BYTES],
        [HEAD + b"a:\r\n" * (HEAD_BYTES // 4) + b"\r\n"],
        [b"GET /", b"a" * HEAD_BYTES],
        [HEAD + b"Long: ", *[b"z" * 10_000] * 20],
        [HEAD, *[b"n" * 10_000] * 20],
        [CHUNKED, b"Many: trailers\r\n" * HEAD_BYTES],
        [CHUNKED + b"Long: ", *[b"z" * 10_000] * 20],
    ],
    ids=[
        "header",
        "headers",
        "short-headers",
        "target",
        "open-header",
        "open-name",
        "trailers",
        "open-trailer",
    ],
)
def test_a_head_is_bounded(url: str, parts: list[bytes]) -> None:
    """One that has come as a whole, and one whose end never comes."""
    with socket.create_connection(address(url), timeout=PATIENCE) as client:
        with suppress(ConnectionError):  # refused before the last part
            for part in parts:
                client.sendall(part)
                threading.Event().wait(0.01)
        received = b""
        with suppress(ConnectionError):
            while data := client.recv(1 << 16):
                received += data
    assert received.count(b"HTTP/1.1 ") <= 1
    assert received == b"" or received.startswith(b"HTTP/1.1 400 ")


def test_another_protocol_is_not_taken_up(url: str) -> None:
    """As Java's client and curl offer it; the body may come later, and other requests after it."""
    offer = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n"
    request = HEAD + offer + b"Content-Length: 8\r\n\r\n" + BODY
    chunked = HEAD + offer + b"Transfer-Encoding: chunked\r\n\r\n8\r\n" + BODY + b"\r\n0\r\n\r\n"
    cut = len(request) - 3
    found = answers(url, request + chunked + request[:cut], request[cut:] + PLAIN, count=4)
    assert [(status, echoed["body"]) for status, echoed in found] == [(200, [8, BODY.decode()])] * 4
    assert "upgrade" not in dict(found[0][1]["headers"])


def test_many_offers_of_another_protocol_in_one_piece(url: str) -> None:
    offer = b"GET /x HTTP/1.1\r\nHost: h\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n"
    assert [status for status, _ in answers(url, offer * MOST_WAITING, count=MOST_WAITING)] == (
        [200] * MOST_WAITING
    )
    with socket.create_connection(address(url), timeout=PATIENCE) as client:
        client.sendall(offer * 2000)
        received = client.makefile("rb").read()
    assert received.count(b"HTTP/1.1 200 ") == 1 + MOST_WAITING
    assert received.count(b"HTTP/1.1 400 ") == 1


def test_requests_that_do_not_wait_for_answers_are_bounded(url: str) -> None:
    """Those that may wait are answered, and only then the refusal of the others is sent."""
    with socket.create_connection(address(url), timeout=PATIENCE) as client:
        client.sendall(b"GET /slow HTTP/1.1\r\nHost: h\r\n\r\n" + PLAIN * 1000)
        received = client.makefile("rb").read()
    assert received.count(b"HTTP/1.1 200 ") == 1 + MOST_WAITING
    assert received.count(b"HTTP/1.1 400 ") == 1
    assert received.endswith(MALFORMED.encode())


@pytest.mark.parametrize("after", [b"\x00no request", HEAD + b"Content-Length: x\r\n\r\n"])
def test_what_is_malformed_is_reported_after_the_answers_before_it(url: str, after: bytes) -> None:
    slow = b"GET /slow HTTP/1.1\r\nHost: h\r\n\r\n"
    found = answers(url, slow + PLAIN + after, count=3)
    assert [status for status, _ in found] == [200, 200, 400]
    assert [echoed["path"] for _, echoed in found[:2]] == ["/slow", "/v1/x"]


def test_a_body_that_is_malformed_ends_its_request(url: str) -> None:
    head = b"POST /slow HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
    [(status, _)] = answers(url, head + b"3\r\nabc\r\n", b"no number\r\n")
    assert status == 400


def test_trailers_are_no_headers(url: str) -> None:
    head = HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n"
    [(_, echoed)] = answers(url, head + b"Authorization: Bearer x\r\n\r\n")
    assert [name for name, _ in echoed["headers"]] == ["host", "transfer-encoding"]


def test_a_client_that_leaves_is_noticed_though_another_request_came(url: str, echo: Echo) -> None:
    before = echo.left
    with socket.create_connection(address(url)) as client:
        client.sendall(b"GET /wait HTTP/1.1\r\nHost: h\r\n\r\n" + PLAIN)
        threading.Event().wait(0.1)
    wait_until(lambda: echo.left == before + 1)


def test_the_bounds_of_a_head_count_each_request_for_itself(url: str) -> None:
    request = HEAD + b"Long: " + b"z" * 10_000 + b"\r\nContent-Length: 100000\r\n\r\n"
    found = answers(url, *[request + b"y" * 100_000] * 4, count=4)
    assert [(status, echoed["body"][0]) for status, echoed in found] == [(200, 100_000)] * 4
    assert HEAD_BYTES < 4 * 10_000
    assert PIECE_BYTES < 4 * 100_000


def test_a_client_that_waits_to_be_told_to_go_on(url: str) -> None:
    head = HEAD + b"Expect: 100-continue\r\nContent-Length: 8\r\n\r\n"
    with socket.create_connection(address(url), timeout=PATIENCE) as client:
        client.sendall(head)
        assert client.recv(1000).startswith(b"HTTP/1.1 100 ")
        client.sendall(BODY)
        assert client.recv(1000).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize(
    "request_bytes",
    [
        HEAD + b"Content-Length: 8\r\nContent-Length: 9\r\n\r\n" + BODY,
        HEAD + b"Content-Length: +8\r\n\r\n" + BODY,
        HEAD + b"Content-Length: 8\r\nTransfer-Encoding: x\r\n\r\n" + BODY,
        HEAD + b"Content-Length : 8\r\n\r\n" + BODY,
        HEAD + b"A: \x00\r\n\r\n",
        b"GET /x HTTP/1.1\r\n\r\n",
        b"GET /x HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"GET /x y HTTP/1.1\r\nHost: a\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01",
        b"GET /x HTTP/2.0\r\nHost: here\r\n\r\n",
        b"GET /x HTTP/0.9\r\nHost: here\r\n\r\n",
        b"CONNECT here:80 HTTP/1.1\r\nHost: here\r\n\r\n",
    ],
)
def test_what_is_malformed_is_refused(url: str, request_bytes: bytes) -> None:
    [(status, _)] = answers(url, request_bytes)
    assert status == 400


def test_a_failure_is_reported(url: str) -> None:
    assert answers(url, b"GET /fail HTTP/1.1\r\nHost: h\r\n\r\n") == [
        (500, b"Internal Server Error")
    ]


def test_a_slow_client_makes_a_stream_wait(url: str, echo: Echo) -> None:
    with httpx.stream("GET", f"{url}/stream", timeout=PATIENCE) as answer:
        threading.Event().wait(0.1)
        assert echo.sent < PIECES - 50  # 20 MB fit into no socket
        assert answer.read() == PIECE * PIECES + b"end"


def test_a_client_that_leaves_ends_its_stream(url: str, echo: Echo) -> None:
    before = echo.left
    with socket.create_connection(address(url)) as client:
        client.sendall(b"GET /stream HTTP/1.1\r\nHost: h\r\n\r\n")
        assert client.recv(1000).startswith(b"HTTP/1.1 200 ")
    wait_until(lambda: echo.left == before + 1)


def received(url: str, *segments: bytes) -> bytes:
    """All that comes after what is sent in segments, until the server closes the connection."""
    with socket.create_connection(address(url), timeout=PATIENCE) as client:
        for segment in segments:
            client.sendall(segment)
            threading.Event().wait(0.01)
        return client.makefile("rb").read()


def test_a_client_that_waits_to_be_told_to_go_on_gets_a_refusal_instead(url: str) -> None:
    """It may then send the body or not, so that the connection is of no more use."""
    head = b"POST /refuse HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 8\r\n\r\n"
    found = received(url, head)
    assert found.startswith(b"HTTP/1.1 413 ")
    assert found.count(b"HTTP/1.1") == 1
    assert b"\r\nconnection: close\r\n" in found


def test_a_refusal_before_the_body_leaves_the_connection_open(url: str) -> None:
    refused = b"POST /refuse HTTP/1.1\r\nHost: h\r\nContent-Length: 8\r\n\r\n"
    found = answers(url, refused, BODY, PLAIN, count=2)
    assert [status for status, _ in found] == [413, 200]


@pytest.mark.parametrize("lines", [b"", b"Connection: keep-alive\r\n"])
def test_a_stream_to_an_old_client_ends_with_the_connection(url: str, lines: bytes) -> None:
    """HTTP/1.0 knows no chunks (RFC 9112, section 6.1)."""
    head, _, body = received(url, b"GET /stream HTTP/1.0\r\n" + lines + b"\r\n").partition(
        b"\r\n\r\n"
    )
    assert body == PIECE * PIECES + b"end"
    assert b"transfer-encoding" not in head
    assert b"connection: close" in head


def test_what_has_a_length_is_told_to_an_old_client(url: str) -> None:
    found = received(url, b"POST /x HTTP/1.0\r\nContent-Length: 8\r\n\r\n" + BODY)
    head, _, body = found.partition(b"\r\n\r\n")
    assert b"content-length: %d" % len(body) in head
    assert json.loads(body)["body"] == [8, BODY.decode()]


def test_a_stream_to_a_newer_client_is_chunked(url: str) -> None:
    found = received(url, b"GET /stream HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
    assert b"\r\ntransfer-encoding: chunked\r\n" in found
    assert found.endswith(b"3\r\nend\r\n0\r\n\r\n")


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> float:
    """Seconds that a head and a body may take."""
    seconds = 0.2
    monkeypatch.setattr(bounded_http, "HEAD_SECONDS", seconds)
    monkeypatch.setattr(bounded_http, "BODY_SECONDS", seconds)
    return seconds


HALF_SENT = {
    "a line": [b"POST /x HT"],
    "headers": [HEAD + b"Content-Le"],
    "headers, bit by bit": [HEAD, *[b"A: b\r\n"] * 100],
    "a body": [HEAD + b"Content-Length: 8\r\n\r\n{"],
    "no body": [HEAD + b"Content-Length: 8\r\n\r\n"],
    "a chunk": [CHUNKED[: CHUNKED.index(b"0\r\n")]],
    "trailers": [CHUNKED + b"Trailer: "],
}


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("name", HALF_SENT)
def test_a_request_that_does_not_go_on_is_given_up(url: str, echo: Echo, name: str) -> None:
    before = echo.cut
    found = received_while_sending(url, HALF_SENT[name])
    assert found.startswith(b"HTTP/1.1 408 ")
    assert found.endswith(LATE.encode())
    has_head = any(b"\r\n\r\n" in segment for segment in HALF_SENT[name])
    wait_until(lambda: echo.cut == before + has_head)


def received_while_sending(url: str, segments: list[bytes]) -> bytes:
    with socket.create_connection(address(url), timeout=PATIENCE) as client:
        with suppress(ConnectionError):
            for segment in segments:
                client.sendall(segment)
                threading.Event().wait(0.01)
        found = b""
        with suppress(ConnectionError):
            while data := client.recv(1 << 16):
                found += data
        return found


def test_a_slow_body_that_goes_on_is_read(url: str, impatient: float) -> None:
    pieces = [b"%d" % digit for digit in range(8)]
    with socket.create_connection(address(url), timeout=PATIENCE) as client:
        client.sendall(HEAD + b"Content-Length: 8\r\n\r\n")
        for piece in pieces:
            threading.Event().wait(impatient / 3)
            client.sendall(piece)
        assert client.recv(1000).startswith(b"HTTP/1.1 200 ")


@pytest.mark.usefixtures("impatient")
def test_answers_that_take_long_are_not_given_up(url: str) -> None:
    """Neither while the application works, nor between two requests."""
    slow = b"POST /slow HTTP/1.1\r\nHost: h\r\nContent-Length: 8\r\n\r\n" + BODY
    with socket.create_connection(address(url), timeout=PATIENCE) as client:
        for _ in range(2):
            client.sendall(slow)
            assert client.recv(1000).startswith(b"HTTP/1.1 200 ")
            threading.Event().wait(0.3)


@pytest.mark.usefixtures("impatient")
def test_the_requests_before_one_that_does_not_go_on_are_answered(url: str) -> None:
    slow = b"GET /slow HTTP/1.1\r\nHost: h\r\n\r\n"
    for rest in (HEAD, HEAD + b"Content-Length: 8\r\n\r\n{"):
        found = received(url, slow + PLAIN + rest)
        assert found.count(b"HTTP/1.1 200 ") == 2
        assert found.count(b"HTTP/1.1 408 ") == 1
        assert found.endswith(LATE.encode())


@pytest.mark.usefixtures("impatient")
def test_the_body_of_a_request_that_was_refused_is_not_waited_for(url: str) -> None:
    found = received(url, b"POST /refuse HTTP/1.1\r\nHost: h\r\nContent-Length: 8\r\n\r\n{")
    assert found.startswith(b"HTTP/1.1 413 ")
    assert found.count(b"HTTP/1.1") == 1


def test_a_connection_without_a_request_is_closed(impatient: float) -> None:
    """A new one, and one whose request was answered some time ago."""
    with live_server(Echo(), keep_alive=impatient) as base:  # pyright: ignore[reportArgumentType]
        assert received(base) == b""
        assert received(base, PLAIN).startswith(b"HTTP/1.1 200 ")


def test_a_connection_is_kept_open_as_long_as_is_chosen() -> None:
    with (
        live_server(Echo(), keep_alive=PATIENCE) as base,  # pyright: ignore[reportArgumentType]
        socket.create_connection(address(base), timeout=PATIENCE) as client,
    ):
        for _ in range(2):
            client.sendall(PLAIN)
            assert client.recv(1000).startswith(b"HTTP/1.1 200 ")
            threading.Event().wait(0.2)
