"""A connection to a worker: what has come of a response, and the pieces of it.

asyncio's streams wake their reader for each line and each chunk. Here everything that has come
together is taken together, so that a stream costs the router one wake-up for each message of the
worker.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Final, cast

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
