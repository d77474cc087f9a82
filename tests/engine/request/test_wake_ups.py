"""Calls into an event loop: all of them, in order, with few wake-ups of the loop."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from functools import partial

import pytest

from maskwright.engine.request import wake_ups as wake_ups_module
from maskwright.engine.request.wake_ups import WakeUps, wake_ups_of_running_loop
from tests.bounds import PATIENCE


class CountingLoop(asyncio.SelectorEventLoop):
    """Counts how often other threads wake it."""

    woken = 0

    def call_soon_threadsafe(self, *args: object, **options: object) -> asyncio.Handle:  # type: ignore[override]
        self.woken += 1
        return super().call_soon_threadsafe(*args, **options)  # type: ignore[arg-type]


def passed_on(engine: Callable[[WakeUps, Callable[[int], None]], None]) -> tuple[list[int], int]:
    """The numbers that `engine` has had noted in a loop, from another thread while the loop is
    busy, and how often the loop was woken for them."""
    found: list[int] = []
    loop = CountingLoop()

    async def run() -> int:
        before = loop.woken
        wake_ups = wake_ups_of_running_loop()
        assert wake_ups_of_running_loop() is wake_ups
        thread = threading.Thread(target=engine, args=(wake_ups, found.append))
        thread.start()
        thread.join(60)
        woken = loop.woken - before
        assert found == [], "a call was run in another thread"
        await asyncio.sleep(0.01)
        return woken

    try:
        return found, loop.run_until_complete(run())
    finally:
        loop.close()


def test_calls_before_the_loop_runs_share_one_wake_up() -> None:
    def engine(wake_ups: WakeUps, note: Callable[[int], None]) -> None:
        for number in range(5):
            wake_ups.pass_on(partial(note, number))

    assert passed_on(engine) == ([0, 1, 2, 3, 4], 1)


def test_calls_are_held_until_the_end_of_the_outermost_block() -> None:
    def engine(wake_ups: WakeUps, note: Callable[[int], None]) -> None:
        with WakeUps.held():
            wake_ups.pass_on(partial(note, 0))
            with WakeUps.held():
                wake_ups.pass_on(partial(note, 1))
            assert wake_ups._calls == []  # pyright: ignore[reportPrivateUsage]
        assert len(wake_ups._calls) == 2  # pyright: ignore[reportPrivateUsage]

    assert passed_on(engine) == ([0, 1], 1)


def test_another_wake_up_follows_one_that_has_been_run() -> None:
    found: list[int] = []

    async def run() -> None:
        wake_ups = wake_ups_of_running_loop()
        for number in range(3):
            await asyncio.to_thread(wake_ups.pass_on, partial(found.append, number))
            await asyncio.sleep(0)
            async with asyncio.timeout(60):
                while len(found) <= number:
                    await asyncio.sleep(0.001)

    asyncio.run(run())
    assert found == [0, 1, 2]


def test_a_closed_loop_is_left_alone() -> None:
    async def run() -> WakeUps:
        return wake_ups_of_running_loop()

    wake_ups = asyncio.run(run())
    wake_ups.pass_on(lambda: pytest.fail("the loop is closed"), urgent=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wake_ups_module, "GIVE_WAY_S", PATIENCE)
        begin = time.monotonic()
        WakeUps.give_way()
    assert time.monotonic() - begin < PATIENCE / 2


def test_a_thread_waits_for_a_loop_that_has_urgent_calls() -> None:
    """As long as the loop is busy, and not after it has begun, or where nothing is urgent."""
    found: list[str] = []
    passed = threading.Event()

    def engine(wake_ups: WakeUps) -> None:
        wake_ups.pass_on(partial(found.append, "call"), urgent=True)
        wake_ups.pass_on(partial(found.append, "other"))
        passed.set()
        WakeUps.give_way()
        found.append("thread")
        wake_ups.pass_on(lambda: None)
        begin = time.monotonic()
        WakeUps.give_way()
        assert time.monotonic() - begin < wake_ups_module.GIVE_WAY_S

    async def run() -> None:
        working = asyncio.create_task(asyncio.to_thread(engine, wake_ups_of_running_loop()))
        await asyncio.sleep(0)
        assert passed.wait(PATIENCE)
        time.sleep(0.05)  # the loop is busy
        assert found == []
        await working

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wake_ups_module, "GIVE_WAY_S", PATIENCE)
        asyncio.run(run())
    assert found == ["call", "other", "thread"]


def test_a_thread_waits_for_no_loop_longer_than_it_may() -> None:
    async def run() -> None:
        wake_ups = wake_ups_of_running_loop()
        wake_ups.pass_on(lambda: None, urgent=True)
        with WakeUps.held():
            wake_ups.pass_on(lambda: None, urgent=True)
        WakeUps.give_way()  # in the thread of the loop itself, which can't begin

    asyncio.run(run())
