"""The HTTP/1.1 of the router's clients: plain requests are read here, all others by uvicorn.

Plain is what clients of an API send: GET or POST, a head of a strict form, and a body of a known
length. Whatever else comes on a connection, such as a body in chunks, a request to close the
connection or to change the protocol, another version or a malformed head, makes uvicorn's own
protocol take the connection over from the beginning of that request. Its parser, h11, takes about
a third of the processor time that the router has for a request.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, Final, cast
from urllib.parse import unquote

import uvicorn
from starlette.types import ASGIApp, Message, Scope
from uvicorn.protocols.http.auto import AutoHTTPProtocol
from uvicorn.server import ServerState

PLAIN: Final = re.compile(
    rb"(GET|POST) (/[!-~]*) HTTP/1\.1\r\n"
    rb"((?:[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[ -~\t\x80-\xff]*\r\n)+)\r\n"
)
"""The head of a plain request: method, target and lines of headers."""

BEGINNINGS: Final = (b"GET /", b"POST /")
"""What a plain request begins with."""

HEAD_END: Final = re.compile(rb"\n\r?\n")
"""The end of a head, also of one that is not plain because its lines end without CR."""

UNUSUAL: Final = frozenset({b"transfer-encoding", b"expect", b"upgrade"})

HEAD_BYTES: Final = 1 << 14
"""Most bytes of the head of a plain request."""

BODY_BYTES: Final = 1 << 20
"""Most bytes of the body of a plain request, which is read as a whole before the application sees
it."""

HEAD_SECONDS: Final = 0.002
"""How long the head of a stream waits for the first piece, to be sent with it: servers begin a
stream with an event that says who speaks."""

REASONS: Final = {status.value: status.phrase.encode() for status in HTTPStatus}

log = logging.getLogger(__name__)


class PlainHttp(asyncio.Protocol):
    """One connection of a client, for `uvicorn.Config(http=…)`."""

    def __init__(
        self,
        config: uvicorn.Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        self._config = config
        self._state = server_state
        self._app_state = app_state
        self._app = cast(ASGIApp, config.loaded_app)
        self._loop = _loop or asyncio.get_running_loop()
        self._transport = cast(asyncio.Transport, None)
        self._received = bytearray()
        self._needed = 0
        """Bytes of the first request of what has come, once its head is there."""
        self._exchange: PlainExchange | None = None
        self._keeps = True
        self._timer: asyncio.TimerHandle | None = None
        self.writable: asyncio.Future[None] | None = None
        """What is done when the client takes more of a response; None while it does."""

    # What the transport calls ---------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is no subclass of it
        self._state.connections.add(cast(Any, self))

    def connection_lost(self, exc: Exception | None) -> None:
        self._state.connections.discard(cast(Any, self))
        self._stop_timer()
        if self._exchange is not None:
            self._exchange.leave()
        self.resume_writing()

    def data_received(self, data: bytes) -> None:
        self._stop_timer()
        self._received += data
        if self._exchange is None:
            if len(self._received) >= self._needed:
                self._begin()
        elif len(self._received) > HEAD_BYTES:  # requests that don't wait for their answers
            self._transport.pause_reading()

    def pause_writing(self) -> None:
        self.writable = self._loop.create_future()

    def resume_writing(self) -> None:
        if self.writable is not None and not self.writable.done():
            self.writable.set_result(None)
        self.writable = None

    # What the server calls ------------------------------------------------------------------------

    def shutdown(self) -> None:
        """Close the connection, after the response that it is in."""
        self._keeps = False
        if self._exchange is None:
            self._transport.close()

    # Requests -------------------------------------------------------------------------------------

    def _begin(self) -> None:
        """Have the application answer the first request of what has come, if it is there."""
        head_end = HEAD_END.search(self._received, 0, HEAD_BYTES)
        if head_end is None:
            if len(self._received) >= HEAD_BYTES or not may_be_plain(self._received):
                self._hand_over()
            return
        end = head_end.end()
        found = plain_head(bytes(self._received[:end]))
        if found is None:
            self._hand_over()
            return
        scope, length = found
        self._needed = end + length
        if len(self._received) < self._needed:
            return
        self._stop_timer()  # if the request came before the response to the one before it
        body = bytes(self._received[end : self._needed])
        del self._received[: self._needed]
        self._needed = 0
        scope["server"] = self._transport.get_extra_info("sockname")
        scope["client"] = self._transport.get_extra_info("peername")
        scope["state"] = self._app_state.copy()
        self._exchange = exchange = PlainExchange(self, self._transport, scope, body, self._done)
        task = self._loop.create_task(exchange.run(self._app))
        self._state.tasks.add(task)
        task.add_done_callback(self._state.tasks.discard)

    def _done(self) -> None:
        """Go on after a whole response."""
        self._exchange = None
        self._state.total_requests += 1
        if self._transport.is_closing():
            return
        if not self._keeps:
            self._transport.close()
            return
        self._timer = self._loop.call_later(self._config.timeout_keep_alive, self._transport.close)
        if self._received:
            self._transport.resume_reading()
            self._begin()

    def _hand_over(self) -> None:
        """Let uvicorn's protocol read what has come, and all that will."""
        self._state.connections.discard(cast(Any, self))
        self._stop_timer()
        protocol = cast(Any, AutoHTTPProtocol)(
            config=self._config,
            server_state=self._state,
            app_state=self._app_state,
            _loop=self._loop,
        )
        self._transport.set_protocol(protocol)
        protocol.connection_made(self._transport)
        if self.writable is not None:  # the transport tells each pause once
            protocol.pause_writing()
        protocol.data_received(bytes(self._received))

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def may_be_plain(received: bytearray) -> bool:
    """Whether a plain request may begin with `received`, which has no whole head."""
    return any(begin.startswith(received[: len(begin)]) for begin in BEGINNINGS)


def plain_head(head: bytes) -> tuple[dict[str, Any], int] | None:
    """Read the head of a request, the empty line at its end included: the scope of ASGI without the
    addresses, and the length of the body. None if it is not plain."""
    match = PLAIN.fullmatch(head)
    if match is None:
        return None
    method, target, lines = match.groups()
    headers: list[tuple[bytes, bytes]] = []
    length, hosts = None, 0
    for line in lines.split(b"\r\n")[:-1]:
        name, _, value = line.partition(b":")
        name, value = name.lower(), value.strip(b" \t")
        headers.append((name, value))
        if name in UNUSUAL or (name == b"connection" and value.lower() != b"keep-alive"):
            return None
        if name == b"host":
            hosts += 1
        elif name == b"content-length":
            if length is not None or not (value.isdigit() and len(value) < 8):
                return None
            length = int(value)
    if hosts != 1 or (length is None and method == b"POST") or (length or 0) > BODY_BYTES:
        return None
    raw_path, _, query = target.partition(b"?")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "scheme": "http",
        "method": method.decode(),
        "root_path": "",
        "path": unquote(raw_path.decode()),
        "raw_path": raw_path,
        "query_string": query,
        "headers": headers,
    }
    return scope, length or 0


class PlainExchange:
    """One plain request and its response."""

    def __init__(
        self,
        connection: PlainHttp,
        transport: asyncio.Transport,
        scope: Scope,
        body: bytes,
        done: Callable[[], None],
    ) -> None:
        """`done`: called when the response is complete."""
        self._connection = connection
        self._transport = transport
        self._scope = scope
        self._body: bytes | None = body
        self._on_done = done
        self._head = b""
        """The head of a response that has not been sent yet."""
        self._is_begun = False
        self._is_chunked = False
        self._is_done = False
        self._is_left = False
        self._ended: asyncio.Future[None] | None = None

    def leave(self) -> None:
        """Note that the client has disconnected."""
        self._is_left = True
        self._tell_end()

    async def run(self, app: ASGIApp) -> None:
        """Have the application answer."""
        try:
            await app(self._scope, self.receive, self.send)
        except Exception:
            log.exception("a request failed")
        if self._is_done or self._is_left:
            return
        if self._is_begun and not self._head:
            self._transport.close()
            return
        head = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", b"21")]
        await self.send({"type": "http.response.start", "status": 500, "headers": head})
        await self.send({"type": "http.response.body", "body": b"Internal Server Error"})

    async def receive(self) -> Message:
        """Return the body, and after it the end of the exchange, when it comes."""
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        if not (self._is_left or self._is_done):
            self._ended = asyncio.get_running_loop().create_future()
            await self._ended
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        """Send a part of the response. Waits while the client takes none."""
        if self._connection.writable is not None:
            await asyncio.shield(self._connection.writable)
        if self._is_left or self._is_done:
            return
        if message["type"] == "http.response.start":
            self._begin(message["status"], message["headers"])
            return
        data, is_last = message.get("body", b""), not message.get("more_body", False)
        if self._is_chunked:
            data = b"%x\r\n%b\r\n" % (len(data), data) if data else b""
            data += b"0\r\n\r\n" if is_last else b""
        self._transport.write(self._head + data)
        self._head = b""
        if is_last:
            self._is_done = True
            self._tell_end()
            self._on_done()

    def _begin(self, status: int, headers: list[tuple[bytes, bytes]]) -> None:
        self._is_begun = True
        is_sized = status in (204, 304) or any(name == b"content-length" for name, _ in headers)
        self._is_chunked = not is_sized
        lines = [b"HTTP/1.1 %d %b" % (status, REASONS.get(status, b""))]
        lines += [name + b": " + value for name, value in headers]
        if not is_sized:
            lines.append(b"transfer-encoding: chunked")
        self._head = b"\r\n".join([*lines, b"", b""])
        if not is_sized:
            asyncio.get_running_loop().call_later(HEAD_SECONDS, self._send_head)

    def _send_head(self) -> None:
        if self._head and not self._is_left:
            self._transport.write(self._head)
            self._head = b""

    def _tell_end(self) -> None:
        if self._ended is not None and not self._ended.done():
            self._ended.set_result(None)
