"""A snapshot of an engine's counters and of what it holds."""

from __future__ import annotations

from dataclasses import dataclass, field

from maskwright.engine.distribution import Distribution


@dataclass(frozen=True, slots=True)
class EngineStats:
    """A snapshot of an engine. Blocks, requests and tokens are counted.

    - `batch_invariant`: whether the bits of logits are independent of the schedule; None until the
      engine's thread has tested it.
    - `blocks_used`, `blocks_cached`: blocks held by requests, and by the prefix cache alone.
    - `prefix_queries`, `prefix_hits`: tokens of prompts that were looked up in the prefix cache,
      and those that were found.
    - `swaps`: preemptions whose blocks were copied to the host's memory.
    - `finished`: requests by finish reason.
    - `seconds`: the time that steps have taken, by part (see `StepSeconds`).
    - `submitted`, `prompt_tokens`: requests that were not refused, and the tokens of their prompts.
    - `refused`: requests by the reason of their refusal: a full queue ("queue"), or an objective
      that they would have missed ("objective").
    - `positions_idle`: positions in the blocks of running requests that hold no token yet.
    - `prefill_queue_tokens`: tokens of prompts that are still to be computed, of all live requests.
    - `reserved_kv_tokens`: positions that admission reserves for all live requests.
    - `tiers`: counts of each store outside the pool, "host" and "disk", as far as there is one.
    - `observations`: histograms; see `Observations`. For all other counts see `Counts`.
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
    steps: int
    device_steps: int
    computed_tokens: int
    sampled_tokens: int
    forced_tokens: int
    drafted_tokens: int
    accepted_tokens: int
    model_drafted_tokens: int
    model_accepted_tokens: int
    held_rows: int
    late_rows: int
    idle_rows: int
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
    mask_rows: int
    mask_hits: int
    prefill_queue_tokens: int
    reserved_kv_tokens: int
    observations: dict[str, Distribution]
    tiers: dict[str, dict[str, int]] = field(default_factory=dict[str, dict[str, int]])
