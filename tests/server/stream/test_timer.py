"""A timer that is begun for each token: it calls back once, and only when time has passed."""

from __future__ import annotations

import asyncio
import heapq

from maskwright.server.stream import Timer


def test_it_calls_back_once_after_its_time() -> None:
    async def run() -> None:
        loop, fired = asyncio.get_running_loop(), list[float]()
        timer = Timer(0.03, lambda: fired.append(loop.time()))
        begun = loop.time()
        timer.begin()
        await asyncio.sleep(0.1)
        [at] = fired
        assert at - begun >= 0.029
        timer.begin()
        await asyncio.sleep(0.06)
        assert len(fired) == 2

    asyncio.run(run())


def test_what_ends_or_begins_anew_in_time_is_not_reported() -> None:
    async def run() -> None:
        fired: list[bool] = []
        timer = Timer(0.2, lambda: fired.append(True))
        for _ in range(6):
            timer.begin()
            await asyncio.sleep(0.05)
        assert not fired, "it counts from the last beginning"
        timer.end()
        await asyncio.sleep(0.3)
        assert not fired
        timer.begin()
        timer.close()
        await asyncio.sleep(0.3)
        assert not fired

    asyncio.run(run())


def test_beginning_often_adds_one_entry_to_the_loop() -> None:
    async def run() -> int:
        loop = asyncio.get_running_loop()
        timer = Timer(60, lambda: None)
        for _ in range(1000):
            timer.begin()
            timer.end()
        entries = len(heapq.nsmallest(1000, loop._scheduled))  # type: ignore[attr-defined]  # pyright: ignore
        timer.close()
        return entries

    assert asyncio.run(run()) == 1
