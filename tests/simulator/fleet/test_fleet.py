"""Several engines on one clock: nothing is lost, and routing decides who computes what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import get_args

import pytest

from maskwright_sim.costs.linear import LinearCosts
from maskwright_sim.fleet.clock import EventClock
from maskwright_sim.fleet.fleet import Fleet
from maskwright_sim.fleet.routing import RoutingName, routing
from maskwright_sim.load.workloads import Lengths, Workload
from maskwright_sim.outcome.figures import RunFigures, figures
from maskwright_sim.outcome.served import Served
from maskwright_sim.policy.choice import EngineSettings

SKEWED = Workload(
    320,
    30.0,
    Lengths(32, "uniform"),
    Lengths(20, "exponential"),
    prefixes=12,
    prefix_length=960,
    skew=1.0,
)
COLD = 80
"""Requests after which the caches are warm."""
SMALL = EngineSettings(blocks=80, block_size=64, max_running=16, max_batch_tokens=1024, stall=4.0)
COSTS = LinearCosts(0.004, 0.0002, 0.0003)


@cache
def run(name: RoutingName) -> tuple[Sequence[Served], RunFigures]:
    """What became of each request, and the figures of those after the first."""
    engines = [SMALL.engine(COSTS) for _ in range(4)]
    served = Fleet(engines, routing(name, 1)).run(SKEWED.demands(5))
    return served, figures(served[COLD:], engines)


@pytest.mark.parametrize("name", get_args(RoutingName))
def test_every_request_is_answered_once(name: RoutingName) -> None:
    served, found = run(name)
    assert found.answered == len(served) - COLD == 240
    assert all(one.whole and one.ttft > 0 for one in served)
    assert len(Counter(one.replica for one in served)) == 4


def test_round_robin_goes_round() -> None:
    served, _ = run("round-robin")
    assert [one.replica for one in served[:8]] == [0, 1, 2, 3, 0, 1, 2, 3]


def test_routing_by_cache_beats_round_robin_under_skew() -> None:
    """The goal is a 99th percentile of the time to first token of at most 0.6 of round robin's."""
    ahead, behind = run("cached")[1], run("round-robin")[1]
    assert ahead.cached > behind.cached
    assert ahead.ttft_p99 <= 0.6 * behind.ttft_p99


def test_the_router_beats_round_robin_under_skew() -> None:
    """The router of a running cluster, over the states of the simulated engines."""
    assert run("router")[1].ttft_p99 <= 0.6 * run("round-robin")[1].ttft_p99


def test_a_turn_waits_for_the_answer_before_it() -> None:
    load = Workload(5, 2.0, Lengths(20), Lengths(10), turns=3, think=0.5)
    served = Fleet([SMALL.engine(COSTS)], routing("round-robin")).run(load.demands())
    assert len(served) == 15
    for before, after in pairwise(served):
        if after.demand.after is not None:
            assert after.arrival == pytest.approx(before.times[-1] + 0.5)
            assert after.cached >= len(before.demand.prompt) - 64


def test_events_happen_in_order() -> None:
    clock, seen = EventClock(), list[tuple[float, str]]()
    clock.at(2.0, lambda: seen.append((clock.now, "late")))
    clock.at(1.0, lambda: clock.at(0.5, lambda: seen.append((clock.now, "past"))))
    clock.at(2.0, lambda: seen.append((clock.now, "later")))
    clock.run()
    assert seen == [(1.0, "past"), (2.0, "late"), (2.0, "later")]
