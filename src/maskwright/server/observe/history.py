"""What the engine did in the last hour, for the dashboard: a few figures every five seconds."""

from __future__ import annotations

import asyncio
import bisect
import time
from collections import deque
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

from maskwright.server.json import Json

if TYPE_CHECKING:  # a router reads histories too, and starts without torch
    from maskwright.engine import Engine, EngineStats

SECONDS: Final = 5
KEPT_SECONDS: Final = 3600
COUNTERS: Final = ("output_tokens", "prompt_tokens")
FIGURES: Final = (*COUNTERS, "running", "waiting", "compiling", "paused")
"""The figures that are kept: tokens since the server's start, and requests by their state."""


class PastFigures:
    """Reads an engine from the HTTP thread as long as the server runs."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._kept: deque[tuple[float, ...]] = deque(maxlen=KEPT_SECONDS // SECONDS)

    def sample(self, now: float) -> None:
        """Keep the figures of this moment. `now`: seconds since 1970."""
        self._kept.append((round(now, 1), *_figures(self._engine.stats())))

    def document(self) -> Json:
        """Return the samples by figure, oldest first, and their `times` in seconds since 1970."""
        columns = list(zip(*self._kept, strict=True)) or [()] * (1 + len(FIGURES))
        return dict(zip(("times", *FIGURES), map(list, columns), strict=True))

    @asynccontextmanager
    async def kept(self) -> AsyncGenerator[None]:
        """Keep figures while the block runs."""
        task = asyncio.create_task(self._run())
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def _run(self) -> None:
        while True:
            self.sample(time.time())
            await asyncio.sleep(SECONDS)


def _figures(stats: EngineStats) -> tuple[float, ...]:
    figures: Mapping[str, float] = {
        "output_tokens": stats.sampled_tokens + stats.forced_tokens,
        "prompt_tokens": stats.prompt_tokens,
        "running": stats.running,
        "waiting": stats.waiting,
        "compiling": stats.compiling,
        "paused": stats.paused,
    }
    return tuple(figures[name] for name in FIGURES)


def joined_history(parts: Sequence[Mapping[str, Any]]) -> Json:
    """Return the history of several servers together. At the time of each sample of one, the others
    have what their last sample before says; nothing before their first."""
    times = sorted({at for part in parts for at in part["times"]})
    joined: dict[str, list[float]] = {"times": times, **{name: [] for name in FIGURES}}
    for at in times:
        places = [bisect.bisect_right(part["times"], at) - 1 for part in parts]
        known = [(part, place) for part, place in zip(parts, places, strict=True) if place >= 0]
        for name in FIGURES:
            joined[name].append(sum(part[name][place] for part, place in known))
    return {**joined}
