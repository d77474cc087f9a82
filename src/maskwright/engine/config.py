"""How much the engine may hold and do at once."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import TypeGuard

from maskwright.engine.schedule.service import CLASSES, ServiceClass
from maskwright.errors import InputError
from maskwright.kernels.kv_pool import KV_DTYPES, KvDtype
from maskwright.models import LoadedModel


@dataclass(frozen=True, slots=True)
class EngineConfig:
    """Validated at construction.

    Memory. `block_size`: positions a key/value block. `kv_bytes`: memory for all of them; with
    `memory_fraction` it is what this part of the machine's memory leaves beside weights and
    workspace (see `Capacity`); `blocks` gives their number. `kv_dtype`: keys and values in
    the model's data type ("auto"), or as codes of eight bits with a scale for each token and head
    ("int8", "fp8"): more tokens in the same memory, and logits that differ a little, by the same
    bits under any schedule. `prefix_cache` keeps computed prefixes in blocks that nobody needs.
    `swap_bytes`: host memory for the blocks of requests that gave way to others, where copying them
    out and back costs less than computing them again. On a CPU it is the same memory, which serves
    more as blocks.

    Batch. `max_running`: sequences in it. `max_batch_tokens`: tokens a step computes at most;
    longer prompts are computed in chunks. `stall`: how many times as long as a step of decodes
    alone one with prompts in it may take, which bounds the chunks; None for no bound.
    `max_waiting`: requests in the queue; one more is refused. `max_context`: positions a request
    may fill, None for the model's own limit. `classes` of service, the best first.

    Decoding. `canonical`: text that a grammar leaves no choice about is written as the tokenizer
    cuts it, without asking the model. `drafts`: most guesses a step about what a sequence goes on
    with; the tokens are the same with any number, and with 0 every token takes a step of its own.
    `draft_model`: a smaller model with the same tokens, which guesses where looking back finds
    nothing and its guesses are worth their time.
    `overlap`: masks and texts are made in a thread beside the forward.

    Clients. `reader_tokens`: tokens a reader may be behind before its request pauses;
    `reader_seconds`: how long it may pause. `threads`: CPU threads of the forward; None is one for
    a small model, else the library's choice. `adapter_bytes`: memory for adapters.
    """

    block_size: int = 16
    kv_bytes: int = 256 * 2**20
    memory_fraction: float | None = None
    blocks: int | None = None
    kv_dtype: KvDtype = "auto"
    prefix_cache: bool = True
    swap_bytes: int = 0
    max_running: int = 64
    max_batch_tokens: int = 512
    stall: float | None = 4.0
    max_waiting: int = 256
    max_context: int | None = None
    classes: tuple[ServiceClass, ...] = CLASSES
    canonical: bool = True
    drafts: int = 6
    draft_model: LoadedModel | None = None
    overlap: bool = False
    reader_tokens: int = 256
    reader_seconds: float = 60.0
    threads: int | None = None
    adapter_bytes: int = 256 * 2**20

    def __post_init__(self) -> None:
        for item in fields(self):
            optional = item.default is None or item.name == "stall"
            _check(item.name, getattr(self, item.name), optional=optional)
        if self.block_size not in {4, 8, 16, 32, 64}:
            raise InputError(
                f"block_size is {self.block_size}; it must be 4, 8, 16, 32 or 64.",
                param="block_size",
            )
        if self.max_batch_tokens < self.max_running:
            raise InputError(
                f"max_batch_tokens ({self.max_batch_tokens}) must be at least max_running "
                f"({self.max_running}), so that every running request can take a step.",
                param="max_batch_tokens",
            )
        if self.draft_model is not None and not self.drafts:
            raise InputError(
                "With drafts 0 nothing is guessed; leave draft_model out, or allow drafts.",
                param="drafts",
            )
        names = [item.name for item in self.classes]
        if not names or len(set(names)) < len(names):
            raise InputError(
                f"classes are {names}; at least one is needed, and each name once.",
                param="classes",
            )


def _check(name: str, value: object, *, optional: bool) -> None:
    """One field by its kind; those of other kinds check themselves."""
    match name:
        case "classes" | "draft_model":
            return
        case "prefix_cache" | "canonical" | "overlap":
            right, wanted = isinstance(value, bool), "true or false"
        case "kv_dtype":
            right, wanted = value in KV_DTYPES, f"one of {', '.join(KV_DTYPES)}"
        case "memory_fraction":
            right = isinstance(value, int | float) and 0 < value <= 1
            wanted = "a number above 0, 1 at most"
        case "reader_seconds":
            right, wanted = _seconds(value), "a finite number above 0"
        case "stall":
            right, wanted = isinstance(value, int | float) and value > 1, "a number above 1"
        case "swap_bytes":
            right, wanted = _whole(value) and value >= 0, "an integer, 0 or more"
        case "drafts":
            right, wanted = _whole(value) and 0 <= value <= 64, "an integer from 0 to 64"
        case _:
            right, wanted = _whole(value) and value > 0, "a positive integer"
    if not right and not (value is None and optional):
        raise InputError(f"{name} is {value!r}; it must be {wanted}.", param=name)


def _seconds(value: object) -> bool:
    return isinstance(value, int | float) and 0 < value < math.inf


def _whole(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)
