"""What an engine counts, its histograms, and a snapshot of both and of what it holds."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Literal

from maskwright.engine.distribution import Distribution
from maskwright.engine.histogram import Histogram

SECONDS = (
    *(0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05),
    *(0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0),
)
"""Bucket bounds in seconds for times that a client waits."""

MASK_SECONDS = (1e-6, 2.5e-6, 5e-6, 1e-5, 2.5e-5, 5e-5, 1e-4, 2.5e-4, 5e-4, 1e-3, 1e-2, 0.1)

SIZES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0, 2048.0, 4096.0)
"""Bucket bounds for the tokens and sequences of a step."""

LENGTHS = (1.0, *(4.0**power for power in range(1, 10)))
"""Bucket bounds for the tokens of prompts and answers: powers of 4, up to 262,144."""

Part = Literal["draft", "plan", "forward", "sample"]
"""A part of a step, whose time is counted."""

_seconds = partial(Histogram, SECONDS)
_lengths = partial(Histogram, LENGTHS)
_sizes = partial(Histogram, SIZES)


@dataclass(frozen=True, slots=True)
class Observations:
    """The engine's histograms, which its thread writes, and any thread may read. Times are in
    seconds.

    - `compile`, `queue`, `prefill`, `decode`, `ttft`, `tpot`, `total`: times of requests, as in
      `Trace`. Only `total` includes pauses for slow readers.
    - `inter_token`: time between two steps that gave a request tokens.
    - `mask`: time to fill a mask; of masks that are filled together, the mean.
    - `question`: time from a question to a grammar process until its answer is taken in.
    - `step`, `tokens`, `sequences`: the time of a step, and the tokens and sequences computed in
      it; `decodes`: the sequences that decode, of steps that have some.
    - `prompt_length`, `output_length`: tokens of prompts and of answers, of requests that ended.
    """

    compile: Histogram = field(default_factory=_seconds)
    queue: Histogram = field(default_factory=_seconds)
    prefill: Histogram = field(default_factory=_seconds)
    decode: Histogram = field(default_factory=_seconds)
    ttft: Histogram = field(default_factory=_seconds)
    tpot: Histogram = field(default_factory=_seconds)
    total: Histogram = field(default_factory=_seconds)
    inter_token: Histogram = field(default_factory=_seconds)
    mask: Histogram = field(default_factory=partial(Histogram, MASK_SECONDS))
    question: Histogram = field(default_factory=_seconds)
    step: Histogram = field(default_factory=_seconds)
    tokens: Histogram = field(default_factory=_sizes)
    sequences: Histogram = field(default_factory=_sizes)
    decodes: Histogram = field(default_factory=_sizes)
    prompt_length: Histogram = field(default_factory=_lengths)
    output_length: Histogram = field(default_factory=_lengths)

    def read(self) -> dict[str, Distribution]:
        """All of them, by name."""
        return {item.name: getattr(self, item.name).read() for item in fields(self)}


class Stopwatch:
    """Adds up the parts of steps. It stands still while the engine waits, for `waited` seconds so
    far."""

    def __init__(self, waited: Callable[[], float]) -> None:
        parts = ("wait", "draft", "plan", "forward", "sample")
        self.seconds = dict.fromkeys(parts, 0.0)
        """What all steps so far have spent in each part: `wait` for post-step work, where the
        engine does nothing else, `draft` in the draft model, `plan` in the scheduler, deadlines
        included, `forward` in the model, `sample` in sampling. Without overlap, post-step work is
        part of `sample`."""
        self._waited = waited
        self._at = 0.0

    def now(self) -> float:
        """The time that it shows."""
        return time.perf_counter() - self._waited()

    def start(self) -> None:
        """Begin a part."""
        self._at = self.now()

    def lap(self, part: Part) -> None:
        """Count the time since the last call as one of `part`, and begin the next."""
        begun, self._at = self._at, self.now()
        self.seconds[part] += self._at - begun
        self.seconds["wait"] = self._waited()


@dataclass(slots=True)
class Counts:
    """Counts of what has happened so far.

    `steps`: forwards; `device_steps`: those that the device computed by itself. `computed`: tokens
    that went through the forward. `sampled`: tokens drawn from logits. `forced`: tokens that a
    grammar forced. `drafted`, `accepted`: draft tokens proposed and accepted; `model_drafted`,
    `model_accepted`: those from a draft model. `held`: rows of logits kept in a step because their
    mask was not there; `late`: rows that were kept, each once. `idle`: rows dropped because their
    request had ended or been extended. `mask_rows`: masks filled by grammars; `mask_hits`: those
    that were in the cache.
    """

    steps: int = 0
    device_steps: int = 0
    computed_tokens: int = 0
    sampled_tokens: int = 0
    forced_tokens: int = 0
    drafted_tokens: int = 0
    accepted_tokens: int = 0
    model_drafted_tokens: int = 0
    model_accepted_tokens: int = 0
    held_rows: int = 0
    late_rows: int = 0
    idle_rows: int = 0
    mask_rows: int = 0
    mask_hits: int = 0


@dataclass(slots=True, kw_only=True)
class EngineStats(Counts):
    """A snapshot of an engine. Blocks, requests and tokens are counted.

    - `batch_invariant`: whether the bits of logits are independent of the schedule; None until the
      engine's thread has tested it.
    - `blocks_used`, `blocks_cached`: blocks held by requests, and by the prefix cache alone.
    - `prefix_queries`, `prefix_hits`: tokens of prompts that were looked up in the prefix cache,
      and those that were found.
    - `swaps`: preemptions whose blocks were copied to the host's memory.
    - `finished`: requests by finish reason.
    - `seconds`: the time that steps have taken, by part (see `Stopwatch`).
    - `submitted`, `prompt_tokens`: requests that were not refused, and the tokens of their prompts.
    - `refused`: requests by the reason of their refusal: a full queue ("queue"), or an objective
      that they would have missed ("objective").
    - `positions_idle`: positions in the blocks of running requests that hold no token yet.
    - `prefill_queue_tokens`: tokens of prompts that are still to be computed, of all live requests.
    - `reserved_kv_tokens`: positions that admission reserves for all live requests.
    - `tiers`: counts of each store outside the pool, "host" and "disk", as far as there is one.
    - `observations`: histograms; see `Observations`.
    """

    healthy: bool
    batch_invariant: bool | None
    running: int
    waiting: int
    paused: int
    compiling: int
    block_size: int
    blocks_total: int
    blocks_used: int
    blocks_cached: int
    blocks_free: int
    prefix_queries: int
    prefix_hits: int
    evictions: int
    preemptions: int
    swaps: int
    finished: dict[str, int]
    seconds: dict[str, float]
    submitted: int
    refused: dict[str, int]
    prompt_tokens: int
    positions_idle: int
    prefill_queue_tokens: int
    reserved_kv_tokens: int
    observations: dict[str, Distribution]
    tiers: dict[str, dict[str, int]] = field(default_factory=dict[str, dict[str, int]])
