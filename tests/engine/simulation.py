"""The engine without a model: the scheduler's own decisions over answers that are known beforehand,
on a clock that costs move on. What a simulator of a fleet is made of."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from maskwright.engine.request.drafts import LookBack
from maskwright.engine.schedule.plan import StepPlan
from maskwright.engine.schedule.scheduler import Scheduler
from maskwright.engine.schedule.sequence import Sequence
from maskwright.engine.schedule.step_time import StepTimeModel

ACCEPTANCE_RATE = 0.3
COPY_SECONDS = 0.0002


@dataclass(frozen=True, slots=True)
class Costs:
    """Seconds of a step: before its first row, of a decoded token, of a prompt's."""

    fixed: float = 0.004
    row: float = 0.0005
    token: float = 0.0001

    def of(self, decoding: int, prompt: int) -> float:
        return self.fixed + self.row * decoding + self.token * prompt


class ExactStepTimeModel(StepTimeModel):
    """Believes in costs, whatever time has passed."""

    def __init__(self, most: int, stall: float | None, costs: Costs) -> None:
        super().__init__(most, stall)
        self._costs = costs

    def observe(self, decoding: int, prompt: int, seconds: float, position: float = 0.0) -> None:
        super().observe(decoding, prompt, self._costs.of(decoding, prompt), position)

    def observe_copies(self, blocks: int, seconds: float) -> None:
        super().observe_copies(blocks, COPY_SECONDS * blocks)


def measured_step_times(costs: Costs) -> StepTimeModel:
    """The step_times of an engine that has measured such a machine for a while."""
    step_times = StepTimeModel(256, 4.0)
    for rows in (1, 4, 8, 2, 6) * 20:
        step_times.observe(rows, 0, costs.of(rows, 0))
        step_times.observe(rows, 100, costs.of(rows, 100))
    return step_times


@dataclass
class Simulation:
    """`most_drafts`: as of the engine's configuration; `empty`: tokens without text, which are
    never drafted."""

    scheduler: Scheduler
    step_times: StepTimeModel
    costs: Costs
    most_drafts: int = 0
    empty: frozenset[int] = frozenset()
    now: float = 0.0
    answers: dict[int, list[int]] = field(default_factory=dict)
    times: dict[int, list[float]] = field(default_factory=dict)
    """When each token of each answer was there."""
    _drafters: dict[int, LookBack] = field(default_factory=dict)

    def add(self, sequence: Sequence, answer: list[int]) -> None:
        """A request arrives, and will be answered so."""
        self.answers[sequence.arrival] = answer
        self.times[sequence.arrival] = []
        self._drafters[sequence.arrival] = LookBack(self.most_drafts)
        self.scheduler.add(sequence)
        sequence.draft = self._draft(sequence)

    def end(self, sequence: Sequence) -> None:
        """A request has ended, or its client is gone."""
        self.scheduler.end(sequence)
        self.scheduler.release(sequence)

    def step(self) -> StepPlan:
        """Plan a step, let its time pass, and take the tokens that come of it."""
        scheduler = self.scheduler
        plan = scheduler.plan(self.step_times.budget(scheduler.decoding, scheduler.prefilled))
        if plan.swapped:
            self.step_times.observe_copies(plan.swapped, 0.0)
        drafts = {chunk.sequence: chunk.sequence.draft[: chunk.drafted] for chunk in plan.chunks}
        scheduler.commit(plan)
        fresh, position = plan.of_prompts
        self.now += self.costs.of(plan.tokens - fresh, fresh)
        chosen = [chunk.sequence for chunk in plan.chunks if chunk.samples]
        for sequence in chosen:
            self._choose(sequence, drafts[sequence])
        for sequence in chosen:
            if len(sequence.tokens) == sequence.limit:
                self.end(sequence)
            else:
                sequence.draft = self._draft(sequence)
        decoding = plan.tokens - fresh
        self.step_times.observe(decoding, fresh, self.costs.of(decoding, fresh), position)
        return plan

    def _choose(self, sequence: Sequence, draft: list[int]) -> None:
        done = len(sequence.tokens) - sequence.prompt_length
        answer = self.answers[sequence.arrival][done:]
        matched = 0
        while matched < len(draft) and draft[matched] == answer[matched]:
            matched += 1
        if draft:
            self._drafters[sequence.arrival].judge(len(draft), matched)
            sequence.acceptance += ACCEPTANCE_RATE * (matched / len(draft) - sequence.acceptance)
        sequence.draft = []
        tokens = answer[: matched + 1]
        self.scheduler.confirm(sequence, tokens)
        self.times[sequence.arrival] += [self.now] * len(tokens)

    def _draft(self, sequence: Sequence) -> list[int]:
        left = sequence.limit - len(sequence.tokens)
        if not self.most_drafts or left < 2:
            return []
        guesses = self._drafters[sequence.arrival].propose(sequence.tokens)[: left - 1]
        good = [token not in self.empty for token in guesses]
        return guesses[: good.index(False)] if False in good else guesses


PlanSummary = tuple[Hashable, ...]


def summarize(plan: StepPlan, scheduler: Scheduler) -> PlanSummary:
    """A plan, and where it leaves the pool, as values that can be compared."""
    return (
        tuple((c.sequence.arrival, c.start, c.count, c.samples, c.drafted) for c in plan.chunks),
        plan.copies,
        plan.fresh,
        tuple(s.arrival for s in plan.admitted),
        tuple(s.arrival for s in plan.preempted),
        None if scheduler.tree is None else scheduler.tree.evictions,
        tuple(sorted(s.arrival for s in scheduler.running)),
    )
