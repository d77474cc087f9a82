"""The life of one request in numbers: noted while it runs (`Record`), told when it ends (`Trace`).

The engine's observations are counted beside this, step by step, so that both can be held against
each other: what all traces add up to is what the observations say.
"""

from __future__ import annotations

from dataclasses import dataclass

from maskwright.engine.observations import Observations
from maskwright.engine.request.request import FinishReason


@dataclass(frozen=True, slots=True)
class Trace:
    """A request that has ended. Times are milliseconds; None for a part of its life that it did not
    reach.

    From its submission: `compile_ms` until its grammar was there, if it came without; `queue_ms`
    from then until it was first admitted to a batch; `prefill_ms` until the model's first token was
    drawn (chunks of the prompt, and preemptions before that, counted in); `decode_ms` until the
    end. `ttft_ms` is from the submission to that first token, `tpot_ms` the mean time of a token
    after it, `longest_gap_ms` the longest between two steps that gave it tokens. All of these are
    what the engine took: the time in which the request stood still because its reader was behind is
    in none of them, but in `paused_ms` alone. `total_ms` is the sum of `compile_ms`, `queue_ms`,
    `prefill_ms`, `decode_ms` and `paused_ms`. `mask_ms`: filling its masks.

    `cached_tokens` of the prompt were found computed. Of the `completion_tokens`, `sampled_tokens`
    were drawn and `forced_tokens` followed from the grammar; both may count a few more, which came
    after the end in the same step. `drafted_tokens` were guessed, of which `accepted_tokens` were
    drawn; of both, `model_…` were a draft model's, the rest looked up. `steps` are those that gave
    it tokens. `mask_hits` of the `mask_rows` had been found before. `kv_blocks_peak`: most
    blocks held at once in a step.
    """

    id: int
    service: str
    adapter: str | None
    seed: int
    finish_reason: FinishReason
    error: str | None
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    sampled_tokens: int
    forced_tokens: int
    drafted_tokens: int
    accepted_tokens: int
    model_drafted_tokens: int
    model_accepted_tokens: int
    steps: int
    preemptions: int
    kv_blocks_peak: int
    mask_rows: int
    mask_hits: int
    mask_ms: float
    compile_ms: float | None
    queue_ms: float
    prefill_ms: float | None
    decode_ms: float | None
    ttft_ms: float | None
    tpot_ms: float | None
    longest_gap_ms: float | None
    paused_ms: float
    total_ms: float


class Record:
    """Notes on one request, in seconds; written by the engine's thread alone, after the submission.

    `paused_at` is of the engine's clock. Every other time is of a clock that stands still while the
    request is paused, so that no difference of two of them holds time in which it waited for its
    reader.
    """

    __slots__ = (
        *("submitted_at", "compiling", "compiled_at", "admitted_at", "first_at", "last_at"),
        *("longest_gap", "paused_at", "paused", "service", "seed", "steps", "preemptions", "peak"),
        *("prompt", "cached", "completion", "first", "sampled", "forced", "drafted", "accepted"),
        *("model_drafted", "model_accepted"),
        *("mask_rows", "mask_hits", "mask_seconds", "adapter"),
    )

    def __init__(
        self,
        submitted_at: float,
        *,
        prompt: int,
        seed: int,
        service: str = "",
        adapter: str | None = None,
        compiling: bool = False,
    ) -> None:
        self.submitted_at = submitted_at
        self.compiling = compiling
        self.prompt = prompt
        self.seed = seed
        self.service = service
        self.adapter = adapter
        self.compiled_at: float | None = None
        self.admitted_at: float | None = None
        self.first_at: float | None = None
        self.last_at = 0.0
        self.longest_gap: float | None = None
        self.paused_at: float | None = None
        self.paused = 0.0
        self.first = 0
        """Tokens of the output that were there with the first drawn one."""
        self.completion = self.cached = self.sampled = self.forced = 0
        self.drafted = self.accepted = self.steps = self.preemptions = self.peak = 0
        self.model_drafted = self.model_accepted = 0
        self.mask_rows = self.mask_hits = 0
        self.mask_seconds = 0.0

    def compiled(self, now: float, seen: Observations) -> None:
        """The grammar that was still being compiled at submission is there."""
        self.compiling = False
        self.compiled_at = self._worked(now)
        seen.compile.note(self.compiled_at - self.submitted_at)

    def admitted(self, now: float, seen: Observations) -> None:
        """The request is in a batch; only the first time counts."""
        if self.admitted_at is None:
            self.admitted_at = self._worked(now)
            seen.queue.note(self.admitted_at - self._queued_at)

    def drew(self, count: int, now: float, seen: Observations) -> None:
        """The model chose `count` tokens."""
        self.sampled += count
        self.steps += 1
        at = self._worked(now)
        if self.first_at is None:
            assert self.admitted_at is not None, "a token for a request that was never admitted"
            self.first_at = at
            self.first = self.forced + count
            seen.prefill.note(at - self.admitted_at)
            seen.ttft.note(at - self.submitted_at)
        else:
            gap = at - self.last_at
            if self.longest_gap is None or gap > self.longest_gap:
                self.longest_gap = gap
            seen.inter_token.note(gap)
        self.last_at = at

    def filled(self, rows: int, hits: int, seconds: float, seen: Observations) -> None:
        """Masks were filled: so many rows, of which `hits` had been found before."""
        self.mask_rows += rows
        self.mask_hits += hits
        self.mask_seconds += seconds
        seen.mask.note(seconds / rows, rows)

    def pause(self, now: float) -> None:
        """The reader is behind; nothing changes if it was already."""
        if self.paused_at is None:
            self.paused_at = now

    def resume(self, now: float) -> None:
        """The reader goes on."""
        if self.paused_at is not None:
            self.paused += now - self.paused_at
            self.paused_at = None

    def end(
        self,
        number: int,
        reason: FinishReason,
        now: float,
        seen: Observations,
        error: Exception | None = None,
    ) -> Trace:
        """The request is over; what its life was."""
        self.resume(now)
        if self.compiling:
            self.compiled(now, seen)
        ended_at = self._worked(now)
        queued = (ended_at if self.admitted_at is None else self.admitted_at) - self._queued_at
        if self.admitted_at is None:
            seen.queue.note(queued)
        decode = tpot = None
        if self.first_at is not None:
            decode = ended_at - self.first_at
            seen.decode.note(decode)
            if (after := self.completion - self.first) > 0:
                tpot = decode / after
                seen.tpot.note(tpot)
        seen.total.note(now - self.submitted_at)
        return Trace(
            id=number,
            service=self.service,
            adapter=self.adapter,
            seed=self.seed,
            finish_reason=reason,
            error=None if error is None else getattr(error, "code", type(error).__name__),
            prompt_tokens=self.prompt,
            cached_tokens=self.cached,
            completion_tokens=self.completion,
            sampled_tokens=self.sampled,
            forced_tokens=self.forced,
            drafted_tokens=self.drafted,
            accepted_tokens=self.accepted,
            model_drafted_tokens=self.model_drafted,
            model_accepted_tokens=self.model_accepted,
            steps=self.steps,
            preemptions=self.preemptions,
            kv_blocks_peak=self.peak,
            mask_rows=self.mask_rows,
            mask_hits=self.mask_hits,
            mask_ms=1000 * self.mask_seconds,
            compile_ms=_ms(self.submitted_at, self.compiled_at),
            queue_ms=1000 * queued,
            prefill_ms=_ms(self.admitted_at, self.first_at),
            decode_ms=None if decode is None else 1000 * decode,
            ttft_ms=_ms(self.submitted_at, self.first_at),
            tpot_ms=None if tpot is None else 1000 * tpot,
            longest_gap_ms=None if self.longest_gap is None else 1000 * self.longest_gap,
            paused_ms=1000 * self.paused,
            total_ms=1000 * (now - self.submitted_at),
        )

    def _worked(self, now: float) -> float:
        """The clock that stands still in pauses."""
        pausing = 0.0 if self.paused_at is None else now - self.paused_at
        return now - self.paused - pausing

    @property
    def _queued_at(self) -> float:
        return self.submitted_at if self.compiled_at is None else self.compiled_at


def _ms(start: float | None, end: float | None) -> float | None:
    return None if start is None or end is None else 1000 * (end - start)
