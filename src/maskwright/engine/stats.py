"""What an engine has done and holds, as a snapshot."""

from __future__ import annotations

from dataclasses import dataclass

from maskwright.engine.observations import Distribution


@dataclass(frozen=True, slots=True)
class EngineStats:
    """A snapshot. Blocks, requests and tokens are counts; `finished` is by finish reason;
    `seconds` is the time steps have taken, by part (see `StepSeconds`).

    `blocks_used` are held by requests, `blocks_cached` by the prefix cache alone. `prefix_queries`
    and `prefix_hits` count tokens of prompts: looked for in the cache, and found. `swaps` are the
    preemptions whose blocks went to the host's memory. For the other counts see `Counts`.
    `submitted` requests, and the tokens of their prompts, were let in; `refused` were not, by
    reason: a full queue ("queue"), or an "objective" that would have been missed. `positions_idle`:
    positions in the blocks of running requests that hold nothing yet. For `observations` see
    `Observations`. `batch_invariant`: whether logits have the same bits under any schedule; None
    until the engine's thread has found out.
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
    computed_tokens: int
    sampled_tokens: int
    forced_tokens: int
    drafted_tokens: int
    accepted_tokens: int
    model_drafted_tokens: int
    model_accepted_tokens: int
    held_rows: int
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
    observations: dict[str, Distribution]
