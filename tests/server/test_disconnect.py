from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, cast

import httpx
import pytest

from maskwright.server import create_app
from maskwright.server.disconnect import ClientGoneError, until_disconnect
from tests.bounds import PATIENCE, wait_until
from tests.live_server import ask_and_leave, leave_midway, live_server
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
