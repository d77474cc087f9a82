"""Runs work for each item, several at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


async def run_all(
    items: Iterable[T], work: Callable[[T], Awaitable[None]], concurrency: int
) -> None:
    """Do the work for each item, for `concurrency` of them at a time. An item is taken when its
    work begins, so that a long sequence is never in memory. The first exception cancels the rest
    and is raised."""
    source = iter(items)

    async def work_on() -> None:
        for item in source:
            await work(item)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(concurrency):
                group.create_task(work_on())
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
