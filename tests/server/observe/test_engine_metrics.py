"""Each number of the engine under its own name on the metrics page."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, cast

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from maskwright.engine import Distribution, EngineStats
from maskwright.engine.stats import Observations
from maskwright.server.observe.metrics import HISTOGRAMS, EngineMetrics

SEEN = Distribution((0.5, 1.0, 2.0), (3, 0, 4, 1), 12.5)

COUNTS = {
    item.name: number
    for number, item in enumerate(fields(EngineStats), 101)
    if item.type in ("int", int)
}
"""A different number for each."""

STATS = EngineStats(
    **{
        **COUNTS,
        "blocks_total": 800,
        "blocks_used": 200,
        "block_size": 16,
        "positions_idle": 640,
        "drafted_tokens": 90,
        "model_drafted_tokens": 60,
        "accepted_tokens": 50,
        "model_accepted_tokens": 45,
    },
    healthy=True,
    batch_invariant=False,
    finished={"stop": 7, "length": 8},
    seconds={"forward": 1.5, "sample": 2.5},
    refused={"queue": 3, "objective": 4},
    observations=dict.fromkeys(Observations().read(), SEEN),
)


@dataclass
class ScriptedStats:
    """Stands in for an engine: it has nothing but a snapshot."""

    snapshot: EngineStats

    def stats(self) -> EngineStats:
        return self.snapshot


def page(stats: EngineStats) -> dict[tuple[str, ...], float]:
    """Values by name and label values."""
    registry = CollectorRegistry()
    registry.register(EngineMetrics(cast(Any, ScriptedStats(stats))))
    text = generate_latest(registry).decode()
    return {
        (sample.name.removeprefix("maskwright_"), *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_every_number_has_its_name() -> None:
    found = page(STATS)
    expected = {
        ("healthy",): 1,
        ("batch_invariant",): 0,
        ("requests", "running"): STATS.running,
        ("requests", "waiting"): STATS.waiting,
        ("requests", "paused"): STATS.paused,
        ("requests", "compiling"): STATS.compiling,
        ("kv_blocks", "used"): 200,
        ("kv_blocks", "cached"): STATS.blocks_cached,
        ("kv_blocks", "free"): STATS.blocks_free,
        ("kv_use",): 0.25,
        ("kv_idle_positions",): 640,
        ("prefill_queue_tokens",): STATS.prefill_queue_tokens,
        ("reserved_kv_tokens",): STATS.reserved_kv_tokens,
        ("kv_fragmentation",): 0.2,
        ("requests_submitted_total",): STATS.submitted,
        ("prompt_tokens_total",): STATS.prompt_tokens,
        ("computed_tokens_total",): STATS.computed_tokens,
        ("prefix_asked_tokens_total",): STATS.prefix_queries,
        ("prefix_hit_tokens_total",): STATS.prefix_hits,
        ("prefix_evictions_total",): STATS.evictions,
        ("preemptions_total",): STATS.preemptions,
        ("swaps_total",): STATS.swaps,
        ("mask_rows_total",): STATS.mask_rows,
        ("mask_hits_total",): STATS.mask_hits,
        ("held_rows_total",): STATS.held_rows,
        ("late_rows_total",): STATS.late_rows,
        ("idle_rows_total",): STATS.idle_rows,
        ("steps_total",): STATS.steps,
        ("device_steps_total",): STATS.device_steps,
        ("output_tokens_total", "sampled"): STATS.sampled_tokens,
        ("output_tokens_total", "forced"): STATS.forced_tokens,
        ("drafted_tokens_total", "lookup"): 30,
        ("drafted_tokens_total", "model"): 60,
        ("accepted_tokens_total", "lookup"): 5,
        ("accepted_tokens_total", "model"): 45,
        ("requests_refused_total", "queue"): 3,
        ("requests_refused_total", "objective"): 4,
        ("requests_finished_total", "stop"): 7,
        ("requests_finished_total", "length"): 8,
        ("step_part_seconds_total", "forward"): 1.5,
        ("step_part_seconds_total", "sample"): 2.5,
    }
    histograms = {name for name, _ in HISTOGRAMS.values()}
    others = {
        key: value
        for key, value in found.items()
        if key[0].removesuffix("_bucket").removesuffix("_count").removesuffix("_sum")
        not in histograms
    }
    assert others == expected


def test_buckets_hold_what_is_below_them_too() -> None:
    found = page(STATS)
    for name, _ in HISTOGRAMS.values():
        buckets = {key[1]: value for key, value in found.items() if key[0] == f"{name}_bucket"}
        assert buckets == {"0.5": 3, "1.0": 3, "2.0": 7, "+Inf": 8}
        assert found[f"{name}_count",] == 8
        assert found[f"{name}_sum",] == 12.5


def test_every_observation_of_the_engine_is_reported() -> None:
    assert list(HISTOGRAMS) == list(Observations().read())
    assert len({name for name, _ in HISTOGRAMS.values()}) == len(HISTOGRAMS)


def test_stores_are_reported_as_far_as_there_are_some() -> None:
    tiers = {"host": {"bytes": 70, "fetched": 3}, "disk": {"bytes": 80, "fetched": 4, "damaged": 1}}
    found = page(replace(STATS, tiers=tiers))
    assert {key: value for key, value in found.items() if key[0].startswith("kv_store")} == {
        ("kv_store_bytes", "host"): 70,
        ("kv_store_bytes", "disk"): 80,
        ("kv_store_blocks_total", "fetched", "host"): 3,
        ("kv_store_blocks_total", "fetched", "disk"): 4,
        ("kv_store_blocks_total", "damaged", "disk"): 1,
    }


def test_an_engine_at_rest() -> None:
    found = page(replace(STATS, healthy=False, batch_invariant=None, blocks_used=0))
    assert found["healthy",] == 0
    assert ("batch_invariant",) not in found, "nothing is known yet"
    assert (found["kv_use",], found["kv_fragmentation",]) == (0, 0)
