"""Every policy answers every request, keeps its blocks in order, and does what it is named for."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from maskwright.engine.schedule.plan import StepPlan
from maskwright_sim.costs.linear import LinearCosts
from maskwright_sim.fleet.fleet import run_engine
from maskwright_sim.load.demand import Demand, text
from maskwright_sim.policy.choice import POLICIES, EngineSettings, PolicyName
from maskwright_sim.policy.order import ORDERS, OrderName
from maskwright_sim.policy.policy_scheduler import PolicyScheduler, Preemption

SMALL = EngineSettings(
    blocks=40, block_size=4, max_running=4, max_batch_tokens=64, chunk=16, host_blocks=40
)


def random_demands(rng: random.Random) -> list[Demand]:
    shared = text(-99, 20)
    time, made = 0.0, list[Demand]()
    for number in range(rng.randint(1, 12)):
        time += rng.choice([0.0, 0.001, 0.05])
        prompt = shared[: rng.choice([0, 9, 20])] + text(number, rng.randint(1, 40))
        made.append(
            Demand(number, time, tuple(prompt), rng.randint(1, 30), 40, deadline=time + 0.1)
        )
    return made


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**32),
    st.sampled_from(POLICIES),
    st.sampled_from(list(ORDERS)),
    st.sampled_from(["recompute", "swap"]),
    st.booleans(),
    st.integers(1, 3),
)
def test_every_request_is_answered(
    seed: int,
    policy: PolicyName,
    order: OrderName,
    preemption: Preemption,
    cache: bool,
    stages: int,
) -> None:
    demands = random_demands(random.Random(seed))
    engine = replace(
        SMALL,
        policy=policy,
        order=order,
        preemption=preemption,
        prefix_cache=cache,
        stages=1 if policy == "ours" else stages,
    ).engine(LinearCosts())
    plan_step = engine.scheduler.plan

    def checked(budget: int | None = None) -> StepPlan:
        engine.scheduler.check()  # type: ignore[attr-defined]
        return plan_step(budget)

    engine.scheduler.plan = checked  # type: ignore[method-assign]
    served = run_engine(engine, demands)
    assert all(one.whole for one in served)
    assert engine.scheduler.idle
    assert engine.scheduler.pool.used == 0
    assert engine.scheduler.host.used == 0


def plans_of(policy: EngineSettings, demands: list[Demand]) -> list[StepPlan]:
    """The plans of all steps, with every request there from the start."""
    engine = policy.engine(LinearCosts())
    for demand in demands:
        engine.add(demand.sequence(), demand.answer)
    plans: list[StepPlan] = []
    while not engine.scheduler.idle:
        plans.append(engine.step())
    return plans


def ask(*lengths: tuple[int, int]) -> list[Demand]:
    return [
        Demand(number, 0.0, tuple(text(number, prompt)), output)
        for number, (prompt, output) in enumerate(lengths)
    ]


LARGE = replace(SMALL, blocks=1000, max_running=8, max_batch_tokens=256)


def test_a_static_batch_admits_nothing_before_it_has_ended() -> None:
    plans = plans_of(
        replace(LARGE, policy="static", max_running=4),
        ask((4, 3), (4, 8), (4, 2), (4, 5), (4, 4), (4, 6)),
    )
    # Slots in use: 18 of 32 in the first batch (the second text's example), then the other two.
    assert [plan.totals.tokens for plan in plans[1:8]] == [4, 3, 2, 2, 1, 1, 1]
    assert [len(plan.admitted) for plan in plans if plan.admitted] == [4, 2]
    assert sum(len(plan.chunks) for plan in plans[:8]) == 18


def test_orca_fills_a_free_slot_at_once() -> None:
    plans = plans_of(
        replace(LARGE, policy="orca", max_running=4),
        ask((4, 3), (4, 8), (4, 2), (4, 5), (4, 4), (4, 6)),
    )
    assert [len(plan.chunks) for plan in plans] == [4, 4, 4, 4, 4, 3, 2, 2, 1]  # 28 tokens


def test_prefill_first_never_mixes() -> None:
    for plan in plans_of(replace(LARGE, policy="prefill-first"), ask((90, 9), (150, 9), (90, 9))):
        assert len({chunk.decodes for chunk in plan.chunks}) == 1


def test_splitfuse_fills_every_step_while_prompts_wait() -> None:
    demands = ask((5, 9), (50, 9), (3, 9), (70, 9))
    plans = plans_of(replace(LARGE, policy="splitfuse"), demands)
    full = [plan.totals.tokens for plan in plans if not all(chunk.decodes for chunk in plan.chunks)]
    assert full[:-1] == [16] * (len(full) - 1)


def test_sarathi_computes_one_chunk_beside_decodes() -> None:
    plans = plans_of(replace(LARGE, policy="sarathi"), ask((5, 9), (50, 9), (3, 9), (70, 9)))
    for plan in plans:
        assert sum(not chunk.decodes for chunk in plan.chunks) <= 1
        assert plan.totals.tokens <= 16
    assert any(len({chunk.decodes for chunk in plan.chunks}) == 2 for plan in plans)


def test_decaying_chunks_shrink() -> None:
    settings = replace(LARGE, policy="sarathi-decaying", chunk=128, max_batch_tokens=256)
    plans = plans_of(settings, ask((500, 1)))
    assert [plan.totals.tokens for plan in plans] == [128, 64, 64, 64, 64, 64, 52]


@pytest.mark.parametrize(
    ("order", "first"),
    [
        ("fcfs", [0, 1, 2]),
        ("lifo", [2, 1, 0]),
        ("shortest-prefill", [1, 2, 0]),
        ("longest-prefill", [0, 2, 1]),
        ("deadline", [2, 0, 1]),
        ("cached", [0, 1, 2]),
    ],
)
def test_orders(order: OrderName, first: list[int]) -> None:
    settings = replace(LARGE, policy="orca", order=order, max_running=1)
    deadlines = (5.0, 6.0, 1.0)
    demands = [
        replace(demand, deadline=deadline)
        for demand, deadline in zip(ask((30, 2), (8, 2), (20, 2)), deadlines, strict=True)
    ]
    admitted = [s.arrival for plan in plans_of(settings, demands) for s in plan.admitted]
    assert admitted == first


def test_the_cached_order_prefers_what_is_in_the_tree() -> None:
    settings = replace(LARGE, policy="orca", order="cached", max_running=1)
    shared = text(7, 24)
    demands = [
        Demand(0, 0.0, tuple(shared), 2),
        Demand(1, 0.0, tuple(text(1, 24)), 2),
        Demand(2, 0.0, tuple(shared + text(2, 4)), 2),
    ]
    assert [s.arrival for plan in plans_of(settings, demands) for s in plan.admitted] == [0, 2, 1]


@pytest.mark.parametrize("preemption", ["recompute", "swap", "drop"])
def test_preemption_takes_the_newest(preemption: Preemption) -> None:
    settings = replace(
        SMALL, policy="prefill-first", preemption=preemption, blocks=16, prefix_cache=False
    )
    engine = settings.engine(LinearCosts())
    demands = ask((12, 25), (12, 25), (12, 25))
    served = run_engine(engine, demands)
    scheduler = engine.scheduler
    assert isinstance(scheduler, PolicyScheduler)
    assert scheduler.preemptions > 0
    assert served[0].whole, "the oldest is never preempted"
    assert (scheduler.swaps > 0) == (preemption == "swap")
    assert (scheduler.dropped > 0) == (preemption == "drop")
    assert all(one.whole for one in served) == (preemption != "drop")
    assert (engine.recomputed > 0) == (preemption == "recompute")


@pytest.mark.parametrize(("patience", "most"), [(1, 1), (3, 3), (0, 7)])
def test_prompts_displace_answers_until_these_have_aged(patience: int, most: int) -> None:
    """One sequence at a time has room. Short requests arrive during a long answer: each displaces
    it, until it was displaced `patience` times."""
    engine = replace(SMALL, policy="mixed", max_running=1, patience=patience).engine(LinearCosts())
    demands = [Demand(n, 0.04 * n, tuple(text(n, 8)), 4 if n else 40) for n in range(10)]
    preempted: list[int] = []
    plan_step = engine.scheduler.plan

    def noted(budget: int | None = None) -> StepPlan:
        plan = plan_step(budget)
        preempted.extend(sequence.arrival for sequence in plan.preempted)
        return plan

    engine.scheduler.plan = noted  # type: ignore[method-assign]
    assert all(one.whole for one in run_engine(engine, demands))
    assert max(map(preempted.count, preempted)) == most
