"""Figures that are computed from metrics and recent answers, once for the dashboard and for
`maskwright status`; and what the engine did in the last hour, a few figures every five seconds. The
documents of `/state` of several servers become one for their router."""

from __future__ import annotations

import asyncio
import bisect
import math
import time
from collections import Counter, deque
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

from maskwright.server.json import Json
from maskwright.server.observe.traces import MOST_ANSWERS

if TYPE_CHECKING:
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


State = Mapping[str, Any]
"""The document of one server, as `StateRoute` makes it."""

LETTERS: Final = ".cus"
MOST_CELLS: Final = 2048
MOST_REQUESTS: Final = 64

LEAST: Final = ("healthy", "batch_invariant")
"""Metrics that hold of all servers only if they hold of each."""

ABOUT: Final = "info{"
"""The beginning of the metric that describes a server, and counts nothing."""


def joined_state(
    states: Mapping[str, State], workers: Sequence[Mapping[str, Any]], since: int
) -> dict[str, Any]:
    """Return one document for the servers whose documents are given by name; at least one is, and
    each has all its recent answers. Counters and counts are added. `workers`: `name` and `ready` of
    every server, also of those that did not answer. `since`: as the parameter of the endpoint; the
    number of an answer is the time of its end here, in microseconds since 1970."""
    parts = list(states.values())
    samples = _joined_samples([part["metrics"] for part in parts])
    # A document may be older than another one. What ended later than the oldest is listed next
    # time, so that numbers never come too late to be greater than `since`.
    cut = min(part["time"] for part in parts)
    recent = _numbered([(name, one) for name, part in states.items() for one in part["recent"]])
    shown = [one for one in recent if one["number"] <= 1e6 * cut]
    spans, left_out = _joined_spans(parts)
    histories = [part["history"] for part in parts if "history" in part]
    live = [{**one, "worker": name} for name, part in states.items() for one in part["live"]]
    return {
        "time": cut,
        "model": ", ".join(dict.fromkeys(part["model"] for part in parts)),
        "healthy": all(part["healthy"] for part in parts),
        "max_context": max(part["max_context"] for part in parts),
        "workers": [_worker(worker, states.get(worker["name"])) for worker in workers],
        "figures": figures_of(samples, recent[-MOST_ANSWERS:]),
        "metrics": samples,
        "blocks": _joined_blocks([part["blocks"] for part in parts]),
        "prefix": spans,
        "spans_left_out": left_out,
        "classes": _joined_classes(parts),
        "live": live[:MOST_REQUESTS],
        "recent": [one for one in shown if one["number"] > since][-MOST_ANSWERS:],
        **({"history": joined_history(histories)} if histories else {}),
    }


def _worker(worker: Mapping[str, Any], state: State | None) -> dict[str, Any]:
    """One server in the document; with None where it did not answer."""
    shown: dict[str, Any] = {**worker, "running": None, "requests_finished": None}
    shown |= {"output_tokens": None, "kv_use": None}
    if state is not None:
        shown |= {name: state["figures"][name] for name in shown if name in state["figures"]}
        shown["running"] = state["metrics"]['requests{state="running"}']
    return shown


def _joined_samples(parts: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Add samples of equal names. Shares are computed anew, weighted with the blocks."""
    names = dict.fromkeys(name for part in parts for name in part)
    joined = {name: sum(part.get(name, 0.0) for part in parts) for name in names}
    for name in names:
        if name in LEAST:
            joined[name] = min(part[name] for part in parts if name in part)
        elif name.startswith(ABOUT):
            joined[name] = 1.0
    used = [part['kv_blocks{state="used"}'] for part in parts]
    total = sum(joined[f'kv_blocks{{state="{state}"}}'] for state in ("used", "cached", "free"))
    joined["kv_use"] = sum(used) / total
    idle = sum(count * part["kv_fragmentation"] for count, part in zip(used, parts, strict=True))
    joined["kv_fragmentation"] = idle / sum(used) if sum(used) else 0.0
    return joined


def _numbered(answers: Sequence[tuple[str, State]]) -> list[dict[str, Any]]:
    """Sort answers by the time of their end, and number them by it, each differently."""
    ends = [(one["received"] + one["request_ms"] / 1000, name, one) for name, one in answers]
    numbered: list[dict[str, Any]] = []
    for end, name, one in sorted(ends, key=lambda each: (each[0], each[1], each[2]["number"])):
        before = numbered[-1]["number"] if numbered else 0
        number = max(int(1e6 * end), before + 1)
        numbered.append({**one, "number": number, "worker": name})
    return numbered


def _joined_blocks(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the maps of pools one after another, in cells of one size."""
    size = largest = max(part["blocks_per_cell"] for part in parts)
    while sum(-(-part["total"] // size) for part in parts) > MOST_CELLS:
        size += largest
    return {
        "total": sum(part["total"] for part in parts),
        "block_size": parts[0]["block_size"],
        "blocks_per_cell": size,
        "cells": "".join(
            _coarse(part["cells"], -(-size // part["blocks_per_cell"])) for part in parts
        ),
    }


def _coarse(cells: str, size: int) -> str:
    """The state of most of each `size` cells; the first of `LETTERS` among equals."""
    if size == 1:
        return cells
    groups = (Counter(cells[start : start + size]) for start in range(0, len(cells), size))
    return "".join(max(LETTERS, key=group.__getitem__) for group in groups)


def _joined_spans(parts: Sequence[State]) -> tuple[list[dict[str, Any]], bool]:
    """Return the spans of all prefix trees, and whether there are more than are listed."""
    spans: list[dict[str, Any]] = []
    for part in parts:
        first = len(spans)
        spans += [
            {**span, "parent": span["parent"] + first if span["parent"] >= 0 else -1}
            for span in part["prefix"]
        ]
    return spans, any(part["spans_left_out"] for part in parts)


def _joined_classes(parts: Sequence[State]) -> list[dict[str, Any]]:
    classes: dict[str, Counter[str]] = {}
    for part in parts:
        for one in part["classes"]:
            counts = {key: value for key, value in one.items() if key != "name"}
            classes.setdefault(one["name"], Counter()).update(counts)
    return [{"name": name, **counts} for name, counts in classes.items()]
