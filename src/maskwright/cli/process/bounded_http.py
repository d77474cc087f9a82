"""uvicorn's HTTP/1.1 on the parser of httptools, with bounds, and without upgrades.

httptools takes a request apart in a fraction of the time of h11, and a server's event loop shares
the interpreter's lock with its engine. But uvicorn bounds nothing with it: a client could send one
header, trailers after a body in chunks, or requests without waiting for answers, until the memory
is full. Trailers become headers; the error about a malformed request stands in the middle of the
answer before it. And where a client offers another protocol, as Java's and curl do for HTTP/2, the
body of the request is left out.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any, Final, Literal

import httptools
from uvicorn._types import ASGI3Application
from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)

HEAD_BYTES: Final = 1 << 14
"""Most bytes of a request's first line, headers and trailers together."""

PIECE_BYTES: Final = 1 << 16
"""Most bytes that the parser takes in without telling anything about them, such as the beginning of
a header."""

MOST_WAITING: Final = 16
"""Most requests of a connection that wait for the answer to an earlier one."""

HEAD_SECONDS: Final = 30.0
"""Most seconds from the first byte of a request to the end of its headers."""

BODY_SECONDS: Final = 60.0
"""Most seconds between two parts of a body."""

MALFORMED: Final = (
    "This is no request of HTTP/1.1, its head is too long, or too many are sent at once."
)

LATE: Final = "The request was begun, and did not go on in time."


class BoundedHttp(HttpToolsProtocol):
    """One connection of a client, for `uvicorn.Config(http=…, ws="none")`. What is no request of
    HTTP/1.0 or 1.1, or exceeds a bound, is answered with 400 in plain text, and one that doesn't go
    on with 408, after the answers to the requests before it; then the connection is closed."""

    parser: httptools.HttpRequestParser
    _head_bytes = 0
    _unparsed_bytes = 0
    """Bytes that have come since the parser last found a part of a request, at most."""
    _has_head = False
    _answered: RequestResponseCycle | None = None
    """The request that the application answers, or has answered last. uvicorn's `cycle` is the last
    one that has come."""
    _refusal = b""
    """The response to what is not answered, once nothing more is read."""
    _state: Literal["idle", "head", "body"] = "idle"
    """What of a request is coming."""
    _came_at = 0.0
    """When the head of the request began, or the last part of its body came."""
    _timer: asyncio.TimerHandle | None = None
    """While the rest of a request is waited for."""

    # What the transport calls ---------------------------------------------------------------------

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        super().connection_made(transport)
        patience = max(self.timeout_keep_alive, HEAD_SECONDS)
        self.timeout_keep_alive_task = self.loop.call_later(
            patience, self.timeout_keep_alive_handler
        )

    def data_received(self, data: bytes) -> None:
        self._unset_keepalive_if_required()
        while data and not self._refusal:
            self._unparsed_bytes += len(data)
            try:
                self.parser.feed_data(data)
            except httptools.HttpParserUpgrade as stop:
                data = self._without_offer(data[stop.args[0] :])
                continue
            except httptools.HttpParserError:
                self._refuse(400, MALFORMED)
            if self._unparsed_bytes > PIECE_BYTES:
                self._refuse(400, MALFORMED)
            break
        if self._state == "body":
            self._came_at = self.loop.time()
        if self._state != "idle" and self._timer is None and not self._refusal:
            self._timer = self.loop.call_later(self._patience, self._look_at_time)

    def connection_lost(self, exc: Exception | None) -> None:
        self._state = "idle"
        self._stop_timer()
        self.pipeline.clear()
        if self._answered is not None:
            _tell_end(self._answered)
        super().connection_lost(exc)

    # What the parser calls ------------------------------------------------------------------------

    def on_message_begin(self) -> None:
        self._head_bytes, self._unparsed_bytes = len("OPTIONS  HTTP/1.1\r\n"), 0
        self._has_head = False
        self._state, self._came_at = "head", self.loop.time()
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._count(len(name) + len(value) + len(": \r\n"))
        if not self._has_head:  # else it is a trailer, which must not count as a header
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Begin the exchange, or have it wait. RFC 9112, section 3.2: a request of HTTP/1.1 names
        one host."""
        self._has_head = True
        self._state = "body"
        version = self.parser.get_http_version()
        hosts = sum(name == b"host" for name, _ in self.headers)
        if version not in ("1.0", "1.1") or hosts > 1 or (not hosts and version == "1.1"):
            raise httptools.HttpParserError("no HTTP/1.1, or not one host")
        if self.parser.should_upgrade():
            if self.parser.get_method() == b"CONNECT":
                raise httptools.HttpParserError("this is no proxy")
            return
        if len(self.pipeline) == MOST_WAITING:
            raise httptools.HttpParserError("too many requests at once")
        super().on_headers_complete()
        if self.pipeline:  # uvicorn stops reading, but then it is not seen that the client leaves
            self.flow.resume_reading()

    def on_body(self, body: bytes) -> None:
        self._unparsed_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._state = "idle"
        self._stop_timer()
        if not self.parser.should_upgrade():
            super().on_message_complete()

    # What uvicorn calls ---------------------------------------------------------------------------

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self._refusal:
            self._send_refusal()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        self._answered = cycle
        if cycle.waiting_for_100_continue or cycle.scope["http_version"] == "1.0":
            app = _answering(cycle, app)
        super()._start_asgi_task(cycle, app)

    def _count(self, nbytes: int) -> None:
        self._unparsed_bytes = 0
        self._head_bytes += nbytes
        if self._head_bytes > HEAD_BYTES:
            raise httptools.HttpParserError("the head of a request is too long")

    @property
    def _patience(self) -> float:
        """Most seconds from `_came_at` until more has to come."""
        return HEAD_SECONDS if self._state == "head" else BODY_SECONDS

    def _look_at_time(self) -> None:
        """Refuse a request whose rest has not come in time. While the application takes in what has
        come, nothing more is read, which is not the client's fault."""
        self._timer = None
        if self._state == "idle":
            return
        now = self.loop.time()
        if self._state == "body" and self.flow.read_paused:
            self._came_at = now
        left = self._came_at + self._patience - now
        if left > 0:
            self._timer = self.loop.call_later(left, self._look_at_time)
        elif self._state == "body" and self.cycle.response_complete:
            self.transport.close()  # it was answered before its body was there
        else:
            self._refuse(408, LATE)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _refuse(self, status: int, message: str) -> None:
        """Read nothing more. The requests that have come as a whole are answered."""
        self._refusal = _plain_response(status, message, self.server_state.default_headers)
        self._stop_timer()
        self.flow.pause_reading()
        last = self.cycle
        if self._answered is not None and last.more_body and not last.response_complete:
            if last is not self._answered:
                self.pipeline.popleft()
            elif last.response_started:
                self.transport.close()
            else:
                _tell_end(last)
                self._close_with_refusal()
        self._send_refusal()

    def _send_refusal(self) -> None:
        """Tell the client why nothing more is read, unless an answer is under way."""
        answers = self._answered is not None and not self._answered.response_complete
        if not answers and not self.transport.is_closing():
            self._unset_keepalive_if_required()
            self._close_with_refusal()

    def _close_with_refusal(self) -> None:
        self.transport.write(self._refusal)
        self.transport.close()

    def _without_offer(self, rest: bytes) -> bytes:
        """Return a request that offers another protocol as if it offered none, to be read once
        more: the parser has stopped after its head. `rest`: what came after that."""
        version = self.parser.get_http_version().encode()
        line = b"%b %b HTTP/%b\r\n" % (self.parser.get_method(), self.url, version)
        headers = [b"%b: %b\r\n" % header for header in self.headers if header[0] != b"upgrade"]
        self.parser = httptools.HttpRequestParser(self)
        self.parser.set_dangerous_leniencies(lenient_data_after_close=True)  # as uvicorn sets it
        return b"".join([line, *headers, b"\r\n", rest])


def _plain_response(status: int, message: str, headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Return a response in plain text, after which the connection is closed."""
    lines = [(b"content-type", b"text/plain; charset=utf-8"),
             (b"content-length", b"%d" % len(message)), (b"connection", b"close")]  # fmt: skip
    head = b"".join(b"%b: %b\r\n" % line for line in (*headers, *lines))
    return STATUS_LINE[status] + head + b"\r\n" + message.encode("ascii")


def _answering(cycle: RequestResponseCycle, app: ASGI3Application) -> ASGI3Application:
    """Return an application that answers a request of HTTP/1.0, or one that waits for the
    permission to send its body, in a way that its client understands."""

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        whole = True

        async def sent(message: Any) -> None:
            nonlocal whole
            if message["type"] == "http.response.start":
                if cycle.waiting_for_100_continue:
                    cycle.keep_alive = False
                names = {name.lower() for name, _ in message.get("headers", ())}
                whole = b"content-length" in names or scope["http_version"] != "1.0"
                if not whole:
                    cycle.chunked_encoding = False  # the end of the connection is that of the body
            elif not whole:
                cycle.expected_content_length = len(message.get("body", b""))
            await send(message)

        await app(scope, receive, sent)

    return answer


def _tell_end(cycle: RequestResponseCycle) -> None:
    """Tell the application that the client gets nothing more of an answer."""
    if not cycle.response_complete:
        cycle.disconnected = True
        cycle.message_event.set()
