"""Clients that send each request at its time, however many are still unanswered."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import httpx

from maskwright.cli.load.traffic import SHAPES, Cell
from maskwright.cli.process.reaching import ClientArguments

End: TypeAlias = Literal["answered", "refused", "failed", "unfinished"]
"""`refused`: answered with status 429. `unfinished`: still being answered when the time was up."""


@dataclass(slots=True)
class Outcome:
    """One request and its answer. Times are seconds.

    `ttft` counts from the moment at which the request was due, so that a client that sends late
    doesn't hide time from the measurement. `gaps` are the times between two pieces of text.
    `retry_after` is what a refusal said. `valid`: the answer has the shape that was asked for.
    """

    cell: Cell
    end: End = "unfinished"
    reason: str = ""
    ttft: float | None = None
    seconds: float | None = None
    gaps: list[float] = field(default_factory=list[float])
    tokens: int = 0
    prompt_tokens: int = 0
    retry_after: float | None = None
    valid: bool = False

    @property
    def tpot(self) -> float | None:
        """Mean time of a token after the first piece of text, in seconds."""
        if self.ttft is None or self.seconds is None or self.tokens < 2:
            return None
        return (self.seconds - self.ttft) / (self.tokens - 1)


async def offer(
    url: str,
    load: Sequence[tuple[float, Cell]],
    drain: float,
    seed: int,
    connection: ClientArguments,
) -> list[Outcome]:
    """Send every request at its time; after the last, wait up to `drain` seconds for answers.
    `connection`: how the server is asked."""
    outcomes = [Outcome(cell) for _, cell in load]
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=64)
    timeout = httpx.Timeout(None, connect=10.0)
    async with httpx.AsyncClient(
        base_url=url, limits=limits, timeout=timeout, **connection
    ) as client:
        begin = time.monotonic()
        tasks = [
            asyncio.create_task(_ask(client, outcome, begin + at, seed + number))
            for number, ((at, _), outcome) in enumerate(zip(load, outcomes, strict=True))
        ]
        _, late = await asyncio.wait(tasks, timeout=load[-1][0] + drain)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)
    return outcomes


async def _ask(client: httpx.AsyncClient, outcome: Outcome, due: float, seed: int) -> None:
    await asyncio.sleep(max(0.0, due - time.monotonic()))
    body = outcome.cell.body(seed)
    try:
        async with client.stream("POST", "/v1/chat/completions", json=body) as response:
            if response.status_code != 200:
                await response.aread()
                _refused(outcome, response)
                return
            await _read(outcome, response, due)
    except httpx.HTTPError as error:
        outcome.end, outcome.reason = "failed", type(error).__name__


def _refused(outcome: Outcome, response: httpx.Response) -> None:
    outcome.end = "refused" if response.status_code == 429 else "failed"
    outcome.reason = f"{response.status_code} {response.text[:300]}"
    if "retry-after" in response.headers:
        outcome.retry_after = float(response.headers["retry-after"])


async def _read(outcome: Outcome, response: httpx.Response, due: float) -> None:
    text, last, finish = "", 0.0, None
    async for line in response.aiter_lines():
        if not line.startswith("data: ") or line == "data: [DONE]":
            continue
        event: dict[str, Any] = json.loads(line.removeprefix("data: "))
        if "error" in event:
            outcome.end, outcome.reason = "failed", json.dumps(event["error"])[:300]
            return
        for choice in event.get("choices", ()):
            finish = choice.get("finish_reason") or finish
            piece = choice["delta"].get("content")
            if piece:
                now = time.monotonic() - due
                if outcome.ttft is None:
                    outcome.ttft = now
                else:
                    outcome.gaps.append(now - last)
                text, last = text + piece, now
        if event.get("usage"):
            outcome.tokens = event["usage"]["completion_tokens"]
            outcome.prompt_tokens = event["usage"]["prompt_tokens"]
    outcome.seconds = time.monotonic() - due if outcome.ttft is None else last
    if finish is None:
        outcome.end, outcome.reason = "failed", "the stream ended early"
    else:
        outcome.end, outcome.valid = "answered", SHAPES[outcome.cell.shape].holds(text)
