"""Deltas of several generations as they come: none lost, none early, silence noted."""

from __future__ import annotations

import asyncio
import random
import threading
import time

import pytest

from maskwright.engine import Delta, FinishReason, Generation
from maskwright.server.stream import Arrivals

LAST = Delta("!", (9,), FinishReason.STOP)


def generations(count: int) -> list[Generation]:
    return [Generation(number, 0, 3, lambda _: None, buffer=4) for number in range(count)]


async def read_all(arrivals: Arrivals, running: int) -> list[tuple[int, Delta]]:
    found: list[tuple[int, Delta]] = []
    while running:
        async with asyncio.timeout(60):
            arrived = await arrivals.next()
        if arrived is not None:
            found.append(arrived)
            running -= arrived[1].finish_reason is not None
    return found


@pytest.mark.parametrize("seed", range(4))
def test_everything_comes_once_in_order(seed: int) -> None:
    """From threads that publish at random moments, while the reader is busy at times."""
    draw, made = random.Random(seed), generations(3)

    def publish(generation: Generation, pauses: list[float]) -> None:
        for number, pause in enumerate(pauses):
            time.sleep(pause)
            generation.publish(Delta(f"{number} ", (number,)))
        generation.publish(LAST)

    async def run() -> list[tuple[int, Delta]]:
        arrivals = Arrivals(made, idle=60)
        threads = [
            threading.Thread(
                target=publish, args=(one, [draw.choice((0, 0, 1e-4, 2e-3)) for _ in range(60)])
            )
            for one in made
        ]
        for thread in threads:
            thread.start()
        found = await read_all(arrivals, len(made))
        arrivals.close()
        for thread in threads:
            thread.join(60)
        return found

    found = asyncio.run(run())
    for index in range(3):
        text = "".join(delta.text for at, delta in found if at == index)
        assert text == "".join(f"{number} " for number in range(60)) + "!"


def test_silence_is_reported_each_time_and_loses_nothing() -> None:
    async def run() -> None:
        [one] = made = generations(1)
        arrivals = Arrivals(made, idle=0.02)
        assert await arrivals.next() is None
        assert await arrivals.next() is None
        one.publish(Delta("a", (1,)))
        assert await arrivals.next() == (0, Delta("a", (1,)))
        assert await arrivals.next() is None
        one.publish(LAST)
        assert await arrivals.next() == (0, LAST)
        arrivals.close()

    asyncio.run(run())


def test_nothing_is_read_ahead() -> None:
    """What the reader hasn't asked for stays in its generation, which pauses."""

    async def run() -> None:
        made = generations(2)
        arrivals = Arrivals(made, idle=60)
        for one in made:
            one.publish(Delta("abcd", (1, 2, 3, 4)))
        await asyncio.sleep(0.01)
        assert [one.throttle() for one in made] == [True, True]
        assert await arrivals.next() == (0, Delta("abcd", (1, 2, 3, 4)))
        await asyncio.sleep(0.01)
        assert [one.throttle() for one in made] == [False, True]
        arrivals.close()

    asyncio.run(run())


def test_no_generation_waits_for_another_that_has_more() -> None:
    async def run() -> list[int]:
        made = generations(2)
        arrivals = Arrivals(made, idle=60)
        made[1].publish(Delta("b", (1,)))
        order: list[int] = []
        for _ in range(4):
            made[0].publish(Delta("a", (1,)))
            arrived = await arrivals.next()
            assert arrived is not None
            order.append(arrived[0])
        arrivals.close()
        return order

    assert asyncio.run(run())[:2] == [0, 1]


def test_a_wait_that_is_cancelled_loses_nothing() -> None:
    async def run() -> None:
        [one] = made = generations(1)
        arrivals = Arrivals(made, idle=60)
        waiting = asyncio.ensure_future(arrivals.next())
        await asyncio.sleep(0)
        one.publish(Delta("a", (1,)))
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert await arrivals.next() == (0, Delta("a", (1,)))
        arrivals.close()

    asyncio.run(run())
