"""A client of HTTP/1.1 for one worker, with connections that are used again.

It knows what servers of this protocol send: bodies of a given length, in chunks, or up to the end
of the connection. A general client takes a millisecond of processor time for each request, which is
all that the router may add. asyncio's streams wake their reader for each line and each chunk. Here
everything that has come together is taken together, so that a stream costs the router one wake-up
for each message of the worker.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncGenerator, Iterable, Sequence
from typing import Final, TypeAlias, cast
from urllib.parse import urlsplit

from maskwright.errors import InputError, MaskwrightError
from maskwright.immutable import Immutable

BUFFER: Final = 1 << 20
"""Bytes of a response that wait to be taken before the worker is made to wait; the most bytes of a
head."""

HEAD_END: Final = b"\r\n\r\n"


class Connection(asyncio.Protocol):
    """One connection to a worker, which answers one request at a time. Whoever waits for what has
    not come when the connection ends gets EOFError. `used`: it has answered a request."""

    def __init__(self) -> None:
        self.used = False
        self.ended = False
        self._transport: asyncio.Transport | None = None
        self._received = bytearray()
        self._waiter: asyncio.Future[None] | None = None
        self._is_paused = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is no subclass of it

    def data_received(self, data: bytes) -> None:
        self._received += data
        if len(self._received) > BUFFER and self._transport is not None:
            self._transport.pause_reading()
            self._is_paused = True
        self._wake()

    def eof_received(self) -> None:
        self.ended = True
        self._wake()

    def connection_lost(self, exc: Exception | None) -> None:
        self.ended = True
        self._wake()

    @property
    def is_clean(self) -> bool:
        """Whether a request may be sent: the connection is open, and nothing is left of a response
        before."""
        return not self.ended and not self._received

    def write(self, data: bytes) -> None:
        """Send a request, which waits in memory if the worker does not take it yet."""
        assert self._transport is not None
        self._transport.write(data)

    def close(self) -> None:
        """End the connection at once."""
        self.ended = True
        if self._transport is not None:
            self._transport.abort()
        self._wake()

    async def head(self) -> bytes:
        """Take the head of a response, without the empty line after it. Raises EOFError, and
        ValueError if it is too long."""
        while (end := self._received.find(HEAD_END)) < 0:
            if len(self._received) > BUFFER:
                raise ValueError("the head of a response is too long")
            await self._more()
        return self._take(end, len(HEAD_END))

    async def sized(self, size: int) -> AsyncGenerator[bytes]:
        """Take a body of `size` bytes, as it comes. Raises EOFError."""
        while size:
            if not self._received:
                await self._more()
            data = self._take(min(size, len(self._received)))
            size -= len(data)
            yield data

    async def chunked(self) -> AsyncGenerator[bytes]:
        """Take a body that comes in chunks: all whole chunks that have come, joined. Raises
        EOFError and ValueError."""
        is_whole = False
        while not is_whole:
            data, is_whole = self._whole_chunks()
            if data:
                yield data
            elif not is_whole:
                await self._more()

    async def rest(self) -> AsyncGenerator[bytes]:
        """Take a body that ends with the connection, as it comes."""
        while self._received or not self.ended:
            if not self._received:
                try:
                    await self._more()
                except EOFError:
                    return
            yield self._take(len(self._received))

    def _whole_chunks(self) -> tuple[bytes, bool]:
        """Take the chunks that have come as a whole, and whether these are all of the body."""
        received, at, parts, is_whole = self._received, 0, list[bytes](), False
        while (end := received.find(b"\r\n", at)) >= 0:
            size = int(received[at:end].partition(b";")[0], 16)
            if size == 0:
                # An empty line ends the body, at once or after further headers.
                last = received.find(HEAD_END, end)
                is_whole = last >= 0
                at = last + len(HEAD_END) if is_whole else at
                break
            after = end + 2 + size
            if len(received) < after + 2:
                break
            parts.append(bytes(received[end + 2 : after]))
            at = after + 2
        del received[:at]
        return b"".join(parts), is_whole

    def _take(self, size: int, dropped: int = 0) -> bytes:
        data = bytes(self._received[:size])
        del self._received[: size + dropped]
        return data

    async def _more(self) -> None:
        """Wait until something has come. Raises EOFError if nothing will."""
        if self.ended:
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


Headers: TypeAlias = list[tuple[bytes, bytes]]

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

    def __init__(
        self, client: WorkerClient, connection: Connection, status: int, headers: Headers
    ) -> None:
        self._client = client
        self._connection = connection
        self.status = status
        self.headers = headers

    def header(self, name: bytes) -> bytes:
        """Return the value of a header, empty if there is none. `name` is in lower case."""
        return next((value for key, value in self.headers if key == name), b"")

    async def chunks(self) -> AsyncGenerator[bytes]:
        """Yield the body as it comes. Raises WorkerLostError if it ends before its end. If the
        caller stops before, the connection is closed."""
        whole = False
        try:
            if self.status in (204, 304):
                whole = True
                return
            pieces, ends = self._pieces()
            async for data in pieces:
                yield data
            whole = ends
        except (OSError, EOFError, ValueError) as error:
            raise WorkerLostError(f"the connection to a worker ended early: {error}") from None
        finally:
            again = whole and self.header(b"connection").lower() != b"close"
            self._client.give_back(self._connection, again=again)

    def _pieces(self) -> tuple[AsyncGenerator[bytes], bool]:
        """The pieces of the body, and whether its end shows, so that another response may come
        after it. Raises ValueError."""
        if self.header(b"transfer-encoding").lower() == b"chunked":
            return self._connection.chunked(), True
        if length := self.header(b"content-length"):
            return self._connection.sized(int(length)), True
        return self._connection.rest(), False

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
                status, fields = _head(await connection.head())
            except (OSError, EOFError, ValueError) as error:
                self.give_back(connection, again=False)
                if not connection.used:
                    raise WorkerLostError(f"a worker did not answer: {error}") from None
            except BaseException:
                self.give_back(connection, again=False)
                raise
            else:
                connection.used = True
                return WorkerResponse(self, connection, status, fields)

    def give_back(self, connection: Connection, *, again: bool) -> None:
        """Keep a connection for the next request, or close it."""
        self._busy.discard(connection)
        if again and len(self._idle) < MOST_IDLE:
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


def _head(data: bytes) -> tuple[int, Headers]:
    first, *lines = data.split(b"\r\n")
    fields: Headers = []
    for line in lines:
        name, _, value = line.partition(b":")
        fields.append((name.lower(), value.strip()))
    return int(first.split(b" ", 2)[1]), fields


def without(headers: Iterable[tuple[bytes, bytes]], names: Sequence[bytes]) -> Headers:
    """Return the headers except some, given by their names in lower case."""
    return [(name, value) for name, value in headers if name.lower() not in names]
