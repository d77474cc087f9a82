"""Machines that change what they do: nothing is lost, and each does only what its role allows."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maskwright_sim.costs.linear import LinearCosts
from maskwright_sim.engine.simulated_engine import SimulatedEngine
from maskwright_sim.fleet.loads import work_by_phase
from maskwright_sim.fleet.pools import FlippingRoles, MixedPool, PhaseName, Pressure
from maskwright_sim.fleet.routing import Routing
from maskwright_sim.fleet.split import SplitFleet, SplitPolicy
from maskwright_sim.fleet.transfer import Transfer
from maskwright_sim.load.demand import Demand
from maskwright_sim.load.workloads import Lengths, Workload, in_turn
from maskwright_sim.outcome.served import Served
from maskwright_sim.policy.choice import EngineSettings

ROLES: tuple[PhaseName, ...] = ("prefill", "prefill", "decode", "decode")
SETTINGS = EngineSettings(
    policy="mixed", blocks=60, max_running=8, max_batch_tokens=256, host_blocks=4000
)
SHIFT = [
    Workload(25, 40.0, Lengths(200, "uniform"), Lengths(3)),
    Workload(25, 40.0, Lengths(10), Lengths(40, "uniform")),
]


class Watched:
    """A routing that notes the phases whose work each machine has at one time."""

    def __init__(self, inner: Routing) -> None:
        self._inner = inner
        self.at_once = [set[tuple[bool, bool]]() for _ in ROLES]

    def choose(self, demand: Demand, engines: Sequence[SimulatedEngine]) -> int:
        for seen, engine in zip(self.at_once, engines, strict=True):
            prompts, answers = work_by_phase(engine)
            seen.add((prompts > 0, answers > 0))
        return self._inner.choose(demand, engines)


def serve(
    machines: MixedPool | FlippingRoles, seed: int = 1
) -> tuple[list[Served], list[SimulatedEngine], list[set[tuple[bool, bool]]]]:
    """What became of the requests, the machines, and the phases whose work each had at one time."""
    engines = [SETTINGS.engine(LinearCosts()) for _ in ROLES]
    watched = Watched(machines.routing("prefill"))
    policy = SplitPolicy(
        prefill=watched,
        decode=machines.routing("decode"),
        transfer=Transfer("request", bandwidth=1e10),
    )
    served = SplitFleet(engines, engines, policy).run(in_turn(SHIFT, seed))
    return served, engines, watched.at_once


@settings(max_examples=15, deadline=None)
@given(st.booleans(), st.booleans(), st.integers(0, 400), st.integers(0, 8), st.integers(0, 99))
def test_every_request_is_answered(
    flips: bool, changes: bool, prompts: int, answers: int, seed: int
) -> None:
    pressure = Pressure(prompts, answers)
    served, engines, _ = serve(
        FlippingRoles(ROLES, pressure, flips=changes)
        if flips
        else MixedPool(ROLES, pressure, changes),
        seed,
    )
    assert len(served) == 50
    assert all(one.whole and one.times == sorted(one.times) for one in served)
    for engine in engines:
        engine.scheduler.check()  # type: ignore[attr-defined]
        assert engine.inbound == engine.scheduler.pool.used == engine.scheduler.host.used == 0


def test_a_machine_that_flips_has_one_role_at_a_time() -> None:
    roles = FlippingRoles(ROLES, Pressure(200, 4))
    _, _, at_once = serve(roles)
    assert roles.flipped >= 2
    assert not any((True, True) in seen for seen in at_once)
    assert any({(True, False), (False, True)} <= seen for seen in at_once)


def test_fixed_pools_compute_their_own_phase() -> None:
    for machines in (
        MixedPool(ROLES, Pressure(0, 0), mixes=False),
        FlippingRoles(ROLES, Pressure(0, 0), flips=False),
    ):
        served, _, _ = serve(machines)
        assert {one.replica for one in served} == {0, 1}
        assert {one.decoder for one in served} == {2, 3}


def test_the_mixed_pool_serves_what_is_too_much_for_a_phase() -> None:
    served, _, _ = serve(MixedPool(ROLES, Pressure(200, 4)))
    first, second = served[:25], served[25:]
    assert {2, 3} & {one.replica for one in first}, "prompts at token machines"
    assert {0, 1} & {one.decoder for one in second}, "answers at prompt machines"
    assert any(one.transfer == 0 and one.replica == one.decoder for one in served)


@pytest.mark.parametrize("phase", ["prefill", "decode"])
def test_the_shortest_queue_of_the_own_pool_comes_first(phase: PhaseName) -> None:
    engines = [SETTINGS.engine(LinearCosts()) for _ in ROLES]
    engines[0].inbound = engines[2].inbound = 1
    expected = {"prefill": 1, "decode": 3}
    assert MixedPool(ROLES, Pressure(10, 10)).choose(phase, engines) == expected[phase]
