from __future__ import annotations

import asyncio
import json
import logging
import socket
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import httpx
import pytest

from maskwright.server import ServerConfig, create_app
from maskwright.server.exchange import Exchange
from maskwright.server.middleware import Observer
from maskwright.server.route import ClientGoneError, until_disconnect
from tests.bounds import PATIENCE, wait_until
from tests.live_server import address, ask_and_leave, leave_midway, live_server
from tests.server.scripted import HELLO, Script, ScriptedEngine

ENDLESS = Script(texts=["word "] * 1_000_000, pause=0.005)  # longer than any patience
SILENT = Script(texts=["never"], pause=1000)


@pytest.mark.parametrize("script", [ENDLESS, SILENT], ids=["talking", "silent"])
def test_64_clients_that_leave_at_random_moments_leave_nothing_behind(
    engine: ScriptedEngine, script: Script
) -> None:
    engine.script = script
    bodies: list[dict[str, Any]] = [
        {**HELLO, "stream": number % 2 == 0, "n": 1 + number % 3} for number in range(64)
    ]
    with live_server(create_app(cast(Any, engine))) as url:
        ask_and_leave(url, HELLO, lambda: engine.running)
        leave_midway(url, bodies, longest=0.5, seed=1)
        wait_until(lambda: not engine.running)
        engine.script = Script()
        answer = httpx.post(f"{url}/v1/chat/completions", json=HELLO, timeout=PATIENCE)
        assert answer.json()["choices"][0]["message"]["content"] == "Hello"


def test_a_client_that_stays_is_not_cut_off(engine: ScriptedEngine) -> None:
    engine.script = Script(texts=["a"] * 50, pause=0.002)
    with live_server(create_app(cast(Any, engine))) as url:
        leave_midway(url, [HELLO] * 8, longest=0.05, seed=2)
        for stream in (False, True):
            answer = httpx.post(
                f"{url}/v1/chat/completions", json={**HELLO, "stream": stream}, timeout=PATIENCE
            )
            assert answer.text.count('"a"') + answer.text.count("a" * 50) in (1, 50)


def answers(*kinds: str) -> Callable[[], Awaitable[dict[str, str]]]:
    """A `receive` that returns messages of these types, and then nothing more."""
    left = list(kinds)

    async def receive() -> dict[str, str]:
        if not left:
            await asyncio.Event().wait()
        return {"type": left.pop(0)}

    return receive


def test_work_that_ends_first_gives_its_result() -> None:
    async def work() -> int:
        await asyncio.sleep(0.001)
        return 3

    async def run() -> None:
        assert await until_disconnect(cast(Any, answers("http.request")), work()) == 3
        assert len(asyncio.all_tasks()) <= 2  # a watch that is being cancelled
        await asyncio.sleep(0)
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(run())


def test_a_disconnect_cancels_the_work_and_nothing_else() -> None:
    ended: list[str] = []

    async def work() -> None:
        try:
            await asyncio.sleep(PATIENCE)
        finally:
            ended.append("work")

    async def run() -> None:
        with pytest.raises(ClientGoneError):
            await until_disconnect(cast(Any, answers("http.request", "http.disconnect")), work())
        task = asyncio.current_task()
        assert task is not None
        assert not task.cancelling()
        await asyncio.sleep(0.001)  # which would raise if the task were still to be cancelled

    asyncio.run(run())
    assert ended == ["work"]


def test_work_that_ends_in_spite_of_a_disconnect_has_no_result() -> None:
    async def work() -> int:
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(PATIENCE)
        return 3

    async def run() -> None:
        with pytest.raises(ClientGoneError):
            await until_disconnect(cast(Any, answers("http.disconnect")), work())
        await asyncio.sleep(0.001)

    asyncio.run(run())


def test_a_timeout_within_the_work_is_no_disconnect() -> None:
    async def work() -> None:
        async with asyncio.timeout(0.001):
            await asyncio.sleep(PATIENCE)

    async def run() -> None:
        with pytest.raises(TimeoutError):
            await until_disconnect(cast(Any, answers()), work())

    asyncio.run(run())


def test_a_task_that_is_cancelled_stays_cancelled() -> None:
    """By a server that is being stopped, also if the client leaves at that moment."""

    async def run() -> None:
        for receive in (answers(), answers("http.request", "http.disconnect")):
            task = asyncio.ensure_future(
                until_disconnect(cast(Any, receive), asyncio.sleep(PATIENCE))
            )
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(run())


BODY = json.dumps(HELLO).encode()
LEFT: dict[str, tuple[str, bytes]] = {
    # the rest of the head, and the part of the body that comes
    "chat": ("/v1/chat/completions", BODY[:-1]),
    "nothing of it": ("/v1/completions", b""),
    "response": ("/v1/responses", BODY[:5]),
    "tokens": ("/tokenize", BODY[:5]),
    "shape": ("/v1/check", BODY[:5]),
    "file": ("/v1/files", b"--b\r\n"),
}


@pytest.mark.parametrize("name", LEFT)
def test_a_client_that_leaves_while_its_body_is_on_the_way_is_gone(
    engine: ScriptedEngine,
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """And is no defect of the server."""
    ended: list[Exchange] = []
    monkeypatch.setattr(Observer, "ended", lambda _, exchange: ended.append(exchange))
    path, part = LEFT[name]
    kind = "multipart/form-data; boundary=b" if name == "file" else "application/json"
    head = (
        f"POST {path} HTTP/1.1\r\nHost: h\r\nContent-Type: {kind}\r\n"
        f"Content-Length: {len(BODY) + 100}\r\n\r\n"
    )
    config = ServerConfig(batch_folder=tmp_path / "batches")
    with live_server(create_app(cast(Any, engine), config)) as url:
        with socket.create_connection(address(url)) as client:
            client.sendall(head.encode() + part)
            time.sleep(0.05)
        wait_until(lambda: ended)
    [exchange] = ended
    assert (exchange.status, exchange.code) == (499, "client_gone")
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert not engine.requests
