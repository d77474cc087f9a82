"""Figures that are computed from metrics and recent answers, once for the dashboard and for
`maskwright status`; and what the engine did in the last hour, a few figures every five seconds."""

from __future__ import annotations

import asyncio
import bisect
import math
import time
from collections import deque
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

from maskwright.server.json import Json

if TYPE_CHECKING:  # a router reads histories too, and starts without torch
    from maskwright.engine import Engine, EngineStats

Samples = Mapping[str, float]
"""Values of metrics by name and labels, as `/metrics` writes them, without `maskwright_`."""

LEFT: Final = 'refusals_total{code="client_gone"}'
"""Requests whose clients left, which nobody has refused."""

SECONDS: Final = 5
KEPT_SECONDS: Final = 3600
COUNTERS: Final = ("output_tokens", "prompt_tokens")
FIGURES: Final = (*COUNTERS, "running", "waiting", "compiling", "paused")
"""The figures that are kept: tokens since the server's start, and requests by their state."""


def figures_of(samples: Samples, recent: Sequence[Json]) -> dict[str, float | None]:
    """Return shares from 0 to 1, milliseconds and counts; None where nothing was measured yet."""
    forced = samples['output_tokens_total{source="forced"}']
    sampled = samples['output_tokens_total{source="sampled"}']
    drafted = total(samples, "drafted_tokens_total")
    ttft, tpot = (_values(recent, name) for name in ("ttft_ms", "tpot_ms"))
    mask = histogram_median(samples, "mask_seconds")
    return {
        "output_tokens": forced + sampled,
        "forced_share": _share(forced, forced + sampled),
        "kv_use": samples["kv_use"],
        "prefix_hit_share": _share(
            samples["prefix_hit_tokens_total"], samples["prefix_asked_tokens_total"]
        ),
        "mask_hit_share": _share(samples["mask_hits_total"], samples["mask_rows_total"]),
        "mask_p50_us": None if mask is None else 1e6 * mask,
        "draft_acceptance": _share(total(samples, "accepted_tokens_total"), drafted),
        "ttft_p50_ms": percentile(ttft, 50),
        "ttft_p95_ms": percentile(ttft, 95),
        "tpot_p50_ms": percentile(tpot, 50),
        "tpot_p95_ms": percentile(tpot, 95),
        "requests_finished": total(samples, "requests_finished_total"),
        "refused": total(samples, "refusals_total") - samples.get(LEFT, 0.0),
    }


def total(samples: Samples, name: str) -> float:
    """Return the sum of a metric over its labels."""
    return sum(value for key, value in samples.items() if key.partition("{")[0] == name)


def percentile(values: Sequence[float], share: float) -> float | None:
    """Return a percentile by the nearest rank; None without values."""
    ranked = sorted(values)
    return ranked[max(0, math.ceil(len(ranked) * share / 100) - 1)] if ranked else None


def histogram_median(samples: Samples, name: str) -> float | None:
    """Return the median of a histogram, interpolated within its bucket; None if it is empty."""
    prefix = f'{name}_bucket{{le="'
    buckets = [
        (float(key.removeprefix(prefix).removesuffix('"}')), count)
        for key, count in samples.items()
        if key.startswith(prefix)
    ]
    half, low, before = samples[f"{name}_count"] / 2, 0.0, 0.0
    for bound, count in sorted(buckets):
        if count >= half > 0:
            inside = (half - before) / (count - before)
            return low if math.isinf(bound) else low + inside * (bound - low)
        low, before = bound, count
    return None


def _values(recent: Sequence[Json], name: str) -> list[float]:
    return [value for one in recent if isinstance(value := one.get(name), int | float)]


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None


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
