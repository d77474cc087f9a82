"""Percentiles, throughput, goodput and use of a run, as one row of a table."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from msgspec.structs import asdict

from maskwright.immutable import Immutable
from maskwright_sim.engine.simulated_engine import SimulatedEngine
from maskwright_sim.outcome.served import Served


class Objectives(Immutable):
    """Upper bounds in seconds: for the first token, and for each one after it on average."""

    ttft: float = math.inf
    tpot: float = math.inf

    def met(self, served: Served) -> bool:
        """Whether the whole answer came in time."""
        return served.whole and served.ttft <= self.ttft and served.tpot <= self.tpot


class RunFigures(Immutable):
    """Times are in seconds. `goodput`: requests a second that met the objectives; `attained`: their
    share of all. `kv_use`: mean share of the blocks in use while a step runs. `cached`: share of
    prompt tokens that were in a cache. `recomputed`: tokens computed again after a preemption."""

    requests: int
    answered: int
    refused: int
    ttft_mean: float
    ttft_p50: float
    ttft_p90: float
    ttft_p99: float
    tpot_p50: float
    tpot_p90: float
    tpot_p99: float
    gap_p99: float
    gap_max: float
    seconds_mean: float
    requests_per_second: float
    tokens_per_second: float
    goodput: float
    attained: float
    kv_use: float
    cached: float
    preemptions: int
    recomputed: int

    def row(self) -> dict[str, float | int]:
        """The figures by name."""
        return asdict(self)


def figures(
    served: Sequence[Served],
    engines: Iterable[SimulatedEngine] = (),
    objectives: Objectives | None = None,
) -> RunFigures:
    """Sum up a run."""
    objectives = objectives or Objectives()
    whole = [one for one in served if one.whole]
    start = min((one.arrival for one in served), default=0.0)
    last = max((one.times[-1] for one in whole), default=start)
    seconds = max(last - start, 1e-9)
    met = sum(map(objectives.met, served))
    ttft = sorted(one.ttft for one in whole)
    tpot = sorted(one.tpot for one in whole if len(one.times) > 1)
    gaps = sorted(one.worst_gap for one in whole)
    every = list(engines)
    busy = sum(engine.busy * engine.scheduler.pool.total for engine in every)
    prompts = sum(len(one.demand.prompt) for one in whole)
    return RunFigures(
        requests=len(served),
        answered=len(whole),
        refused=sum(one.refused for one in served),
        ttft_mean=sum(ttft) / max(1, len(ttft)),
        ttft_p50=percentile(ttft, 50),
        ttft_p90=percentile(ttft, 90),
        ttft_p99=percentile(ttft, 99),
        tpot_p50=percentile(tpot, 50),
        tpot_p90=percentile(tpot, 90),
        tpot_p99=percentile(tpot, 99),
        gap_p99=percentile(gaps, 99),
        gap_max=gaps[-1] if gaps else 0.0,
        seconds_mean=sum(one.seconds for one in whole) / max(1, len(whole)),
        requests_per_second=len(whole) / seconds,
        tokens_per_second=sum(len(one.times) for one in whole) / seconds,
        goodput=met / seconds,
        attained=met / max(1, len(served)),
        kv_use=sum(engine.used for engine in every) / busy if busy else 0.0,
        cached=sum(one.cached for one in whole) / max(1, prompts),
        preemptions=sum(engine.scheduler.preemptions for engine in every),
        recomputed=sum(engine.recomputed for engine in every),
    )


def idle_share(engine: SimulatedEngine) -> float:
    """The share of the time from 0 to the last token for which a stage of the engine is idle."""
    last = max(times[-1] for times in engine.times.values() if times)
    return 1 - engine.busy / engine.stages / last


def percentile(values: Sequence[float], share: float) -> float:
    """A percentile of sorted values by the nearest rank; 0 without values."""
    if not values:
        return 0.0
    return values[max(0, math.ceil(len(values) * share / 100) - 1)]
