"""One page asked of all workers, for what the router tells of them together."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from maskwright.dist.front.wire import Headers, WorkerLostError
from maskwright.dist.front.worker import RemoteServer

PAGE_SECONDS: Final = 5.0
"""Seconds after which a worker that has not answered is left out."""

Answer: TypeAlias = tuple[int, Headers, bytes]
"""Status, headers and body of a response."""


@dataclass(slots=True)
class GatheredPages:
    """The pages of the workers that have answered, by their names. `refusal`: a response of a
    worker that answered otherwise, for instance since it needs a key."""

    found: dict[str, bytes] = field(default_factory=dict[str, bytes])
    refusal: Answer | None = None


async def gather_pages(
    workers: Iterable[RemoteServer], target: str, headers: Headers
) -> GatheredPages:
    """Ask all healthy workers for the page `target`, with the headers of a client."""
    asked = [worker for worker in workers if worker.healthy]
    answers = await asyncio.gather(*(_answer(worker, target, headers) for worker in asked))
    pages = GatheredPages()
    for worker, answer in zip(asked, answers, strict=True):
        if answer is not None and answer[0] == 200:
            pages.found[worker.name] = answer[2]
        elif answer is not None:
            pages.refusal = answer
    return pages


async def _answer(worker: RemoteServer, target: str, headers: Headers) -> Answer | None:
    try:
        async with asyncio.timeout(PAGE_SECONDS):
            response = await worker.client.send("GET", target, headers)
            return response.status, response.headers, await response.body()
    except (WorkerLostError, TimeoutError):
        return None
