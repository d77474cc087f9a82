"""A progress bar on a terminal."""

from __future__ import annotations

import asyncio
import shutil
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Final

from maskwright.cli.bulk.run_report import RunCounts
from maskwright.cli.output.appearance import shows_progress

PERIOD_S: Final = 0.2
NARROWEST: Final = 10
"""Columns of a bar below which it is left out."""


@asynccontextmanager
async def progress_bar(counts: RunCounts) -> AsyncGenerator[None]:
    """Show the counts on standard error while the block runs, if that is a terminal."""
    if not shows_progress():
        yield
        return
    painting = asyncio.create_task(_paint(counts, time.monotonic()))
    try:
        yield
    finally:
        painting.cancel()
        with suppress(asyncio.CancelledError):
            await painting
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


def note(message: str) -> None:
    """Write a line on standard error, above the bar if there is one."""
    if sys.stderr.isatty():
        message = f"\r\x1b[K{message}"
    print(message, file=sys.stderr, flush=True)


async def _paint(counts: RunCounts, begun: float) -> None:
    while True:
        width = shutil.get_terminal_size().columns - 1
        sys.stderr.write(f"\r{bar_line(counts, time.monotonic() - begun, width)}\x1b[K")
        sys.stderr.flush()
        await asyncio.sleep(PERIOD_S)


def bar_line(counts: RunCounts, seconds: float, width: int) -> str:
    """One line of at most `width` characters about a run that has taken some seconds."""
    rate = counts.now / seconds if seconds > 0 else 0.0
    left = clock((counts.total - counts.finished) / rate) if rate > 0 else "?"
    ends = f"{counts.finished:,}/{counts.total:,}"
    figures = f"{rate:.1f}/s  {left} left"
    if counts.failed:
        figures += f"  {counts.failed:,} failed"
    room = width - len(ends) - len(figures) - 6
    if room < NARROWEST:
        return f"{ends}  {figures}"[:width]
    full = round(room * counts.finished / counts.total) if counts.total else room
    return f"{ends}  [{'#' * full}{' ' * (room - full)}]  {figures}"


def clock(seconds: float) -> str:
    """A duration as `h:mm:ss` or `m:ss`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
