"""A client that costs little: sends requests at given times and notes when texts come.

It is run as a process of its own by `benchmarks/server/overhead.py`: a JSON array of pairs (the
second at which a request is sent, its body) comes on standard input, and a `Timing` goes to
standard output as JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Timing:
    """Seconds from the first request to the last answer's end, and for each stream the seconds from
    its request to its first text (none for answers that come whole). `cpu`: seconds of processor
    time that the client took meanwhile."""

    seconds: float
    first: list[float]
    cpu: float = 0.0


async def ask_all(url: str, asked: list[tuple[float, dict[str, Any]]]) -> Timing:
    """Open a connection for each request, and send every request at its second from then on."""
    host, _, port = url.removeprefix("http://").partition(":")
    connections = await asyncio.gather(*(asyncio.open_connection(host, int(port)) for _ in asked))
    started, cpu = time.monotonic(), time.process_time()

    async def ask_later(number: int) -> float | None:
        second, body = asked[number]
        await asyncio.sleep(started + second - time.monotonic())
        return await ask(*connections[number], host, body)

    first = await asyncio.gather(*map(ask_later, range(len(asked))))
    seconds = time.monotonic() - started
    cpu = time.process_time() - cpu
    return Timing(seconds, [one for one in first if one is not None], cpu)


async def ask(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: str, body: dict[str, Any]
) -> float | None:
    """Seconds until the first text of a stream; None for an answer that comes whole."""
    content = json.dumps(body).encode()
    head = (
        f"POST /v1/chat/completions HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
    )
    started, first, read = time.monotonic(), None, b""
    writer.write(head.encode() + content)
    while piece := await reader.read(1 << 16):
        read += piece
        if body["stream"] and first is None and has_text(read):
            first = time.monotonic() - started
        if first is not None:
            read = read[-200:]
    writer.close()
    if body["stream"] and b"[DONE]" not in read:
        raise RuntimeError(f"the stream broke off: {read[-300:]!r}")
    if not body["stream"] and b'"finish_reason"' not in read:
        raise RuntimeError(f"no answer: {read[-300:]!r}")
    return first


def has_text(read: bytes) -> bool:
    """Whether a chunk has text. The first one has the role and an empty text."""
    return read.count(b'"content":"') > read.count(b'"content":""')


def main() -> None:
    asked = json.load(sys.stdin)
    print(json.dumps(asdict(asyncio.run(ask_all(sys.argv[1], asked)))))
