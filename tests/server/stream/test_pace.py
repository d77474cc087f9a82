"""How often streams are written to: nothing is held that comes late enough, nothing for long."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import pytest

from maskwright.engine import Delta, FinishReason, Generation
from maskwright.server.stream import EACH_S, LEAST_S, MOST_S, Arrivals, Pace

LAST = Delta("!", (9,), FinishReason.STOP)


class CountingPace(Pace):
    """Counts what is held."""

    held = 0

    def call_at(self, due: float, call: Callable[[], None]) -> None:
        self.held += 1
        super().call_at(due, call)


def generation() -> Generation:
    return Generation(1, 0, 3, lambda _: None)


def test_the_gap_grows_with_the_streams_within_bounds() -> None:
    pace = Pace()
    few, many = int(LEAST_S / EACH_S) - 1, int(MOST_S / EACH_S) // 2
    for running, gap in ((0, 0.0), (few, 0.0), (many, EACH_S * many), (100_000, MOST_S)):
        pace.running = running
        assert pace.gap == pytest.approx(gap)


def test_calls_are_made_when_they_are_due_in_their_order() -> None:
    async def run() -> list[tuple[str, float]]:
        pace, made = Pace(), list[tuple[str, float]]()
        loop = asyncio.get_running_loop()
        begin = loop.time()
        for name, after in (("a", 0.02), ("b", 0.021), ("c", 0.06), ("d", 0.01)):
            pace.call_at(begin + after, lambda name=name: made.append((name, loop.time() - begin)))
        while len(made) < 4:
            await asyncio.sleep(0.005)
        return made

    made = asyncio.run(run())
    assert [name for name, _ in made] == ["a", "b", "c", "d"]
    for (_, at), due in zip(made, (0.02, 0.021, 0.06, 0.01), strict=True):
        assert at >= due - 0.005


def test_texts_that_come_soon_are_joined_and_others_are_not_held() -> None:
    async def run() -> None:
        pace, one = CountingPace(), generation()
        pace.running = 10_000  # streams of other clients
        arrivals = Arrivals([one], 60, pace)
        one.publish(Delta("a", (1,)))
        begin = time.monotonic()
        assert await arrivals.next() == (0, Delta("a", (1,)))
        assert (pace.held, pace.running) == (0, 10_001), "the first text was held"
        one.publish(Delta("b", (2,)))
        waiting = asyncio.ensure_future(arrivals.next())
        await asyncio.sleep(0)
        one.publish(Delta("c", (3,)))
        assert await waiting == (0, Delta("bc", (2, 3)))
        assert time.monotonic() - begin >= MOST_S - 0.005
        assert pace.held == 1
        await asyncio.sleep(1.5 * MOST_S)
        one.publish(LAST)
        assert await arrivals.next() == (0, LAST)
        assert pace.held == 1, "a late text was held"
        arrivals.close()
        assert pace.running == 10_000

    asyncio.run(run())


def test_what_is_there_already_is_not_held() -> None:
    """A stream that another server has begun comes in as many deltas as were sent of it."""

    async def run() -> None:
        pace, one = CountingPace(), generation()
        pace.running = 10_000
        arrivals = Arrivals([one], 60, pace)
        for number in range(20):
            one.publish_apart(Delta("a", (number,)))
        one.publish(LAST)
        for number in range(20):
            assert await arrivals.next() == (0, Delta("a", (number,)))
        assert await arrivals.next() == (0, LAST)
        assert pace.held == 0
        arrivals.close()

    asyncio.run(run())


def test_nothing_is_held_for_a_few_streams() -> None:
    async def run() -> None:
        pace, one = CountingPace(), generation()
        arrivals = Arrivals([one], 60, pace)
        for number in range(20):
            one.publish(Delta("a", (number,)))
            arrived = await arrivals.next()
            assert arrived == (0, Delta("a", (number,)))
        arrivals.close()
        arrivals.close()
        assert (pace.held, pace.running) == (0, 0)

    asyncio.run(run())


def test_a_stream_that_never_sent_anything_is_not_counted() -> None:
    async def run() -> None:
        pace = Pace()
        arrivals = Arrivals([generation()], 0.01, pace)
        assert await arrivals.next() is None
        arrivals.close()
        assert pace.running == 0

    asyncio.run(run())


def test_held_texts_of_several_choices_come_once_in_order() -> None:
    async def run() -> list[tuple[int, str]]:
        pace = Pace()
        pace.running = 50
        made = [generation() for _ in range(3)]
        arrivals, found, running = Arrivals(made, 60, pace), list[tuple[int, str]](), len(made)

        async def publish(one: Generation) -> None:
            for number in range(40):
                one.publish(Delta(f"{number} ", (number,)))
                await asyncio.sleep(0.001 * (number % 3))
            one.publish(LAST)

        tasks = [asyncio.ensure_future(publish(one)) for one in made]
        while running:
            async with asyncio.timeout(60):
                arrived = await arrivals.next()
            assert arrived is not None
            found.append((arrived[0], arrived[1].text))
            running -= arrived[1].finish_reason is not None
        arrivals.close()
        await asyncio.gather(*tasks)
        return found

    found = asyncio.run(run())
    for index in range(3):
        text = "".join(text for at, text in found if at == index)
        assert text == "".join(f"{number} " for number in range(40)) + "!"
