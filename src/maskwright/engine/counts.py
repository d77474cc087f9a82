"""What an engine has counted in its steps."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Counts:
    """Counts of what has happened so far; `EngineStats` has each of them.

    `steps`: forwards, of which `device_steps` were computed in a row on the device. `computed`:
    tokens that went through the forward. `sampled`: tokens drawn from logits. `forced`: tokens that
    a grammar forced. `drafted`, `accepted`: draft tokens proposed and accepted, of
    which `model_drafted` and `model_accepted` came from a draft model. `held`: rows of logits kept
    in a step because their mask was not there; `late`: rows that were kept, each once. `idle`:
    rows dropped because their request had ended or been extended. `mask_rows`: masks filled by
    grammars, of which `mask_hits` were in the cache.
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
