"""A client of HTTP/1.1 for one worker, with connections that are used again.

httptools takes the responses apart. A general client takes a millisecond of processor time for each
request, which is all that the router may add. asyncio's streams wake their reader for each line and
each chunk. Here everything that has come together is taken together, so that a stream costs the
router one wake-up for each message of the worker.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncGenerator, Iterable, Sequence
from typing import Final, TypeAlias, cast
from urllib.parse import urlsplit

import httptools

from maskwright.errors import InputError, MaskwrightError
from maskwright.immutable import Immutable

BUFFER: Final = 1 << 20
"""Bytes of a response that wait to be taken before the worker is made to wait; the most bytes of a
head."""

Headers: TypeAlias = list[tuple[bytes, bytes]]


class Connection(asyncio.Protocol):
    """One connection to a worker, which answers one request at a time. Whoever waits for what has
    not come when the connection ends gets EOFError, and ValueError for what is no response. `used`:
    it has answered a request. `is_clean`: a request may be sent, because the connection is open,
    and nothing has come but the response to the one before, to its end."""

    def __init__(self) -> None:
        self.used = False
        self.is_clean = True
        self.status = 0
        self.headers: Headers = []
        self._parser = httptools.HttpResponseParser(self)
        self._transport: asyncio.Transport | None = None
        self._has_head = False
        self._has_end = False
        self._is_open = True
        self._fault = ""
        self._parts: list[bytes] = []
        self._size = 0
        """Bytes of the head, and then of the parts of the body, that wait to be taken."""
        self._waiter: asyncio.Future[None] | None = None
        self._is_paused = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is no subclass of it

    def data_received(self, data: bytes) -> None:
        if not self._has_head:
            self._size += len(data)
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            self._fault = str(error)
        if not self._has_head and self._size > BUFFER:
            self._fault = "the head of a response is too long"
        if self._size > BUFFER and self._transport is not None:
            self._transport.pause_reading()
            self._is_paused = True
        self._wake()

    def on_message_begin(self) -> None:
        if self.is_clean or self._has_end:  # nothing was asked
            self._fault, self.is_clean = "a response comes without a request", False

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self._has_head:  # what comes after a body is left out
            self.headers.append((name.lower(), value.strip()))

    def on_headers_complete(self) -> None:
        self.status = self._parser.get_status_code()
        self._has_head, self._size = True, 0

    def on_body(self, body: bytes) -> None:
        self._parts.append(body)
        self._size += len(body)

    def on_message_complete(self) -> None:
        self._has_end = True

    def eof_received(self) -> None:
        self.connection_lost(None)

    def connection_lost(self, exc: Exception | None) -> None:
        self._is_open = self.is_clean = False
        self._wake()

    def write(self, data: bytes) -> None:
        """Send a request, which waits in memory if the worker does not take it yet."""
        assert self._transport is not None
        self.begin()
        self._transport.write(data)

    def begin(self) -> None:
        """Expect the response to a request."""
        self.headers, self._size = [], 0
        self.is_clean = self._has_head = self._has_end = False

    def close(self) -> None:
        """End the connection at once."""
        if self._transport is not None:
            self._transport.abort()
        self.connection_lost(None)

    async def head(self) -> None:
        """Wait until `status` and `headers` have come. Raises EOFError and ValueError."""
        while not self._has_head:
            await self._more()

    async def body(self) -> AsyncGenerator[bytes]:
        """Take the body, as it comes. Raises EOFError and ValueError."""
        while not self._has_end or self._parts:
            if self._parts:
                data, self._parts, self._size = b"".join(self._parts), [], 0
                yield data
            elif not self._is_open and not self._fault and self._ends_with_connection:
                return
            else:
                await self._more()
        self.is_clean = self._is_open and not self._fault

    @property
    def _ends_with_connection(self) -> bool:
        return not any(
            name in (b"content-length", b"transfer-encoding") for name, _ in self.headers
        )

    async def _more(self) -> None:
        """Wait until something has come. Raises EOFError if nothing will."""
        if self._fault:
            raise ValueError(self._fault)
        if not self._is_open:
            raise EOFError("it was closed")
        if self._is_paused and self._transport is not None:
            self._transport.resume_reading()
            self._is_paused = False
        self._waiter = asyncio.get_running_loop().create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


CONNECT_SECONDS: Final = 5.0
MOST_IDLE: Final = 64
"""Most idle connections to a worker that are kept."""


class WorkerLostError(MaskwrightError):
    """The connection to a worker could not be made, or ended before the response did."""


class Address(Immutable):
    """Where a worker listens. `prefix`: the path before the paths of its endpoints."""

    host: str
    port: int
    tls: bool = False
    prefix: str = ""

    @property
    def url(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http{'s' if self.tls else ''}://{host}:{self.port}{self.prefix}"

    @classmethod
    def parse(cls, url: str) -> Address:
        """Read `http://host:port` or `https://host:port`. Raises InputError."""
        parts = urlsplit(url if "//" in url else f"http://{url}")
        try:
            port = parts.port
        except ValueError:
            port = -1
        if parts.scheme not in ("http", "https") or not parts.hostname or port == -1:
            raise InputError(
                f"--worker {url}: an address such as http://127.0.0.1:8001 is needed",
                param="worker",
            )
        tls = parts.scheme == "https"
        prefix = parts.path.rstrip("/").removesuffix("/v1")
        return cls(parts.hostname, port or (443 if tls else 80), tls, prefix)


class WorkerResponse:
    """The response of a worker, whose body is still to be read."""

    def __init__(self, client: WorkerClient, connection: Connection) -> None:
        self._client = client
        self._connection = connection
        self.status = connection.status
        self.headers = connection.headers

    def header(self, name: bytes) -> bytes:
        """Return the value of a header, empty if there is none. `name` is in lower case."""
        return next((value for key, value in self.headers if key == name), b"")

    async def chunks(self) -> AsyncGenerator[bytes]:
        """Yield the body as it comes. Raises WorkerLostError if it ends before its end. If the
        caller stops before, the connection is closed."""
        try:
            async for data in self._connection.body():
                yield data
        except (OSError, EOFError, ValueError) as error:
            raise WorkerLostError(f"the connection to a worker ended early: {error}") from None
        finally:
            again = self.header(b"connection").lower() != b"close"
            self._client.give_back(self._connection, again=again)

    async def body(self) -> bytes:
        """Return the whole body. Raises WorkerLostError."""
        return b"".join([data async for data in self.chunks()])


class WorkerClient:
    """Sends requests to one worker. To be used from one event loop."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self._tls = ssl.create_default_context() if address.tls else None
        self._host = f"host: {address.host}:{address.port}".encode()
        self._idle: list[Connection] = []
        self._busy: set[Connection] = set()

    async def send(
        self, method: str, path: str, headers: Iterable[tuple[bytes, bytes]], body: bytes = b""
    ) -> WorkerResponse:
        """Send a request, and return the response when its head has come. An idle connection that
        the worker has closed meanwhile is replaced. Raises WorkerLostError."""
        data = self._request(method, path, headers, body)
        while True:
            connection = await self._connection()
            try:
                connection.write(data)
                await connection.head()
            except (OSError, EOFError, ValueError) as error:
                self.give_back(connection, again=False)
                if not connection.used:
                    raise WorkerLostError(f"a worker did not answer: {error}") from None
            except BaseException:
                self.give_back(connection, again=False)
                raise
            else:
                connection.used = True
                return WorkerResponse(self, connection)

    def give_back(self, connection: Connection, *, again: bool) -> None:
        """Keep a connection for the next request, or close it."""
        self._busy.discard(connection)
        if again and connection.is_clean and len(self._idle) < MOST_IDLE:
            self._idle.append(connection)
        else:
            connection.close()

    def abort(self) -> None:
        """End all connections; whoever reads from one gets WorkerLostError."""
        for connection in (*self._idle, *self._busy):
            connection.close()
        self._idle.clear()

    async def _connection(self) -> Connection:
        while self._idle:
            connection = self._idle.pop()
            if connection.is_clean:
                self._busy.add(connection)
                return connection
            connection.close()
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                _, connection = await asyncio.get_running_loop().create_connection(
                    Connection, self.address.host, self.address.port, ssl=self._tls
                )
        except (OSError, TimeoutError) as error:
            raise WorkerLostError(f"a worker can't be reached: {error}") from None
        self._busy.add(connection)
        return connection

    def _request(
        self, method: str, path: str, headers: Iterable[tuple[bytes, bytes]], body: bytes
    ) -> bytes:
        lines = [f"{method} {self.address.prefix}{path} HTTP/1.1".encode(), self._host]
        lines += [name + b": " + value for name, value in headers]
        if body or method == "POST":
            lines.append(b"content-length: %d" % len(body))
        return b"\r\n".join([*lines, b"", body])


def without(headers: Iterable[tuple[bytes, bytes]], names: Sequence[bytes]) -> Headers:
    """Return the headers except some, given by their names in lower case."""
    return [(name, value) for name, value in headers if name.lower() not in names]
