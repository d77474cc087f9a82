"""Simulator and engine decide alike: the same arrivals give the same plans, step by step."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from maskwright.engine import EngineConfig, Request
from maskwright.engine.kv.blocks import BlockPool
from maskwright.engine.schedule.plan import StepPlan
from maskwright.engine.schedule.scheduler import Scheduler
from maskwright.engine.schedule.sequence import Sequence
from maskwright.models import LoadedModel
from maskwright.sampling import SamplingParams
from maskwright_sim.costs.linear import LinearCosts
from maskwright_sim.engine.simulated_engine import PlanSummary, SimulatedEngine, summarize_plan
from maskwright_sim.engine.step_times import ExactStepTimeModel
from maskwright_sim.fleet.routing import ByRouter
from maskwright_sim.load.demand import Demand
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


@dataclass
class Run:
    """What engines did: the plans of each in the order of the steps, each of which all of them
    made; to which of them each request went; and the tokens that it was answered with."""

    plans: list[list[PlanSummary]]
    chosen: list[int] = field(default_factory=list)
    answers: dict[int, list[int]] = field(default_factory=dict)
    harnesses: list[Harness] = field(default_factory=list)

    @property
    def decisions(self) -> tuple[list[list[PlanSummary]], list[int]]:
        """What a simulation must decide alike."""
        return self.plans, self.chosen


def demand_of(number: int, request: Request) -> Demand:
    """A request as a routing sees it."""
    return Demand(number, 0.0, tuple(request.prompt), request.max_tokens)


def run_engines(
    loaded: LoadedModel, config: EngineConfig, arrivals: list[Arrival], count: int = 1
) -> Run:
    """Serve the arrivals by `count` engines, among which the router chooses."""
    harnesses = [Harness(loaded, config) for _ in range(count)]
    seen = [watched_plans(harness, config) for harness in harnesses]
    router = ByRouter(salt=harnesses[0].admission.salt(arrivals[0].request))
    run = Run([[] for _ in harnesses], harnesses=harnesses)
    todo = list(enumerate(arrivals))
    step = 0
    while todo or not all(harness.core.idle for harness in harnesses):
        while todo and todo[0][1].step <= step:
            number, arrival = todo.pop(0)
            run.chosen.append(router.choose(demand_of(number, arrival.request), harnesses))
            harnesses[run.chosen[-1]].add(arrival.request, number)
        for number, arrival in enumerate(arrivals):
            if arrival.gone == step:
                harnesses[run.chosen[number]].core.cancel(number)
        for harness, plans, mine in zip(harnesses, seen, run.plans, strict=True):
            harness.step()
            mine.append(summarize_plan(plans[-1], harness.scheduler))
        step += 1
    for harness in harnesses:
        for number, deltas in harness.deltas.items():
            run.answers[number] = [token for delta in deltas for token in delta.token_ids]
    return run


def watched_plans(harness: Harness, config: EngineConfig) -> list[StepPlan]:
    """Return the list to which each plan of the engine will be appended. Steps are taken to last
    as long as those of the simulation."""
    step_times = ExactStepTimeModel(config.max_batch_tokens, config.stall, COSTS)
    harness.core._step_times = step_times
    harness.scheduler._swap_pays = step_times.swap_pays
    seen: list[StepPlan] = []
    plan_step = harness.scheduler.plan

    def watched(budget: int | None = None) -> StepPlan:
        seen.append(plan_step(budget))
        return seen[-1]

    harness.scheduler.plan = watched
    return seen


def run_simulation(like: Run, config: EngineConfig, arrivals: list[Arrival]) -> Run:
    """As many simulated engines, from arrivals and lengths alone, without a model. An answer that
    was broken off is padded."""
    engines = [simulated(harness, config) for harness in like.harnesses]
    router = ByRouter()
    run = Run([[] for _ in engines])
    todo = list(enumerate(arrivals))
    live: dict[int, Sequence] = {}
    ranks = [item.name for item in config.classes]
    step = 0
    while todo or not all(engine.scheduler.idle for engine in engines):
        while todo and todo[0][1].step <= step:
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
            padding = [-1] * (asked.max_tokens - len(like.answers[number]))
            run.chosen.append(router.choose(demand_of(number, asked), engines))
            engines[run.chosen[-1]].add(sequence, like.answers[number] + padding)
        for number, arrival in enumerate(arrivals):
            if arrival.gone == step and number in live:
                engines[run.chosen[number]].end(live[number])
        for engine, mine in zip(engines, run.plans, strict=True):
            mine.append(summarize_plan(engine.step(), engine.scheduler))
        step += 1
    return run


def simulated(like: Harness, config: EngineConfig) -> SimulatedEngine:
    """An engine without a model, with a pool as large as that of `like`."""
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
    return SimulatedEngine(scheduler, step_times, COSTS, config.drafts, empty)


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**32))
def test_the_same_arrivals_give_the_same_plans(loaded: LoadedModel, seed: int) -> None:
    """Batches, blocks, copies, admissions, preemptions, swaps and evictions: all of invariant 14's
    first half. Arrivals and departures are by step, since steps of the engine take real time."""
    rng = random.Random(seed)
    arrivals, config = random_arrivals(rng), random_config(rng)
    run = run_engines(loaded, config, arrivals)
    assert run_simulation(run, config, arrivals).decisions == run.decisions


@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**32))
def test_the_router_chooses_alike_among_two_replicas(loaded: LoadedModel, seed: int) -> None:
    """The router reads the schedulers of two engines and of two simulated ones: requests go to the
    same replicas, which make the same plans."""
    rng = random.Random(seed)
    arrivals, config = random_arrivals(rng), random_config(rng)
    run = run_engines(loaded, config, arrivals, count=2)
    assert run_simulation(run, config, arrivals).decisions == run.decisions


def test_the_comparison_sees_a_difference(loaded: LoadedModel) -> None:
    """And the loads are such that something happens."""
    preempted = swapped = evicted = drafted = different = 0
    for seed in range(12):
        rng = random.Random(seed)
        arrivals, config = random_arrivals(rng), random_config(rng)
        run = run_engines(loaded, config, arrivals)
        [harness] = run.harnesses
        preempted += harness.scheduler.preemptions
        swapped += harness.scheduler.swaps
        drafted += harness.core.counts.accepted_tokens
        evicted += 0 if harness.scheduler.tree is None else harness.scheduler.tree.evictions
        other = replace(config, max_batch_tokens=config.max_batch_tokens + 3, stall=None)
        different += run_simulation(run, other, arrivals).plans != run.plans
    assert min(preempted, swapped, evicted, drafted) > 0
    assert different > 6


def test_the_comparison_of_replicas_sees_a_difference(loaded: LoadedModel) -> None:
    """Both replicas are chosen, by what they have cached among other things, and a request that
    goes elsewhere is noticed."""
    rng = random.Random(1)
    arrivals, config = random_arrivals(rng), replace(random_config(rng), prefix_cache=True)
    run = run_engines(loaded, config, arrivals, count=2)
    assert set(run.chosen) == {0, 1}
    without = run_simulation(run, replace(config, prefix_cache=False), arrivals)
    assert without.chosen != run.chosen, "what is cached plays no part"
    assert without.plans != run.plans
