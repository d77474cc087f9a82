"""A server on a free loopback port, in a thread of the test process; and clients that leave."""

from __future__ import annotations

import asyncio
import json
import random
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, cast

import uvicorn
from starlette.applications import Starlette

from maskwright.cli.process.bounded_http import BoundedHttp
from maskwright.server.config import KEEP_ALIVE_SECONDS
from tests.bounds import PATIENCE, wait_until


class _Server(uvicorn.Server):
    """Closes at its end the connections that are still busy. Otherwise the garbage collector meets
    them as unclosed, during any later test."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await super().shutdown(sockets)
        for connection in list(self.server_state.connections):
            cast(asyncio.Transport, connection.transport).abort()
        await asyncio.sleep(0)  # in which they are closed


@contextmanager
def live_server(
    app: Starlette, listening: socket.socket | None = None, keep_alive: float = KEEP_ALIVE_SECONDS
) -> Iterator[str]:
    """The base URL (no path) of `app` while the block runs, at a socket that is bound already or on
    a free port. `keep_alive`: seconds for which a connection without a request is kept open."""
    config = uvicorn.Config(
        app,
        host="127.0.0.1",
        port=0,
        http=BoundedHttp,
        log_level="warning",
        ws="none",
        timeout_graceful_shutdown=5,
        timeout_keep_alive=cast(int, keep_alive),
    )
    server = _Server(config)
    thread = threading.Thread(
        target=server.run, args=(None if listening is None else [listening],), daemon=True
    )
    thread.start()
    wait_until(lambda: server.started or not thread.is_alive())
    assert server.started, "the server did not start"
    host, port = (listening or server.servers[0].sockets[0]).getsockname()[:2]
    try:
        yield f"http://{host}:{port}"
    finally:
        server.should_exit = True
        thread.join(PATIENCE)


def address(url: str) -> tuple[str, int]:
    """Host and port of a server."""
    host, _, port = url.removeprefix("http://").partition(":")
    return host, int(port)


def request_bytes(url: str, body: dict[str, Any]) -> bytes:
    """A request for a completion, as it is sent."""
    content = json.dumps(body).encode()
    head = (
        f"POST /v1/chat/completions HTTP/1.1\r\nHost: {address(url)[0]}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
    )
    return head.encode() + content


def ask_and_leave(url: str, body: dict[str, Any], when: Callable[[], object]) -> None:
    """Send `body`, and close the connection once `when()` is true."""
    with socket.create_connection(address(url)) as client:
        client.sendall(request_bytes(url, body))
        wait_until(when)


def leave_midway(url: str, bodies: list[dict[str, Any]], *, longest: float, seed: int) -> None:
    """Send every body on a connection of its own, and close each after a random time: at once,
    before the answer begins, or in its middle."""
    asyncio.run(_leave_all(url, bodies, longest, random.Random(seed)))


async def _leave_all(
    url: str, bodies: list[dict[str, Any]], longest: float, draw: random.Random
) -> None:
    await asyncio.gather(*(_leave(url, body, draw.uniform(0, longest)) for body in bodies))


async def _leave(url: str, body: dict[str, Any], seconds: float) -> None:
    reader, writer = await asyncio.open_connection(*address(url))
    writer.write(request_bytes(url, body))
    await writer.drain()
    with suppress(TimeoutError):
        await asyncio.wait_for(reader.read(-1), seconds)
    writer.transport.abort()
