"""Steps on the clock: stages work on several batches at a time, in the order of their beginning."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from maskwright.errors import InputError
from maskwright_sim.costs.linear import LinearCosts
from maskwright_sim.fleet.fleet import run_engine
from maskwright_sim.load.demand import Demand, text
from maskwright_sim.outcome.figures import idle_share
from maskwright_sim.policy.choice import EngineSettings

STEP = LinearCosts(fixed=0.03, row=0.0, token=0.0)
"""A step takes 30 ms whatever it computes: 10 ms in each of three stages."""
PIPELINE = EngineSettings(
    policy="orca", blocks=100, max_running=6, max_batch=2, prefix_cache=False, stages=3
)


def times(settings: EngineSettings, demands: list[Demand]) -> list[list[int]]:
    """When each token of each request was there, in milliseconds."""
    served = run_engine(settings.engine(STEP), demands)
    return [[round(1000 * time) for time in one.times] for one in served]


def test_three_workers_have_three_batches_in_flight() -> None:
    """As in Orca's figure, batches follow each other in the stages: A, which begins as soon as it
    arrives, then BC and DE; A is begun again when it has come back, and with it F."""
    demands = [Demand(number, 0.0, tuple(text(number, 4)), 2) for number in range(6)]
    expected = [[30, 60], [40, 70], [40, 70], [50, 80], [50, 80], [60, 90]]
    assert times(PIPELINE, demands) == expected
    one_by_one = [[30, 60], [60, 90], [90, 120], [120, 150], [150, 180], [180, 210]]
    assert times(replace(PIPELINE, flights=1, max_running=2), demands) == one_by_one


def test_chunks_of_one_prompt_follow_each_other_in_the_stages() -> None:
    """Four chunks of three stages each: the first takes 30 ms, and each further one 10 ms more."""
    chunked = replace(PIPELINE, policy="sarathi", chunk=16)
    demands = [Demand(0, 0.0, tuple(text(0, 64)), 2)]
    assert times(chunked, demands) == [[60, 90]]
    assert times(replace(chunked, flights=1), demands) == [[120, 150]]


def test_a_step_waits_for_the_longer_one_before_it() -> None:
    """A prompt of 60 ms a stage holds up the step after it by a bubble."""
    costs = LinearCosts(fixed=0.03, row=0.0, token=0.001)
    engine = replace(PIPELINE, max_batch=1, stages=2).engine(costs)
    demands = [Demand(0, 0.0, tuple(text(0, 90)), 1), Demand(1, 0.0, tuple(text(1, 10)), 1)]
    served = run_engine(engine, demands)
    assert [one.times for one in served] == [[pytest.approx(0.12)], [pytest.approx(0.14)]]
    assert idle_share(engine) == pytest.approx(1 - (0.12 + 0.04) / 2 / 0.14)


def test_our_scheduler_has_no_stages() -> None:
    with pytest.raises(InputError, match="our scheduler has no stages"):
        replace(PIPELINE, policy="ours").engine(STEP)
