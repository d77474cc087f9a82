"""The engine without its thread: requests go in, each call runs one step, deltas come out.

With inline post-step work it is synchronous and deterministic. That is the reference, which tests
drive step by step. With post-step work in a thread the output tokens are equal, because they depend
on a request's own tokens, seed and grammar alone; only the steps at which they are sampled may
differ.
"""

from __future__ import annotations

import operator
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Literal, TypeAlias

from torch import Tensor

from maskwright.engine.draft.model import DraftModel
from maskwright.engine.kv.prefix import CacheHorizon
from maskwright.engine.on_device.steps import DeviceSteps, advances_by_one
from maskwright.engine.request.active import Active, Advance, Masks
from maskwright.engine.request.generation import Generation
from maskwright.engine.request.request import Delta, FinishReason, Request
from maskwright.engine.request.wake_ups import WakeUps
from maskwright.engine.schedule.batch_work import draft_pays
from maskwright.engine.schedule.plan import StepPlan
from maskwright.engine.schedule.scheduler import Scheduler
from maskwright.engine.schedule.step_time import StepTimeModel
from maskwright.engine.stats import Counts, Stopwatch
from maskwright.engine.step.flights import Flights, Landed
from maskwright.engine.step.plain_rows import PlainRows
from maskwright.engine.step.post_step import PostStepWork, StepResult
from maskwright.engine.step.rare_rows import RareRows, Sampled
from maskwright.engine.step.runner import Runner
from maskwright.engine.step.tiering import BlockTiers
from maskwright.errors import GenerationError, MaskwrightError
from maskwright.kernels.device import runs_kernels
from maskwright.sampling import score_prompt
from maskwright.sampling.chain import no_token

GRACE = 0.001
"""Upper bound in seconds on the wait for the next request to advance before a step is planned; it
begins anew with each that has."""

STRAGGLER = 0.05
"""Seconds to wait for a mask where a step has nothing to compute."""

LEAST_TIMEOUT = 1e-3
"""Seconds that a request is given elsewhere whose time is over at the moment of its hand-off."""


Act: TypeAlias = tuple[int, Callable[[], None]]
"""What is to be done for a row, and the number of its row of logits; -1 for one that was kept."""


class Core:
    """Owns every live request, and is the one place where requests end."""

    def __init__(
        self,
        scheduler: Scheduler,
        runner: Runner,
        post_step_work: PostStepWork,
        *,
        step_times: StepTimeModel | None = None,
        draft_model: DraftModel | None = None,
        tiers: BlockTiers | None = None,
        device_steps: DeviceSteps | None = None,
        reader_seconds: float = 60.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.scheduler = scheduler
        self.counts = Counts()
        self.finished: Counter[FinishReason] = Counter()
        self.watch = Stopwatch(lambda: post_step_work.waited)
        self.seen = post_step_work.seen
        self._runner = runner
        self._post_step_work = post_step_work
        self._step_times = step_times
        self._draft_model = draft_model
        self.tiers = tiers
        self.horizon = None if scheduler.tree is None else CacheHorizon(scheduler.tree)
        if tiers is not None:
            scheduler.arriving = tiers.arriving
        self._flights: Flights | None = None
        if device_steps is not None:
            self._flights = Flights(device_steps, scheduler, runner, self.watch.now)
        self._reader_seconds = reader_seconds
        self._clock = clock
        self._active: dict[int, Active] = {}
        self._advancing: dict[int, float] = {}
        """When each request began to advance, by `time.perf_counter`; 0 where it waits for an
        answer to a question."""
        self._plain = PlainRows()
        self._rare = RareRows(runner, self._active, self.counts, clock)

    @property
    def live(self) -> int:
        """Requests that have not ended."""
        return len(self._active)

    @property
    def idle(self) -> bool:
        """Whether there is nothing to do before a request, a reader or a deadline comes."""
        return (
            self.scheduler.idle
            and not self.scheduler.tables.transfers
            and not self._advancing
            and not self._flights
            and not self._rare.waiting
        )

    def next_deadline(self) -> float | None:
        """The time at which `expire` must be called at the latest; None for no deadline."""
        times = [a.sequence.deadline for a in self._active.values() if a.sequence.deadline]
        paused = (active.generation.record.paused_at for active in self._active.values())
        times += [at + self._reader_seconds for at in paused if at is not None]
        return min(times, default=None)

    # Requests come and go -----------------------------------------------------------------------

    def add(self, active: Active) -> None:
        """Add a request. One whose grammar allows nothing but the empty text ends at once, and so
        does one whose output was complete elsewhere already."""
        number = active.sequence.arrival
        self._active[number] = active
        self.scheduler.add(active.sequence)
        self._start(active, list(active.request.begun))
        self._settle()

    def cancel(self, number: int) -> None:
        """Cancel a request in whatever phase it is; nothing happens if it has ended."""
        self._end(number, FinishReason.CANCELLED)

    def snapshot(self, number: int) -> Request | None:
        """The request as another engine has to run it to go on with its output: with the seed that
        was drawn, the tokens so far, and the time that it has left. None if it has ended."""
        active = self._active.get(number)
        if active is None:
            return None
        request, deadline = active.request, active.sequence.deadline
        timeout = None if deadline is None else max(deadline - self._clock(), LEAST_TIMEOUT)
        params = replace(request.params, seed=active.generation.seed)
        # Tokens that are given have no scores, so an output with scores is generated anew.
        begun = () if params.logprobs is not None else active.output
        request = replace(request, params=params, timeout=timeout)
        return request.going_on(begun, active.shortened_at)

    def resume(self, number: int) -> None:
        """Resume a paused request, whose reader has gone on."""
        active = self._active.get(number)
        if active is not None:
            active.generation.record.resume(self._clock())
            self.scheduler.resume(active.sequence)

    def _pause(self, active: Active) -> None:
        """Pause a request whose reader is behind."""
        active.generation.record.pause(self._clock())
        self.scheduler.pause(active.sequence)

    def expire(self) -> None:
        """End requests whose deadline has passed, and those whose reader has been away too long."""
        now = self._clock()
        for sequence in self.scheduler.expired(now):
            self._end(sequence.arrival, FinishReason.TIMEOUT)
        for sequence in list(self.scheduler.paused):
            paused_at = self._active[sequence.arrival].generation.record.paused_at
            if paused_at is not None and now - paused_at >= self._reader_seconds:
                self._end(sequence.arrival, FinishReason.TIMEOUT)

    def fail_all(self, error: MaskwrightError) -> None:
        """End every live request with `error`. After a defect the scheduler's state may be
        inconsistent; the clients are notified of the end all the same."""
        for number, active in list(self._active.items()):
            try:
                self._end(number, FinishReason.ERROR, error)
            except Exception:  # the state that the defect left is inconsistent
                self.finish(active.generation, Delta("", (), FinishReason.ERROR, error))

    def finish(self, generation: Generation, last: Delta) -> None:
        """Count the end of a request and notify its client; also for a request that was never
        passed to `add`."""
        reason = last.finish_reason
        assert reason is not None
        self.finished[reason] += 1
        trace = generation.record.end(generation.id, reason, self._clock(), self.seen, last.error)
        generation.end(last, trace)

    def _end(self, number: int, reason: FinishReason, error: MaskwrightError | None = None) -> None:
        """End a request: remove it from the scheduler, close its stream, release its blocks, and
        then notify the client. Every end goes through here."""
        active = self._active.pop(number, None)
        if active is None:
            return
        self._advancing.pop(number, None)
        self._rare.forget(number)
        self.scheduler.end(active.sequence)
        last = active.close(reason, error)
        if self.tiers is not None:
            self.tiers.forget(active.sequence)
        self.scheduler.release(active.sequence)
        if self._draft_model is not None:
            self._draft_model.forget(active.sequence)
        active.note_end()
        self.finish(active.generation, last)

    def _fail(self, active: Active, error: Exception) -> None:
        """End a request with `error`, which is its grammar's if it isn't one of ours."""
        if not isinstance(error, MaskwrightError):
            ours = GenerationError(f"The grammar failed: {type(error).__name__}: {error}")
            ours.__cause__ = error  # the log shows its traceback
            error = ours
        self._end(active.sequence.arrival, FinishReason.ERROR, error)

    # A step -------------------------------------------------------------------------------------

    def step(self) -> None:
        """Run one step: plan, forward, sample. Results of post-step work are collected on the way:
        a request that has advanced before the plan takes part in it, and a row whose mask is there
        after the forward is sampled."""
        self.watch.start()
        self.expire()
        self.watch.lap("plan")
        self._await(self._expects_advance)
        self.watch.lap("sample")
        if self._decode_ahead():
            return
        self._guess()
        begun = self.watch.now()
        plan = self._plan()
        logits = self._compute(plan)
        self._sample_all(plan, logits)
        self._note_step(plan, self.watch.now() - begun)

    def _plan(self) -> StepPlan:
        """Plan a step, and note which requests it admits and preempts."""
        self.move_blocks()
        scheduler, times = self.scheduler, self._step_times
        most = None if times is None else times.budget(scheduler.decoding, scheduler.prefilled)
        plan = scheduler.plan(most)
        now = self._clock()
        for sequence in plan.admitted:
            self._active[sequence.arrival].generation.record.admitted(now, self.seen)
        for sequence in plan.preempted:
            self._active[sequence.arrival].generation.record.preempt(now)
        self.watch.lap("plan")
        return plan

    def _compute(self, plan: StepPlan) -> Tensor | None:
        """Move the blocks of a step and compute it. Returns the logits, None where it has no
        tokens."""
        begun = self.watch.now()
        self._runner.arrange(plan)
        if self._step_times is not None and plan.swapped:
            self._step_times.observe_copies(plan.swapped, self.watch.now() - begun)
        logits = self._runner.forward(plan) if plan.chunks else None
        if logits is not None:
            self._score_prompts(plan, logits)
        self.scheduler.commit(plan)
        self.watch.lap("forward")
        return logits

    def _await_rows(self, logits: Tensor | None) -> None:
        """Collect results of post-step work; where a step has computed nothing, wait for them, or
        for blocks that are being copied."""
        transfers = self.scheduler.tables.transfers
        copying = bool(transfers)
        moving = self.tiers is not None and self.tiers.waits
        nothing_to_do = logits is None and not (moving or copying or self._rare.can_sample)
        self._settle(STRAGGLER if nothing_to_do else 0.0)
        if logits is None and copying:
            transfers.wait()

    def _sample_all(self, plan: StepPlan, logits: Tensor | None) -> None:
        """Sample all rows whose masks are there, and go on with their tokens."""
        self._await_rows(logits)
        place: Literal["host", "device"] | None = None
        if logits is not None:
            place = "device" if runs_kernels(logits) else "host"
        others = self._plain.collect(plan.chunks, self._active, self._rare.held, place)
        with WakeUps.held():  # of requests whose text is published here
            sampled = self._rare.sample(others, logits)
            now = self._clock()
            acts: list[Act] = [(each.place, partial(self._choose, each, now)) for each in sampled]
            if logits is not None and len(self._plain):
                self._runner.draw_plain(logits, self._plain)
                acts += self._take_on(self._clock())
            # In the order of the plan, in which blocks become free where requests end.
            for _, act in sorted(acts, key=operator.itemgetter(0)):
                act()
        self._settle()
        self.watch.lap("sample")

    def _note_step(self, plan: StepPlan, seconds: float) -> None:
        """Count a step that has taken so many seconds, and learn from it how long steps take."""
        tokens, decodes, fresh, position = plan.totals
        if self._step_times is not None:
            self._step_times.observe(tokens - fresh, fresh, seconds, position)
        if self._draft_model is not None and tokens and not fresh:
            self._draft_model.length_model.observe_step(tokens, seconds)
        self.counts.steps += 1
        if self.horizon is not None:
            self.horizon.note(self._clock())
        if plan.chunks:
            self.counts.computed_tokens += tokens
            self.seen.tokens.note(tokens)
            self.seen.sequences.note(len(plan.chunks))
            if decodes:
                self.seen.decodes.note(decodes)
            self.seen.step.note(seconds)

    def move_blocks(self) -> None:
        """Note which copies between the pools have ended, and move blocks between the pool and the
        stores outside it, as far as running requests are not delayed. To be called between
        steps."""
        for transfer in self.scheduler.tables.collect():
            if self._step_times is not None and transfer.event is not None:
                self._step_times.observe_copies(len(transfer.blocks), transfer.event.seconds)
        if self.tiers is not None:
            self.tiers.move(self.scheduler.decoding)

    def _decode_ahead(self) -> bool:
        """Go on with what the device has drawn by itself, while it computes the next steps. False,
        with nothing done, where a request that runs doesn't allow such steps, or one may be
        admitted."""
        flights, scheduler = self._flights, self.scheduler
        if flights is None or not (flights or self._take_off(flights)):
            return False
        self.watch.lap("plan")
        if not scheduler.may_admit:
            flights.follow()
        landed = flights.read()
        self.watch.lap("forward")
        self._settle()
        if not flights:  # the device has nothing to do, and what is kept would be lost
            self._await(lambda: any(row.late and drawn.tokens for row, drawn in landed.rows))
        self._take_drawn(landed)
        self._settle()
        self._note_ahead(landed)
        self.watch.lap("sample")
        self.move_blocks()
        return True

    def _take_off(self, flights: Flights) -> bool:
        """Launch steps that the device computes by itself; False, with nothing done, where an
        ordinary step is needed. Masks that processes have been asked for are not waited for."""
        scheduler = self.scheduler
        if scheduler.may_admit or self._rare.held or 0.0 in self._advancing.values():
            return False
        if not all(map(advances_by_one, scheduler.running)):
            return False
        actives = self._await_masks()
        if not actives or any(active.masks is None for active in actives):
            return False
        return not draft_pays(scheduler.running) and flights.launch(actives)

    def _take_drawn(self, landed: Landed) -> None:
        """Go on with what the device has drawn. An error after some tokens comes again if the text
        gets there."""
        acts: list[Act] = []
        drawn: list[tuple[Active, list[int]]] = []
        for row, found in landed.rows:
            active, found = row.active, row.land(found)
            if found is None:
                continue
            if found.tokens:
                if found.rest or active.coming:
                    active.expect(found.tokens, found.rest)
                drawn.append((active, found.tokens))
            else:
                acts.append((-1, partial(self._fail, active, no_token(found.error))))
        self.scheduler.commit_ahead(active.sequence for active, _ in drawn)
        now = self._clock()
        acts += [(at, partial(self._go_on, *drawn[at], now)) for at in self._plain.land(drawn)]
        with WakeUps.held():
            acts += self._take_on(now)
            for _, act in sorted(acts, key=operator.itemgetter(0)):
                act()

    def _note_ahead(self, landed: Landed) -> None:
        """Count steps of a launch; a row that had stopped computed nothing that counts."""
        if self.horizon is not None:
            self.horizon.note(self._clock())
        self.counts.steps += landed.steps
        self.counts.device_steps += landed.steps
        for number in range(landed.steps):
            tokens = sum(len(drawn.tokens) > number for _, drawn in landed.rows)
            self.counts.computed_tokens += tokens
            self.seen.tokens.note(tokens)
            self.seen.sequences.note(tokens)
            self.seen.decodes.note(tokens)
            self.seen.step.note(landed.seconds)
        if self._step_times is not None:
            self._step_times.observe(len(landed.rows), 0, landed.seconds, 0.0)

    def _await(self, missing: Callable[[], bool]) -> None:
        """Collect results of post-step work, and wait up to `GRACE` for each next one while
        something is `missing`."""
        self._settle()
        if not missing():
            return
        deadline = time.perf_counter() + GRACE
        while missing() and (left := deadline - time.perf_counter()) > 0:
            if self._settle(left):
                deadline = time.perf_counter() + GRACE

    def _expects_advance(self) -> bool:
        """Whether a request may be about to advance: the plan waits for it. Not for one that has
        taken longer already, whose grammar may take seconds, nor for one whose grammar's process
        has been asked: all others would wait for the answer, which may come during the forward."""
        begin = time.perf_counter() - GRACE
        return any(at > begin for at in self._advancing.values())

    def _guess(self) -> None:
        """Have the draft model, if there is one, propose tokens for the decoding sequences. It
        needs their masks, so the step waits briefly for post-step work; sequences without a mask
        then go without a draft."""
        if self._draft_model is None:
            return
        for active, masks in self._draft_model.propose(self._await_masks()):
            self._note_masks(active, masks)
        self.watch.lap("draft")

    def _settle(self, wait: float = 0.0) -> int:
        """Act on the results of post-step work, waiting up to `wait` seconds for the first; returns
        their number."""
        if wait <= 0 and not self._post_step_work.has_results:
            return 0
        count = 0
        with WakeUps.held():  # of requests that end
            for active, result in self._post_step_work.collect(wait):
                count += 1
                number = active.sequence.arrival
                if self._active.get(number) is active:
                    self._act(number, active, result)
        return count

    def _act(self, number: int, active: Active, result: StepResult) -> None:
        match result:
            case Exception():
                self._fail(active, result)
            case Masks():
                active.masks = result
                self._note_masks(active, result)
                if active.generation.throttle():
                    self._pause(active)
            case Advance(reason, forced, draft):
                self._advancing.pop(number, None)
                self.counts.forced_tokens += len(forced)
                active.generation.record.forced += len(forced)
                self.scheduler.extend(active.sequence, forced)
                active.sequence.draft, active.sequence.by_model = list(draft), False
                if reason is not None:
                    self._end(number, reason)

    def _note_masks(self, active: Active, masks: Masks) -> None:
        if masks.rows:
            self.counts.mask_rows += masks.rows
            self.counts.mask_hits += masks.hits
            active.generation.record.filled(masks.rows, masks.hits, masks.seconds, self.seen)

    def _await_masks(self) -> list[Active]:
        """Wait briefly for the masks of the requests whose sequences decode, and return these."""

        def decoding() -> list[Active]:
            running = self.scheduler.running
            return [self._active[sequence.arrival] for sequence in running if sequence.decodes]

        self._await(lambda: any(active.masks is None for active in decoding()))
        return decoding()

    def _score_prompts(self, plan: StepPlan, logits: Tensor) -> None:
        """Score the tokens of prompts whose log-probabilities are wanted. A prompt is computed in
        several steps; the last of them ends its scores."""
        row = 0
        for chunk in plan.chunks:
            row += chunk.rows
            if not chunk.scored:
                continue
            sequence, active = chunk.sequence, self._active[chunk.sequence.arrival]
            start = chunk.start + chunk.count - chunk.scored
            end = min(start + chunk.scored, sequence.to_score)
            first = row - chunk.scored
            scores = score_prompt(
                logits[first : first + end - start],
                sequence.tokens[start + 1 : end + 1],
                active.request.prompt_logprobs or 0,
            )
            sequence.scored = end
            active.note_prompt(scores)

    def _take_on(self, now: float) -> list[Act]:
        """Take the plain rows, whose tokens are there, on to the next token; returns what is left
        to be done."""
        charge = self.scheduler.waiting.charge
        done = self._plain.go_on(now, self.seen, self.counts, charge)
        for sequence in done.settled:
            self.scheduler.tables.settle(sequence)
        for active in done.behind:
            self._pause(active)
        acts: list[Act] = [
            (place, partial(self._start, active, tokens)) for place, active, tokens in done.left
        ]
        acts += [
            (place, partial(self._fail, active, error)) for place, active, error in done.failed
        ]
        return acts

    def _choose(self, sampled: Sampled, now: float) -> None:
        """Accept sampled tokens up to the first that differs from the draft: rows after that were
        computed after a token that was not drawn (speculative decoding)."""
        _, active, draft, outcomes, unlimited = sampled
        tokens: list[int] = []
        for number, outcome in enumerate(outcomes):
            if isinstance(outcome, GenerationError):
                break  # of a draft row: it is sampled again if the text gets there, and fails then
            token, score = outcome
            if unlimited.get(number, token) != token:
                active.note_shortened(number)
            tokens.append(token)
            if score is not None:
                active.note_score(score, number)
            if number == len(draft) or token != draft[number]:
                break
        first = outcomes[0]
        if isinstance(first, GenerationError):
            self._fail(active, first)
            return
        if draft:
            accepted = sum(map(operator.eq, tokens, draft))
            active.judge(len(draft), accepted, self.counts)
            if active.sequence.by_model and self._draft_model is not None:
                self._draft_model.judge(active.sequence, len(draft), accepted)
        self._go_on(active, tokens, now)

    def _go_on(self, active: Active, tokens: list[int], now: float) -> None:
        """Append `tokens` that were drawn, and start the post-step work."""
        self.counts.sampled_tokens += len(tokens)
        active.generation.record.drew(len(tokens), now, self.seen)
        active.masks = None
        active.sequence.draft = []
        self.scheduler.confirm(active.sequence, tokens)
        self._start(active, tokens)

    def _start(self, active: Active, tokens: list[int]) -> None:
        """Start the post-step work of a request."""
        number = active.sequence.arrival
        self._advancing[number] = time.perf_counter()
        if not self._post_step_work.start(active, tokens):
            self._advancing[number] = 0.0
