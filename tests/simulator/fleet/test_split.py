"""Prefill and decode apart: nothing is lost, and transfers take the time that they should."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from maskwright_sim.costs.linear import LinearCosts
from maskwright_sim.engine.simulated_engine import SimulatedEngine
from maskwright_sim.fleet.split import SplitFleet, SplitPolicy
from maskwright_sim.fleet.transfer import Transfer, TransferMode
from maskwright_sim.load.demand import Demand, text
from maskwright_sim.load.workloads import Lengths, Workload
from maskwright_sim.policy.choice import EngineSettings

SMALL = EngineSettings(blocks=60, max_running=8, max_batch_tokens=256, host_blocks=4000)
COSTS = LinearCosts()
LOAD = Workload(30, 20.0, Lengths(60, "uniform"), Lengths(12, "exponential"))


def engines(count: int, *, cache: bool = True) -> list[SimulatedEngine]:
    return [replace(SMALL, prefix_cache=cache).engine(COSTS) for _ in range(count)]


@settings(max_examples=25, deadline=None)
@given(
    st.integers(1, 3),
    st.integers(1, 3),
    st.sampled_from(["request", "layer", "aggregated"]),
    st.booleans(),
    st.integers(0, 99),
)
def test_every_request_is_answered(
    prefills: int, decodes: int, mode: TransferMode, cache: bool, seed: int
) -> None:
    policy = SplitPolicy(transfer=Transfer(mode, bandwidth=1e9), reuses=cache, returns=cache)
    fleet = SplitFleet(engines(prefills, cache=cache), engines(decodes, cache=cache), policy)
    served = fleet.run(replace(LOAD, turns=2, requests=10).demands(seed))
    assert len(served) == 20
    for one in served:
        assert one.whole
        assert one.times == sorted(one.times)
    for engine in fleet.engines:
        engine.scheduler.check()  # type: ignore[attr-defined]
        assert engine.scheduler.pool.used == engine.scheduler.host.used == 0


def test_the_second_token_waits_for_the_transfer() -> None:
    demand = Demand(0, 0.0, tuple(text(0, 160)), 3)
    policy = SplitPolicy(transfer=Transfer("request", bandwidth=1e9))
    fleet = SplitFleet(engines(1), engines(1), policy)
    (one,) = fleet.run([demand])
    sent = 160 * 819_200 / 1e9
    assert one.times[0] == pytest.approx(COSTS.of(0, 160))
    assert one.transfer == pytest.approx(sent)
    assert one.times[1] - one.times[0] == pytest.approx(sent + COSTS.of(1, 0))
    assert fleet.moved == 160


def test_layers_are_sent_while_the_next_are_computed() -> None:
    slow, fast = Transfer("layer", bandwidth=1e9), Transfer("layer", bandwidth=1e12)
    assert fast.arrival(0.0, 1.0, 160, 0.0)[0] == pytest.approx(1.0, rel=0.01)
    assert slow.arrival(0.0, 0.01, 160, 0.0)[0] == pytest.approx(0.131, rel=0.01)
    whole = replace(slow, mode="request")
    assert whole.arrival(0.0, 1.0, 160, 0.0)[0] > slow.arrival(0.0, 1.0, 160, 0.0)[0]
    assert slow.arrival(0.0, 0.01, 160, 5.0)[0] > 5.0, "the link is still busy"


def test_aggregated_blocks_are_sent_in_fewer_pieces() -> None:
    by_request = Transfer("request", layers=40)
    assert by_request.calls(160) == 80 * replace(by_request, mode="aggregated").calls(160)


def test_only_what_the_decoding_engine_lacks_is_sent() -> None:
    load = Workload(1, 1.0, Lengths(64), Lengths(17), turns=4, think=1.0)
    moved = []
    for reuses in (True, False):
        fleet = SplitFleet(engines(1), engines(1), SplitPolicy(reuses=reuses))
        fleet.run(load.demands())
        moved.append(fleet.moved)
    demands = load.demands()
    assert moved[1] == sum(len(demand.prompt) for demand in demands)
    # Beyond the tokens that are new in each turn, at most one block is not shared.
    assert moved[0] <= len(demands[-1].prompt) + 16 * 4


def test_a_deposit_is_a_hit_and_evicts_only_what_is_cached() -> None:
    (engine,) = replace_blocks(4)
    engine.deposit(text(1, 64))
    tree = engine.scheduler.tree
    assert tree is not None
    assert tree.match(None, text(1, 64), 64).depth == 4
    engine.deposit(text(2, 32))
    assert tree.match(None, text(2, 32), 32).depth == 2
    assert tree.match(None, text(1, 64), 64).depth == 2
    engine.scheduler.check()  # type: ignore[attr-defined]
    assert engine.scheduler.pool.cached == 4


def replace_blocks(blocks: int) -> list[SimulatedEngine]:
    return [replace(SMALL, blocks=blocks, max_running=2).engine(COSTS)]


def test_refused_requests_are_not_served() -> None:
    fleet = SplitFleet(
        engines(1),
        engines(1),
        SplitPolicy(
            admits=lambda _, demand: demand.number % 3 != 0,
            rechecks=lambda _, demand: demand.number % 3 != 1,
        ),
    )
    served = fleet.run(replace(LOAD, output=Lengths(12)).demands())
    assert [one.refused for one in served] == [one.demand.number % 3 < 2 for one in served]
    assert all((one.wasted > 0) == (one.demand.number % 3 == 1) for one in served)
    assert all(one.whole != one.refused for one in served)
