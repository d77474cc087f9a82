"""Which sequences and tokens form a step."""

from __future__ import annotations

from maskwright.engine.schedule.plan import PlanBuilder
from maskwright.engine.schedule.sequence import Sequence
from maskwright.engine.schedule.tables import Tables
from maskwright.immutable import Immutable
from maskwright_sim.policy.policy_scheduler import PolicyScheduler


class StaticBatches(Immutable):
    """A batch is formed when the one before has ended with its last answer. A batch that is not
    full starts with what waits. Its prompts are computed in one step, however long it takes."""

    reserves: bool = True

    def compose(self, scheduler: PolicyScheduler, step: PlanBuilder) -> None:
        """The prompts of a new batch, or a token for each of its sequences."""
        if not scheduler.running:
            step.budget = sum(len(sequence.tokens) for sequence in scheduler.waiting)
            for sequence in scheduler.admit(step):
                scheduler.compute(sequence, sequence.pending, step)
        else:
            scheduler.decode(step)


class Orca(Immutable):
    """Iteration-level scheduling with selective batching (Yu et al., OSDI'22): in every step each
    running sequence gets its token, and newly admitted ones their whole prompt. Sequences are
    served in order of arrival, with the blocks of the longest possible answer reserved unless
    `reserves` is off."""

    reserves: bool = True

    def compose(self, scheduler: PolicyScheduler, step: PlanBuilder) -> None:
        """Decodes and whole prompts, up to the budget."""
        scheduler.decode(step)
        for sequence in scheduler.admit(step, whole=True):
            scheduler.compute(sequence, sequence.pending, step)


class PrefillFirst(Immutable):
    """A step has prompts or decodes, never both, and prompts go first (vLLM until its version
    0.4)."""

    reserves: bool = False

    def compose(self, scheduler: PolicyScheduler, step: PlanBuilder) -> None:
        """Whole prompts that wait, as many as fit into the budget; without any, decodes."""
        for sequence in scheduler.admit(step, whole=True):
            scheduler.compute(sequence, sequence.pending, step)
        if not step.counts:
            scheduler.decode(step)


class PromptsDisplace(Immutable):
    """A machine of Splitwise's mixed pool (Patel et al., ISCA'24): whole prompts first, as many as
    fit into the budget, and decodes beside them. Where memory or slots run out, a prompt preempts
    running answers, the newest first. After `patience` preemptions an answer has aged: it goes
    before prompts that arrived later, and is not preempted for one again. Without patience (0),
    answers never age."""

    patience: int
    reserves: bool = False

    def compose(self, scheduler: PolicyScheduler, step: PlanBuilder) -> None:
        """Prompts that wait and aged answers in order of arrival, then other answers; decodes."""
        for sequence in scheduler.admit(
            step, whole=True, order=self._key, displaces=self._displaces
        ):
            scheduler.compute(sequence, sequence.pending, step)
        scheduler.decode(step)

    def _key(self, sequence: Sequence, tables: Tables) -> tuple[float, float]:
        return (not (_is_new(sequence) or self._aged(sequence)), sequence.arrival)

    def _aged(self, sequence: Sequence) -> bool:
        return 0 < self.patience <= sequence.preemptions

    def _displaces(self, sequence: Sequence, running: Sequence) -> bool:
        return _is_new(sequence) and not _is_new(running) and not self._aged(running)


def _is_new(sequence: Sequence) -> bool:
    """Whether it is a prompt without a token of its answer."""
    return len(sequence.tokens) == sequence.prompt_length


class SplitFuse(Immutable):
    """Steps of at most `tokens` tokens (DeepSpeed-FastGen): decodes, then prompts. Long ones are
    split, and short ones fused until the step is full."""

    tokens: int
    reserves: bool = False

    def compose(self, scheduler: PolicyScheduler, step: PlanBuilder) -> None:
        """Decodes, running prompts, new prompts."""
        step.budget = min(step.budget, max(self.tokens, scheduler.decoding))
        scheduler.decode(step)
        for sequence in scheduler.in_prefill():
            _fill(scheduler, sequence, step, step.budget)
        for sequence in scheduler.admit(step):
            _fill(scheduler, sequence, step, step.budget)


class Sarathi(Immutable):
    """One chunk of one prompt in a step, with decodes piggybacked on it (Agrawal et al.). The step
    has at most `tokens` tokens. With `decay` below 1 the chunks of a prompt shrink by that factor
    from one to the next, down to `least` tokens."""

    tokens: int
    decay: float = 1.0
    least: int = 64
    reserves: bool = False

    def compose(self, scheduler: PolicyScheduler, step: PlanBuilder) -> None:
        """Decodes, and a chunk of the oldest prompt."""
        step.budget = min(step.budget, max(self.tokens, scheduler.decoding + 1))
        scheduler.decode(step)
        current = next(iter(scheduler.in_prefill()), None)
        if current is None:
            current = next(scheduler.admit(step, 1), None)
        if current is not None:
            _fill(scheduler, current, step, self._chunk(current))

    def _chunk(self, sequence: Sequence) -> int:
        """The length of the next chunk, from how much of the prompt has been computed."""
        size, done = float(self.tokens), sequence.computed
        while self.decay < 1 and done > 0 and size > self.least:
            done -= int(size)
            size = max(size * self.decay, float(self.least))
        return int(size)


def _fill(scheduler: PolicyScheduler, sequence: Sequence, step: PlanBuilder, most: int) -> None:
    """Compute as many pending tokens of a sequence as the budget and `most` allow."""
    count = min(sequence.pending - step.counts.get(sequence, 0), step.budget, most)
    if count > 0:
        scheduler.compute(sequence, count, step)
