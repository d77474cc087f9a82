"""Simulator and engine decide alike: the same arrivals give the same plans, step by step."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from maskwright.engine import EngineConfig, Request
from maskwright.engine.kv.blocks import BlockPool
from maskwright.engine.schedule.plan import StepPlan
from maskwright.engine.schedule.scheduler import Scheduler
from maskwright.engine.schedule.sequence import Sequence
from maskwright.models import LoadedModel
from maskwright.sampling import SamplingParams
from maskwright.sim.costs.linear import LinearCosts
from maskwright.sim.engine.simulated_engine import PlanSummary, SimulatedEngine, summarize_plan
from maskwright.sim.engine.step_times import ExactStepTimeModel
from tests.engine.step.test_core import Harness

COSTS = LinearCosts()


@dataclass(frozen=True)
class Arrival:
    """Comes before step `step`; its client leaves before step `gone`, if it is still there."""

    step: int
    gone: int | None
    request: Request


def random_arrivals(rng: random.Random) -> list[Arrival]:
    shared = [rng.randrange(97, 123) for _ in range(24)]
    arrivals = []
    step = 0
    for _ in range(rng.randint(3, 14)):
        step += rng.choice([0, 0, 1, 6])
        prompt = shared[: rng.choice([0, 9, 24])]
        prompt = prompt + [rng.randrange(97, 123) for _ in range(rng.randint(1, 40))]
        asked = Request(
            prompt * rng.choice([1, 1, 2]),
            SamplingParams(
                temperature=rng.choice([0.0, 1.0]),
                logit_bias=rng.choice([{}, {}, {65: 90.0}]),  # so that some drafts come true
                seed=rng.getrandbits(60),
            ),
            max_tokens=rng.randint(1, 30),
            eos=(),
            service=rng.choice(["interactive", "agent", "batch"]),
            client=rng.choice("ab"),
        )
        gone = step + rng.randint(1, 30) if rng.random() < 0.15 else None
        arrivals.append(Arrival(step, gone, asked))
    return arrivals


def random_config(rng: random.Random) -> EngineConfig:
    block_size = rng.choice([4, 16])
    return EngineConfig(
        block_size=block_size,
        blocks=rng.choice([160, 240, 400]) // block_size,
        max_running=rng.choice([2, 4, 8]),
        max_batch_tokens=rng.choice([16, 40, 128]),
        stall=rng.choice([None, 1.5, 4.0]),
        prefix_cache=rng.random() < 0.8,
        drafts=rng.choice([0, 0, 6]),
        swap_bytes=rng.choice([0, 1 << 18]),
    )


def run_engine(
    loaded: LoadedModel, config: EngineConfig, arrivals: list[Arrival]
) -> tuple[list[PlanSummary], dict[int, list[int]], Harness]:
    harness = Harness(loaded, config)
    step_times = ExactStepTimeModel(config.max_batch_tokens, config.stall, COSTS)
    harness.core._step_times = step_times
    harness.scheduler._swap_pays = step_times.swap_pays
    seen: list[StepPlan] = []
    plan_step = harness.scheduler.plan

    def watched(budget: int | None = None) -> StepPlan:
        seen.append(plan_step(budget))
        return seen[-1]

    harness.scheduler.plan = watched
    plans: list[PlanSummary] = []
    todo = list(enumerate(arrivals))
    while todo or not harness.core.idle:
        while todo and todo[0][1].step <= len(plans):
            number, arrival = todo.pop(0)
            harness.add(arrival.request, number)
        for number, arrival in enumerate(arrivals):
            if arrival.gone == len(plans):
                harness.core.cancel(number)
        harness.step()
        plans.append(summarize_plan(seen[-1], harness.scheduler))
    answers = {
        number: [token for delta in deltas for token in delta.token_ids]
        for number, deltas in harness.deltas.items()
    }
    return plans, answers, harness


def run_simulation(
    like: Harness, config: EngineConfig, arrivals: list[Arrival], answers: dict[int, list[int]]
) -> list[PlanSummary]:
    """From arrivals and lengths alone, no model. An answer that was broken off is padded."""
    step_times = ExactStepTimeModel(config.max_batch_tokens, config.stall, COSTS)
    scheduler = Scheduler(
        BlockPool(config.blocks or 0, config.block_size),
        max_running=config.max_running,
        max_batch_tokens=config.max_batch_tokens,
        prefix_cache=config.prefix_cache,
        host_blocks=like.scheduler.host.total,
        swap_pays=step_times.swap_pays,
    )
    empty = frozenset(i for i, text in enumerate(like.admission._texts) if not text)
    simulation = SimulatedEngine(scheduler, step_times, COSTS, config.drafts, empty)
    plans: list[PlanSummary] = []
    todo = list(enumerate(arrivals))
    live: dict[int, Sequence] = {}
    ranks = [item.name for item in config.classes]
    while todo or not scheduler.idle:
        while todo and todo[0][1].step <= len(plans):
            number, arrival = todo.pop(0)
            asked = arrival.request
            live[number] = sequence = Sequence(
                number,
                list(asked.prompt),
                len(asked.prompt),
                len(asked.prompt) + asked.max_tokens,
                rank=ranks.index(asked.service),
                client=asked.client,
            )
            padding = [-1] * (asked.max_tokens - len(answers[number]))
            simulation.add(sequence, answers[number] + padding)
        for number, arrival in enumerate(arrivals):
            if arrival.gone == len(plans) and number in live:
                simulation.end(live[number])
        plan = simulation.step()
        plans.append(summarize_plan(plan, scheduler))
    return plans


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**32))
def test_the_same_arrivals_give_the_same_plans(loaded: LoadedModel, seed: int) -> None:
    """Batches, blocks, copies, admissions, preemptions, swaps and evictions: all of invariant 14's
    first half. Arrivals and departures are by step, since steps of the engine take real time."""
    rng = random.Random(seed)
    arrivals, config = random_arrivals(rng), random_config(rng)
    plans, answers, harness = run_engine(loaded, config, arrivals)
    assert run_simulation(harness, config, arrivals, answers) == plans


def test_the_comparison_sees_a_difference(loaded: LoadedModel) -> None:
    """And the loads are such that something happens."""
    preempted = swapped = evicted = drafted = different = 0
    for seed in range(12):
        rng = random.Random(seed)
        arrivals, config = random_arrivals(rng), random_config(rng)
        plans, answers, harness = run_engine(loaded, config, arrivals)
        preempted += harness.scheduler.preemptions
        swapped += harness.scheduler.swaps
        drafted += harness.core.counts.accepted
        evicted += 0 if harness.scheduler.tree is None else harness.scheduler.tree.evictions
        other = replace(config, max_batch_tokens=config.max_batch_tokens + 3, stall=None)
        different += run_simulation(harness, other, arrivals, answers) != plans
    assert min(preempted, swapped, evicted, drafted) > 0
    assert different > 6
