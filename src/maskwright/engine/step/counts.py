"""What the steps of an engine have counted, and where their time went."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class StepSeconds:
    """Seconds that all steps so far have spent in each part: `wait` for post-step work, where the
    engine does nothing else, `draft` in the draft model, `plan` in the scheduler, deadlines
    included, `forward` in the model, `sample` in sampling. Without overlap, post-step work is part
    of `sample`."""

    wait: float = 0.0
    draft: float = 0.0
    plan: float = 0.0
    forward: float = 0.0
    sample: float = 0.0


@dataclass(slots=True)
class Counts:
    """Counts of what has happened so far.

    `steps`: forwards, of which `device_steps` were computed in a row on the device. `computed`:
    tokens that went through the forward. `sampled`: tokens drawn from logits. `forced`: tokens that
    a grammar forced. `drafted`, `accepted`: draft tokens proposed and accepted, of
    which `model_drafted` and `model_accepted` came from a draft model. `held`: rows of logits kept
    in a step because their mask was not there; `late`: rows that were kept, each once. `idle_rows`:
    rows dropped because their request had ended or been extended. `mask_rows`: masks filled by
    grammars, of which `mask_hits` were in the cache.
    """

    steps: int = 0
    device_steps: int = 0
    computed: int = 0
    sampled: int = 0
    forced: int = 0
    drafted: int = 0
    accepted: int = 0
    model_drafted: int = 0
    model_accepted: int = 0
    held: int = 0
    late: int = 0
    idle_rows: int = 0
    mask_rows: int = 0
    mask_hits: int = 0
