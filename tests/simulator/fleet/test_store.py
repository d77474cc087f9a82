"""What is fetched instead of computed: it is found where it was kept, and it takes its time."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from maskwright_sim.costs.linear import LinearCosts
from maskwright_sim.fleet.routing import ByRouter
from maskwright_sim.fleet.split import SplitFleet, SplitPolicy
from maskwright_sim.fleet.store import Conductor, Tier, TieredStore
from maskwright_sim.load.demand import Demand, text
from maskwright_sim.outcome.served import Served
from maskwright_sim.policy.choice import EngineSettings

SETTINGS = EngineSettings(
    policy="splitfuse", chunk=256, blocks=60, max_batch_tokens=256, host_blocks=400
)
COSTS = LinearCosts(fixed=0.0, row=0.0, token=0.001)
LONG = tuple(text(7, 97))
"""Six whole blocks and a token."""


def store(*blocks: int) -> TieredStore:
    """Tiers. Each takes 10 ms for a block more than the one before."""
    tiers = [Tier(str(n), size, 100 / (n + 1)) for n, size in enumerate(blocks)]
    return TieredStore(tiers, kv_bytes=1 / 16)


def test_blocks_fall_from_tier_to_tier() -> None:
    kept = store(2, 3)
    kept.keep(LONG)
    # The last of six blocks has fallen out; the first two are in the first tier.
    assert kept.find(LONG, 0) == (80, pytest.approx(2 * 0.01 + 3 * 0.02))
    assert kept.find(LONG, 64) == (80, pytest.approx(0.02))
    kept.keep(text(8, 32))
    assert kept.find(LONG, 0) == (48, pytest.approx(3 * 0.02)), "the last two of five fell out"
    assert kept.find(text(8, 33), 0) == (32, pytest.approx(0.02))


def test_a_block_is_found_only_after_what_it_followed() -> None:
    kept = store(20)
    kept.keep(LONG)
    assert kept.find((*text(9, 16), *LONG[16:]), 0) == (0, 0.0)
    assert kept.find(LONG[:96], 0)[0] == 80, "one token is left to compute"


def serve(prompts: list[tuple[int, ...]], machines: int, policy: SplitPolicy) -> list[Served]:
    """Each prompt is asked for a second after the one before."""
    prefills = [SETTINGS.engine(COSTS) for _ in range(machines)]
    decode = replace(SETTINGS, policy="orca", reserves=False).engine(COSTS)
    demands = [Demand(n, float(n), prompt, 2) for n, prompt in enumerate(prompts)]
    return SplitFleet(prefills, [decode], policy).run(demands)


class InTurn:
    """Engine after engine."""

    def choose(self, demand: Demand, engines: object) -> int:
        return demand.number


@pytest.mark.parametrize(("by_layer", "seconds"), [(True, 0.06), (False, 0.061)])
def test_a_step_waits_for_what_is_fetched(by_layer: bool, seconds: float) -> None:
    """Six blocks of 10 ms each, beside one token of 1 ms or before it."""
    engines = [replace(SETTINGS, by_layer=by_layer).engine(COSTS) for _ in range(2)]
    policy = SplitPolicy(prefill=InTurn(), store=store(6))
    decode = replace(SETTINGS, policy="orca", reserves=False).engine(COSTS)
    served = SplitFleet(engines, [decode], policy).run(
        [Demand(n, float(n), LONG, 2) for n in range(2)]
    )
    assert [one.ttft for one in served] == [pytest.approx(0.097), pytest.approx(seconds)]
    assert [one.cached for one in served] == [0, 96]


def test_what_another_engine_knows_is_copied_if_that_pays() -> None:
    cheap = Conductor(per_token=0.001, per_copied=0.0001)
    served = serve([LONG] * 3, 3, SplitPolicy(prefill=InTurn(), conductor=cheap))
    assert [one.cached for one in served] == [0, 96, 96]
    assert served[1].ttft == pytest.approx(0.0096)
    for conductor in (replace(cheap, copies=False), replace(cheap, per_copied=0.01)):
        served = serve([LONG] * 2, 2, SplitPolicy(prefill=InTurn(), conductor=conductor))
        assert [one.cached for one in served] == [0, 0]


def test_little_more_than_is_known_is_computed() -> None:
    conductor = Conductor(0.001, 0.0001)
    served = serve(
        [LONG, LONG[:81], LONG[:80] + tuple(text(1, 9))],
        2,
        SplitPolicy(prefill=OneOfTwo(), conductor=conductor),
    )
    # The second engine knows 80 of the 80 tokens that the first one knows.
    assert [one.cached for one in served] == [0, 80, 80]
    assert served[2].ttft == pytest.approx(0.009)


def test_the_router_counts_what_all_engines_can_fetch() -> None:
    """One engine has four blocks and a queue. What the other one fetches instead costs less."""
    engines = [SETTINGS.engine(COSTS) for _ in range(2)]
    engines[0].deposit(list(LONG[:64]))
    waiting = Demand(6, 0.0, tuple(text(3, 50)), 1)
    engines[0].add(waiting.sequence(), waiting.answer)
    demand, kept = Demand(5, 0.0, LONG, 1), store(20)
    assert ByRouter(prefill_rate=1000.0, store=kept).choose(demand, engines) == 0
    kept.keep(LONG)
    assert ByRouter(prefill_rate=1000.0, store=kept).choose(demand, engines) == 1
    assert ByRouter(prefill_rate=1000.0).choose(demand, engines) == 0


class OneOfTwo:
    """The first engine for the first request, and the second one for all others."""

    def choose(self, demand: Demand, engines: object) -> int:
        return min(1, demand.number)


def test_the_conductor_weighs_queue_computing_and_copying() -> None:
    engines = [SETTINGS.engine(COSTS) for _ in range(2)]
    engines[0].deposit(list(LONG[:96]))
    demand = Demand(5, 0.0, LONG, 1)
    conductor = Conductor(0.001, 0.0001)
    assert conductor.choose(demand, engines) == 0
    waiting = Demand(6, 0.0, tuple(text(3, 50)), 1)
    engines[0].add(waiting.sequence(), waiting.answer)
    assert conductor.choose(demand, engines) == 1
    assert conductor.source(demand, engines, 1) == 0
    assert replace(conductor, copies=False).choose(demand, engines) == 0
