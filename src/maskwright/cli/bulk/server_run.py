"""A run against a server: its connections, and the name of its model."""

from __future__ import annotations

import ssl
from dataclasses import dataclass

import httpx

from maskwright.cli.bulk.progress_bar import note
from maskwright.cli.bulk.run import BatchRun
from maskwright.cli.bulk.sender import Sender


@dataclass(frozen=True, slots=True)
class Sending:
    """How requests are sent. `concurrency`: how many at a time. `retries`: how often one is sent
    again. `timeout`: seconds to wait for an answer. `api_key`: for the server, if it needs one.
    `verify`: which certificates are trusted, as httpx takes it."""

    concurrency: int
    retries: int
    timeout: float
    api_key: str | None = None
    verify: ssl.SSLContext | bool = True


async def ask_server(run: BatchRun, sending: Sending, url: str) -> int:
    """Ask a server for all that is left of a run; returns how often requests were sent again.
    `url`: with or without `/v1`."""
    headers = {} if sending.api_key is None else {"Authorization": f"Bearer {sending.api_key}"}
    limits = httpx.Limits(max_connections=sending.concurrency)
    timeout = httpx.Timeout(sending.timeout, connect=10.0)
    base = url.rstrip("/").removesuffix("/v1")
    async with httpx.AsyncClient(
        base_url=base, headers=headers, limits=limits, timeout=timeout, verify=sending.verify
    ) as client:
        sender = Sender(client, retries=sending.retries, tell=note)
        await sender.find_model()
        await run.ask_all(sender, sending.concurrency)
        return sender.sent_again
