"""Calls the application in this process, as a client would: each request of a batch is a request
like any other, in its answer, in metrics and in traces."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Final

from starlette.types import ASGIApp, Message, Scope

from maskwright.server.exchange import OWNER

CLIENT: Final = ("127.0.0.1", 0)


@dataclass(frozen=True, slots=True)
class AppAnswer:
    """What the application has answered. `retry_after`: seconds, 0 if it named none."""

    status: int
    request_id: str | None
    retry_after: float
    body: object


async def call_app(
    app: ASGIApp, path: str, body: dict[str, object], owner: str | None
) -> AppAnswer:
    """Send a request with a JSON body for the key with the name `owner`, None on a server without
    keys. Cancelling the call cancels the request."""
    content = json.dumps(body).encode()
    scope: Scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": b"",
        "headers": [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(content)).encode()),
        ],
        "client": CLIENT,
        OWNER: owner,
        "server": CLIENT,
    }
    unread: list[Message] = [{"type": "http.request", "body": content, "more_body": False}]
    head: Message = {}
    pieces: list[bytes] = []
    never = asyncio.Event()

    async def receive() -> Message:
        if not unread:
            await never.wait()  # this client doesn't leave
        return unread.pop()

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            head.update(message)
        else:
            pieces.append(message.get("body", b""))

    await app(scope, receive, send)
    headers = {name.decode().lower(): value.decode() for name, value in head["headers"]}
    return AppAnswer(
        head["status"],
        headers.get("x-request-id"),
        float(headers.get("retry-after", 0)),
        json.loads(b"".join(pieces)),
    )
