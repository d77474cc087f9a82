"""A fast server of chat completions in a thread, with faults at random, that counts what it was
asked."""

from __future__ import annotations

import asyncio
import json
import random
import re
import ssl
import threading
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.bounds import PATIENCE

NUMBER = re.compile(r"record (\d+)")
Answer = tuple[int, dict[str, str], Any]
LEAVING_S = 5.0
"""Seconds for which connections may go on after the client."""


def completion(text: str, **choice: Any) -> dict[str, Any]:
    """The body of a chat completion with a text."""
    message = {"role": "assistant", "content": text}
    return {
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop", **choice}],
        "usage": {
            "prompt_tokens": 10,
            "completion_tokens": 4,
            "prompt_tokens_details": {"cached_tokens": 2},
        },
    }


def number_of(body: Any) -> int:
    """The number in a prompt that has "record 12" in it."""
    found = NUMBER.search(json.dumps(body["messages"]))
    assert found is not None
    return int(found[1])


@dataclass
class FakeServer:
    """What the server does and has seen. `answer` gets the body of a request, and how often its
    record was asked about before. `fault`: the share of requests that meet a failure by chance;
    `pause`: seconds before each answer."""

    answer: Callable[[Any, int], Answer] = lambda body, _: (
        200,
        {},
        completion(json.dumps({"number": number_of(body)})),
    )
    fault: float = 0.0
    pause: float = 0.0
    url: str = ""
    asked: Counter[int] = field(default_factory=Counter[int])
    bodies: list[Any] = field(default_factory=list[Any])
    headers: list[str] = field(default_factory=list[str])
    chance: random.Random = field(default_factory=lambda: random.Random(3))

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection."""
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                length = re.search(r"(?i)content-length: (\d+)", head)
                data = await reader.readexactly(int(length[1]) if length else 0)
                if head.startswith("GET"):
                    status, extra, body = 200, {}, {"data": [{"id": "fake"}]}
                else:
                    self.headers.append(head)
                    await asyncio.sleep(self.pause)
                    if self.chance.random() < self.fault and self.chance.random() < 0.5:
                        return  # in the middle of an exchange
                    status, extra, body = self._answer(json.loads(data))
                content = json.dumps(body).encode()
                lines = "".join(f"{name}: {value}\r\n" for name, value in extra.items())
                writer.write(
                    f"HTTP/1.1 {status} X\r\nContent-Length: {len(content)}\r\n"
                    f"Content-Type: application/json\r\n{lines}\r\n".encode()
                    + content
                )
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    def _answer(self, body: Any) -> Answer:
        self.bodies.append(body)
        number = number_of(body)
        before = self.asked[number]
        self.asked[number] += 1
        if self.chance.random() < self.fault:
            return self.chance.choice([500, 429, 503]), {}, {"error": {"message": "by chance"}}
        return self.answer(body, before)


@contextmanager
def fake_server(
    fake: FakeServer, certificate: Path | None = None, key: Path | None = None
) -> Generator[FakeServer]:
    """Run the server on a free loopback port while the block runs, with TLS if it has a
    certificate."""
    tls = None
    if certificate is not None and key is not None:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(certificate, key)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    starting = asyncio.run_coroutine_threadsafe(
        asyncio.start_server(fake.serve, "127.0.0.1", 0, ssl=tls), loop
    )
    server = starting.result(PATIENCE)
    fake.url = f"http{'s' if tls else ''}://127.0.0.1:{server.sockets[0].getsockname()[1]}"

    async def stop() -> None:
        until = loop.time() + LEAVING_S
        # The client has left, so that they end by themselves; what accepts a connection makes the
        # task that serves it. One that is cancelled before it has begun doesn't close its
        # connection, nor does one that begins after its server was closed.
        while tasks := asyncio.all_tasks() - {asyncio.current_task()}:
            if loop.time() > until:
                for task in tasks:
                    task.cancel()
            await asyncio.wait(tasks, timeout=LEAVING_S)
        server.close()

    try:
        yield fake
    finally:
        asyncio.run_coroutine_threadsafe(stop(), loop).result(PATIENCE)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(PATIENCE)
        loop.close()
