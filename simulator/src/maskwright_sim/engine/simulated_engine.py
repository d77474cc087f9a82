"""The engine without a model: the scheduler's own decisions over answers that are known
beforehand, on a clock that costs move on."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Sized
from dataclasses import dataclass, field
from typing import Protocol

from maskwright.engine.kv.blocks import BlockPool
from maskwright.engine.kv.prefix import PrefixTree
from maskwright.engine.request.drafts import LookBack
from maskwright.engine.schedule.plan import CopyDirection, StepPlan
from maskwright.engine.schedule.sequence import Sequence
from maskwright.engine.schedule.step_time import StepTimeModel
from maskwright_sim.costs.work import CostModel, work_of


class PlansSteps(Protocol):
    """What a simulated engine needs of a scheduler: `Scheduler` is one."""

    pool: BlockPool
    host: BlockPool
    tree: PrefixTree | None
    running: list[Sequence]
    preemptions: int

    @property
    def waiting(self) -> _Queue: ...
    @property
    def idle(self) -> bool: ...
    @property
    def decoding(self) -> int: ...
    @property
    def prefilled(self) -> int: ...
    def add(self, sequence: Sequence) -> None: ...
    def end(self, sequence: Sequence) -> None: ...
    def release(self, sequence: Sequence) -> None: ...
    def plan(self, budget: int | None = None) -> StepPlan: ...
    def commit(self, plan: StepPlan) -> None: ...
    def confirm(self, sequence: Sequence, tokens: list[int]) -> None: ...


class _Queue(Sized, Iterable[Sequence], Protocol): ...


@dataclass
class SimulatedEngine:
    """`most_drafts`: as of the engine's configuration; `empty`: tokens without text, which are
    never drafted. `step_times`: limits the tokens of a step as in the engine; None for schedulers
    that limit them themselves. `stages`: workers that share the layers; `flights`: plans that may
    be begun before the first of them is finished. `by_layer`: keys and values of a prompt that are
    fetched are waited for layer by layer, so that computing continues meanwhile."""

    scheduler: PlansSteps
    step_times: StepTimeModel | None
    costs: CostModel
    most_drafts: int = 0
    empty: frozenset[int] = frozenset()
    stages: int = 1
    flights: int = 1
    by_layer: bool = True
    now: float = 0.0
    answers: dict[int, list[int]] = field(default_factory=dict[int, list[int]])
    times: dict[int, list[float]] = field(default_factory=dict[int, list[float]])
    """When each token of each answer was there, in seconds of the simulated clock."""
    inbound: int = 0
    """Requests whose keys and values are on their way from another engine."""
    fetched: dict[int, float] = field(default_factory=dict[int, float])
    """When the keys and values will be there that are being fetched for a request."""
    steps: int = 0
    recomputed: int = 0
    """Tokens of prompts and answers that were computed again after a preemption."""
    used: float = 0.0
    """Blocks in use, summed over the seconds of all steps."""
    busy: float = 0.0
    """Seconds of all steps."""
    _imported: set[int] = field(default_factory=set[int])
    """Blocks of the host's pool that came from other engines; their copies have been paid for."""
    _drafters: dict[int, LookBack] = field(default_factory=dict[int, LookBack])
    _begun: deque[tuple[StepPlan, float]] = field(default_factory=deque[tuple[StepPlan, float]])

    def add(self, sequence: Sequence, answer: list[int]) -> None:
        """A request arrives, and will be answered so."""
        self.answers[sequence.arrival] = answer
        self.times.setdefault(sequence.arrival, [])
        self._drafters[sequence.arrival] = LookBack(self.most_drafts)
        self.scheduler.add(sequence)
        sequence.draft = self._draft(sequence)

    def receive(self, sequence: Sequence, answer: list[int], times: list[float]) -> None:
        """A request arrives whose prompt another engine has computed, and whose first token came
        at `times`: its keys and values are in the host's pool, from where admission copies them.
        The caller has checked that the host's pool has room."""
        host = self.scheduler.host
        sequence.tokens += answer[:1]
        computed = len(sequence.tokens) - 1
        sequence.host = host.allocate(host.needed(computed))
        sequence.saved = computed
        self._imported.update(sequence.host)
        self.times[sequence.arrival] = times
        self.add(sequence, answer)

    def deposit(self, tokens: list[int]) -> None:
        """Keys and values of `tokens` arrive from another engine for the prefix tree: whole blocks
        that it lacks, as far as blocks can be taken from the cache."""
        tree, pool = self.scheduler.tree, self.scheduler.pool
        if tree is None:
            return
        size = pool.block_size
        node = tree.match(None, tokens, len(tokens))
        pool.share(held := tree.path(node))
        while (node.depth + 1) * size <= len(tokens) and pool.available:
            if not pool.free:
                tree.evict(1)
            start = node.depth * size
            (block,) = pool.allocate(1)
            held.append(block)
            node = tree.insert(node, tuple(tokens[start : start + size]), block)
        pool.release(held)
        tree.leave(node)

    def _copied(self, plan: StepPlan) -> int:
        """Blocks that the plan copies between the pools, without those that were received."""
        paid = {
            copy.source
            for copy in plan.copies
            if copy.direction is CopyDirection.IN and copy.source in self._imported
        }
        self._imported -= paid
        return plan.swapped - len(paid)

    def end(self, sequence: Sequence) -> None:
        """A request has ended, or its client is gone."""
        self.scheduler.end(sequence)
        self.scheduler.release(sequence)

    def step(self) -> StepPlan:
        """Plan a step, let its time pass, and take the tokens that come of it."""
        plan, seconds = self.begin()
        self.now += seconds
        self.finish()
        return plan

    def begin(self) -> tuple[StepPlan, float]:
        """Plan a step; returns it with its duration in seconds."""
        scheduler = self.scheduler
        budget = None
        if self.step_times is not None:
            budget = self.step_times.budget(scheduler.decoding, scheduler.prefilled)
        plan = scheduler.plan(budget)
        if plan.swapped and self.step_times is not None:
            self.step_times.observe_copies(plan.swapped, 0.0)
        copied = self._copied(plan) * scheduler.pool.block_size
        seconds = self._with_fetched(plan, self.costs.seconds(work_of(plan, copied)))
        self._begun.append((plan, seconds))
        self.busy += seconds
        self.used += seconds * scheduler.pool.used
        return plan, seconds

    def _with_fetched(self, plan: StepPlan, seconds: float) -> float:
        """The seconds of a step with those for which it waits for what is being fetched."""
        there = (self.fetched.pop(chunk.sequence.arrival, self.now) for chunk in plan.chunks)
        wait = max(there, default=self.now) - self.now
        return max(seconds, wait) if self.by_layer else seconds + max(0.0, wait)

    def withdraw(self) -> None:
        """Forget the step that was begun last, which has nothing to compute."""
        plan, seconds = self._begun.pop()
        assert not plan.chunks, "the step has work"
        self.busy -= seconds
        self.used -= seconds * self.scheduler.pool.used

    def finish(self) -> list[Sequence]:
        """Take the tokens of the earliest step that was begun and not finished, at the time `now`;
        returns the sequences that have ended with it."""
        (plan, seconds), scheduler = self._begun.popleft(), self.scheduler
        self.steps += 1
        self.recomputed += sum(
            c.count for c in plan.chunks if c.sequence.preemptions and not c.decodes
        )
        drafts = {chunk.sequence: chunk.sequence.draft[: chunk.drafted] for chunk in plan.chunks}
        scheduler.commit(plan)
        tokens, _, fresh, position = plan.totals
        chosen = [chunk.sequence for chunk in plan.chunks if chunk.samples]
        for sequence in chosen:
            self._choose(sequence, drafts[sequence])
        ended: list[Sequence] = []
        for sequence in chosen:
            if self._done(sequence) == len(self.answers[sequence.arrival]):
                self.end(sequence)
                ended.append(sequence)
            else:
                sequence.draft = self._draft(sequence)
        if self.step_times is not None:
            self.step_times.observe(tokens - fresh, fresh, seconds, position)
        return ended

    def _done(self, sequence: Sequence) -> int:
        return len(sequence.tokens) - sequence.prompt_length

    def _choose(self, sequence: Sequence, draft: list[int]) -> None:
        answer = self.answers[sequence.arrival][self._done(sequence) :]
        matched = 0
        while matched < len(draft) and draft[matched] == answer[matched]:
            matched += 1
        if draft:
            self._drafters[sequence.arrival].judge(len(draft), matched)
            sequence.judge(len(draft), matched)
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


def summarize_plan(plan: StepPlan, scheduler: PlansSteps) -> PlanSummary:
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
