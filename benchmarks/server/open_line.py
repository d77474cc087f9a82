"""A client with one connection that stays open, whose times vary as little as can be."""

from __future__ import annotations

import json
import socket
import time
from dataclasses import dataclass
from typing import Any

from benchmarks.server.load_client import has_text


@dataclass(frozen=True)
class Timed:
    """Seconds from sending a request to its first text (of a stream; else to its end), and to its
    end."""

    first: float
    whole: float


class OpenLine:
    """A connection to one server, which answers one request at a time."""

    def __init__(self, url: str) -> None:
        host, _, port = url.removeprefix("http://").partition(":")
        self._host = host
        self._socket = socket.create_connection((host, int(port)))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self, body: dict[str, Any]) -> Timed:
        """Ask for an answer. Raises RuntimeError if there is none."""
        content = json.dumps(body).encode()
        head = (
            f"POST /v1/chat/completions HTTP/1.1\r\nHost: {self._host}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
        )
        request, read, first = head.encode() + content, b"", None
        began = time.perf_counter()
        self._socket.sendall(request)
        while not _complete(read, streamed=body["stream"]):
            piece = self._socket.recv(1 << 16)
            if not piece:
                raise RuntimeError(f"the connection ended after {read[-300:]!r}")
            read += piece
            if first is None and body["stream"] and has_text(read):
                first = time.perf_counter() - began
        whole = time.perf_counter() - began
        if not read.startswith(b"HTTP/1.1 200 "):
            raise RuntimeError(f"no answer: {read[:600]!r}")
        return Timed(whole if first is None else first, whole)


def _complete(read: bytes, *, streamed: bool) -> bool:
    """Whether a whole response has come: a stream in chunks, or a body of a given length."""
    head, end, body = read.partition(b"\r\n\r\n")
    if not end:
        return False
    fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
    if streamed and b"transfer-encoding" in fields:
        return body.endswith(b"0\r\n\r\n")
    return len(body) >= int(fields[b"content-length"])
