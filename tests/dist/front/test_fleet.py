"""One page asked of all workers: who is left out, and what is kept of a refusal."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest

from maskwright.dist.front import fleet
from maskwright.dist.front.fleet import gather_pages
from maskwright.dist.front.wire import WorkerLostError


@dataclass
class Page:
    """A worker that answers one page, and its response; it is its own client."""

    name: str
    status: int = 200
    healthy: bool = True
    lost: bool = False
    seconds: float = 0.0
    asked: Any = None

    @property
    def client(self) -> Page:
        return self

    @property
    def headers(self) -> list[tuple[bytes, bytes]]:
        return [(b"x-name", self.name.encode())]

    async def send(self, method: str, target: str, headers: Any) -> Page:
        self.asked = method, target, headers
        await asyncio.sleep(self.seconds)
        if self.lost:
            raise WorkerLostError("gone")
        return self

    async def body(self) -> bytes:
        return self.name.encode()


def test_only_those_that_answer_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fleet, "PAGE_SECONDS", 0.05)
    workers: Any = [
        Page("a"),
        Page("b", healthy=False),
        Page("c", lost=True),
        Page("d", seconds=60.0),
        Page("e", status=401),
        Page("f"),
    ]
    found, refusal = asyncio.run(gather_pages(workers, "/metrics", [(b"k", b"v")]))
    assert found == {"a": b"a", "f": b"f"}
    assert refusal == (401, [(b"x-name", b"e")], b"e")
    assert workers[0].asked == ("GET", "/metrics", [(b"k", b"v")])
    assert workers[1].asked is None
