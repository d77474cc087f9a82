from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from maskwright.records.workers import run_all


def test_so_many_run_at_a_time_and_no_more_is_taken() -> None:
    taken: list[int] = []
    running = most = 0

    def items() -> Iterator[int]:
        for number in range(50):
            taken.append(number)
            yield number

    done: list[int] = []

    async def work(number: int) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        assert len(taken) <= len(done) + 4
        await asyncio.sleep(0)
        running -= 1
        done.append(number)

    asyncio.run(run_all(items(), work, 4))
    assert sorted(done) == list(range(50))
    assert most == 4


def test_the_first_failure_is_raised_and_stops_the_rest() -> None:
    done: list[int] = []

    async def work(number: int) -> None:
        if number == 3:
            raise ValueError("three")
        await asyncio.sleep(0.01 if number < 3 else 10)
        done.append(number)

    with pytest.raises(ValueError, match="three"):
        asyncio.run(run_all(range(100), work, 4))
    assert done == []
