"""Rates of instances grow with what limits them."""

from __future__ import annotations

from msgspec.structs import replace

from maskwright_sim.costs.sheet import A100, LLAMA_13B, LLAMA_70B
from maskwright_sim.load.workloads import Lengths, Workload
from maskwright_sim.outcome.figures import Objectives
from maskwright_sim.placement.rates import PhaseSimulator, bottleneck
from maskwright_sim.placement.search import Parallelism

SIMULATOR = PhaseSimulator(
    A100,
    LLAMA_13B,
    Workload(40, 1.0, Lengths(512), Lengths(16)),
    Objectives(0.25, 0.04),
    halvings=4,
)


def test_more_devices_serve_more() -> None:
    alone = SIMULATOR.rate("prefill")
    assert 0 < alone < SIMULATOR.rate("prefill", Parallelism(2, 1))
    assert alone < SIMULATOR.rate("prefill", Parallelism(1, 2))
    assert SIMULATOR.rate("combined") <= alone


def test_a_model_that_does_not_fit_serves_nothing() -> None:
    assert replace(SIMULATOR, model=LLAMA_70B).rate("decode") == 0.0


def test_prompts_are_limited_by_arithmetic() -> None:
    grows = bottleneck(SIMULATOR, "prefill", Parallelism())
    assert max(grows, key=grows.__getitem__) == "arithmetic"
