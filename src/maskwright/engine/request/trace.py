"""The times and counts of one request: a `Record` while it runs, a `Trace` when it has ended.

The engine's observations are counted independently, step by step. The sums over all traces must
equal them, which the tests check.
"""

from __future__ import annotations

from dataclasses import dataclass

from maskwright.engine.request.progress import Progress
from maskwright.engine.request.request import FinishReason
from maskwright.engine.stats import Observations


@dataclass(frozen=True, slots=True)
class Trace:
    """The times and counts of a request that has ended. Times are in milliseconds; None if the
    request ended before that part began.

    - `compile_ms`: from submission until the grammar was compiled, if it was not compiled yet.
    - `queue_ms`: from then until the request was first admitted to a batch.
    - `prefill_ms`: from then until the model's first token was drawn, or until the end if none was,
      preemptions included.
    - `decode_ms`: from then until the end.
    - `ttft_ms`: from submission until the model's first token.
    - `tpot_ms`: mean time for each token after the first.
    - `longest_gap_ms`: longest time between two steps that gave the request tokens.
    - `paused_ms`: time for which the request was paused because its reader was slow. No other time
      includes it, except `total_ms`.
    - `total_ms`: the sum of `compile_ms`, `queue_ms`, `prefill_ms`, `decode_ms` and `paused_ms`.
    - `mask_ms`: time to fill masks.
    - `cached_tokens`: tokens of the prompt that were found in the prefix cache.
    - `sampled_tokens`, `forced_tokens`: tokens that were drawn, and that the grammar forced. Their
      sum may exceed `completion_tokens` by tokens that followed the end in the last step.
    - `drafted_tokens`, `accepted_tokens`: draft tokens, and the ones among them that were drawn.
    - `model_drafted_tokens`, `model_accepted_tokens`: the part of them from a draft model.
    - `shortened_at`: the first output token, counted from 0, that the token limit has changed; the
      number of the output tokens where it has only cut the output; None if neither.
    - `steps`: steps that gave the request tokens.
    - `mask_rows`, `mask_hits`: masks filled, and the ones among them that were cached.
    - `questions`: what was asked of the grammar's process, because it had not been learned.
    - `question_ms`: time in which such a question was open; the model may have computed meanwhile.
    - `late_rows`: rows of logits that were there before their mask.
    - `late_ms`: time for which such rows waited for their mask. This and `preempted_ms` are parts
      of `prefill_ms` and `decode_ms`, and don't overlap.
    - `preempted_ms`: time from a preemption until the request was given tokens again.
    - `reserved_kv_tokens`: positions that admission reserved for the request when it came: its
      prompt, and the 95th percentile of recent answers of its class.
    - `kv_blocks_peak`: most blocks that the request held in a step.
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
    shortened_at: int | None
    sampled_tokens: int
    forced_tokens: int
    drafted_tokens: int
    accepted_tokens: int
    model_drafted_tokens: int
    model_accepted_tokens: int
    steps: int
    preemptions: int
    reserved_kv_tokens: int
    kv_blocks_peak: int
    mask_rows: int
    mask_hits: int
    mask_ms: float
    questions: int
    question_ms: float
    late_rows: int
    late_ms: float
    preempted_ms: float
    compile_ms: float | None
    queue_ms: float
    prefill_ms: float | None
    decode_ms: float | None
    ttft_ms: float | None
    tpot_ms: float | None
    longest_gap_ms: float | None
    paused_ms: float
    total_ms: float


class Record(Progress):
    """The times and counts of a running request, in seconds. After the submission, only the
    engine's thread writes to it."""

    __slots__ = (
        *("accepted", "adapter", "cached", "compiling", "completion", "drafted", "model_accepted"),
        *("model_drafted", "peak", "preemptions", "prompt", "question_seconds", "questions"),
        *("reserved", "seed", "service", "shortened_at"),
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
        super().__init__(submitted_at)
        self.compiling = compiling
        self.prompt = prompt
        self.seed = seed
        self.service = service
        self.adapter = adapter
        self.shortened_at: int | None = None
        self.completion = self.cached = 0
        self.drafted = self.accepted = self.preemptions = self.peak = 0
        self.model_drafted = self.model_accepted = 0
        self.questions = self.reserved = 0
        self.question_seconds = 0.0

    def compiled(self, now: float, seen: Observations) -> None:
        """Record that the grammar, which was being compiled at submission, is ready."""
        self.compiling = False
        self.compiled_at = self.time_of(now)
        seen.compile.note(self.compiled_at - self.submitted_at)

    def answered(self, seconds: float, seen: Observations) -> None:
        """Record that a question to the grammar's process has been answered."""
        self.questions += 1
        self.question_seconds += seconds
        seen.question.note(seconds)

    def end(
        self,
        number: int,
        reason: FinishReason,
        now: float,
        seen: Observations,
        error: Exception | None = None,
    ) -> Trace:
        """Record that the request has ended, and return its trace."""
        self.resume(now)
        if self.compiling:
            self.compiled(now, seen)
        ended_at = self.end_waits(now)
        queued = (ended_at if self.admitted_at is None else self.admitted_at) - self.queued_at
        if self.admitted_at is None:
            seen.queue.note(queued)
        elif self.first_at is None:
            seen.prefill.note(ended_at - self.admitted_at)
        decode = tpot = None
        if self.first_at is not None:
            decode = ended_at - self.first_at
            seen.decode.note(decode)
            if (after := self.completion - self.first) > 0:
                tpot = decode / after
                seen.tpot.note(tpot)
        seen.total.note(now - self.submitted_at)
        seen.prompt_length.note(self.prompt)
        seen.output_length.note(self.completion)
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
            shortened_at=self.shortened_at,
            sampled_tokens=self.sampled,
            forced_tokens=self.forced,
            drafted_tokens=self.drafted,
            accepted_tokens=self.accepted,
            model_drafted_tokens=self.model_drafted,
            model_accepted_tokens=self.model_accepted,
            steps=self.steps,
            preemptions=self.preemptions,
            reserved_kv_tokens=self.reserved,
            kv_blocks_peak=self.peak,
            mask_rows=self.mask_rows,
            mask_hits=self.mask_hits,
            mask_ms=1000 * self.mask_seconds,
            questions=self.questions,
            question_ms=1000 * self.question_seconds,
            late_rows=self.late_rows,
            late_ms=1000 * self.late,
            preempted_ms=1000 * self.preempted,
            compile_ms=_ms(self.submitted_at, self.compiled_at),
            queue_ms=1000 * queued,
            prefill_ms=_ms(self.admitted_at, ended_at if self.first_at is None else self.first_at),
            decode_ms=None if decode is None else 1000 * decode,
            ttft_ms=_ms(self.submitted_at, self.first_at),
            tpot_ms=None if tpot is None else 1000 * tpot,
            longest_gap_ms=None if self.longest_gap is None else 1000 * self.longest_gap,
            paused_ms=1000 * self.paused,
            total_ms=1000 * (now - self.submitted_at),
        )


def _ms(start: float | None, end: float | None) -> float | None:
    return None if start is None or end is None else 1000 * (end - start)
