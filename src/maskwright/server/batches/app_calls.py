"""Calls the application in this process, as a client would: each request of a batch is a request
like any other, in its answer, in metrics and in traces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import httpx
from starlette.types import ASGIApp, Receive, Scope, Send

from maskwright.server.exchange import OWNER

ADDRESS: Final = "http://127.0.0.1"


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

    async def owned(scope: Scope, receive: Receive, send: Send) -> None:
        await app({**scope, OWNER: owner}, receive, send)

    transport = httpx.ASGITransport(owned)
    async with httpx.AsyncClient(transport=transport, base_url=ADDRESS, timeout=None) as client:
        response = await client.post(path, json=body)
    headers = response.headers
    return AppAnswer(
        response.status_code,
        headers.get("x-request-id"),
        float(headers.get("retry-after", 0)),
        response.json(),
    )
