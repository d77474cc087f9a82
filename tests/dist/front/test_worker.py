"""What the router keeps of what it has sent to a worker, and what it forgets when told to."""

from __future__ import annotations

import asyncio
import time
from types import SimpleNamespace
from typing import Any

import pytest

from maskwright.dist.front.asked import read_asked
from maskwright.dist.front.wire import Address
from maskwright.dist.front.worker import RemoteServer, StoredPrompts
from maskwright.dist.routing.replica_state import CACHED_SECONDS, KV_STORE
from maskwright.dist.routing.router import cached_tokens, stored_tokens


class Answers:
    """Answers every check with a head and a body."""

    def __init__(self, *headers: tuple[bytes, bytes], status: int = 200) -> None:
        self.headers = dict(headers)
        self.status = status

    async def send(self, method: str, path: str, headers: object) -> Any:
        async def body() -> bytes:
            return b'{"data": []}'

        return SimpleNamespace(
            status=self.status, body=body, header=lambda name: self.headers.get(name, b"")
        )


def sent(worker: RemoteServer, letter: str) -> Any:
    """Send a prompt; returns what was routed."""
    body = b'{"prompt": "%s"}' % (letter.encode() * 2000)
    asked = read_asked("/completions", body, "id", ())
    assert asked is not None
    with worker.serving(asked, 0):
        pass
    return asked.route


@pytest.mark.parametrize(
    ("seconds", "kept"), [(None, [True, True]), (b"0.1", [False, True]), (b"9", [True, True]),
                       (b"0", [False, False]), (b"soon", [True, True])]
)  # fmt: skip
def test_prompts_that_may_be_evicted_are_forgotten(
    seconds: bytes | None, kept: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two prompts, one was sent a second ago and one just now."""
    worker = RemoteServer("w0", Address("127.0.0.1", 1))
    head = () if seconds is None else ((CACHED_SECONDS.encode(), seconds),)
    monkeypatch.setattr(worker, "client", Answers(*head))
    asyncio.run(worker.check([]))
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now)
    old = sent(worker, "a")
    monkeypatch.setattr(time, "monotonic", lambda: now + 1)
    new = sent(worker, "b")
    monkeypatch.setattr(time, "monotonic", lambda: now + 1.01)
    asyncio.run(worker.check([]))
    assert [cached_tokens(route, worker.state()) > 0 for route in (old, new)] == kept


def test_workers_with_one_store_fetch_each_others_prompts(monkeypatch: pytest.MonkeyPatch) -> None:
    known = StoredPrompts()
    names = b"s", b"s", b"another", b""
    workers = [RemoteServer(f"w{n}", Address("127.0.0.1", n), stored=known) for n in range(4)]
    for worker, name in zip(workers, names, strict=True):
        monkeypatch.setattr(worker, "client", Answers((KV_STORE.encode(), name)))
        asyncio.run(worker.check([]))
    monkeypatch.setattr(workers[0], "client", Answers(status=503))  # it drains
    asyncio.run(workers[0].check([]))
    route = sent(workers[0], "a")
    counts = [(cached_tokens(route, one.state()), stored_tokens(route, one.state()))
              for one in workers]  # fmt: skip
    most = counts[0][0]
    assert most > 400
    assert counts == [(most, 0), (0, most), (0, 0), (0, 0)]
    monkeypatch.setattr(workers[1], "client", Answers((KV_STORE.encode(), b"s 0.0")))
    asyncio.run(workers[1].check([]))
    assert stored_tokens(route, workers[1].state()) == 0, "all that was stored may be gone"
