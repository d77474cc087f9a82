"""The settings of the engine."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

from maskwright.engine.schedule.service import CLASSES, ServiceClass
from maskwright.engine.tiers.eviction_order import STORE_POLICIES, StorePolicy
from maskwright.errors import InputError
from maskwright.kernels.kv_bytes import KV_DTYPES, KvDtype

if TYPE_CHECKING:  # settings are checked before torch is imported
    from maskwright.models import LoadedModel


@dataclass(frozen=True, slots=True)
class EngineConfig:
    """The settings of an engine. Raises `InputError` for an invalid one.

    Memory:

    - `block_size`: positions in a block of keys and values.
    - `kv_bytes`: bytes for all blocks.
    - `memory_fraction`: replaces `kv_bytes`. Blocks get what this share of the machine's memory
      leaves after weights, workspace and reserve (see `Capacity`).
    - `blocks`: the number of blocks, which replaces both.
    - `kv_dtype`: the data type of keys and values. "auto" is the model's; "int8" and "fp8" are
      codes of eight bits with a scale for each token and head. Codes take less memory and change
      logits a little, but keep them independent of the schedule.
    - `prefix_cache`: keep the blocks of computed prefixes until their memory is needed.
    - `kv_host_bytes`: host memory for blocks that the prefix cache has no room for; 0 for none.
    - `kv_disk`: a folder for blocks that neither has room for, and for the blocks of requests that
      have ended. Servers of one machine may share it, and it survives them. None for none.
    - `kv_disk_bytes`: upper bound on the bytes of this folder.
    - `kv_policy`: which block of a full store goes next, see `EvictionOrder`.
    - `swap_bytes`: host memory for the blocks of preempted requests, which are copied there if this
      takes less time than computing them again. On a CPU, more blocks use this memory better.

    Batch:

    - `max_running`: most sequences in a step.
    - `max_batch_tokens`: most tokens in a step; longer prompts are computed in chunks.
    - `stall`: how many times as long as a step of decodes a step with prompts may take, which
      bounds the chunks; None for no bound.
    - `max_waiting`: most requests in the queue; further ones are refused.
    - `max_context`: most positions of a request; None for the model's limit.
    - `classes`: the classes of service, the best one first.

    Decoding:

    - `canonical`: write text that the grammar forces in the tokenizer's own tokens, without asking
      the model.
    - `drafts`: most draft tokens of a sequence in a step. It doesn't change the output; with 0,
      every token takes a step.
    - `draft_model`: a smaller model with equal tokens, which proposes draft tokens where the lookup
      in the text finds none and drafting saves time.
    - `overlap`: compute masks and texts in a thread of their own during the forward.
    - `device_steps`: most decode steps in a row that are computed on the device without the host,
      where all running requests allow that; 1 for none. It doesn't change the output.

    Others:

    - `reader_tokens`: tokens that a reader may be behind before its request is paused.
    - `reader_seconds`: seconds after which a paused request ends.
    - `graphs`: on a GPU, record decode steps as CUDA graphs at the start, and replay them.
    - `threads`: CPU threads of the forward; by default one for a small model, else torch's choice.
    - `adapter_bytes`: bytes for adapters in memory.
    """

    block_size: int = 16
    kv_bytes: int = 256 * 2**20
    memory_fraction: float | None = None
    blocks: int | None = None
    kv_dtype: KvDtype = "auto"
    prefix_cache: bool = True
    kv_host_bytes: int = 0
    kv_disk: Path | None = None
    kv_disk_bytes: int = 4 * 2**30
    kv_policy: StorePolicy = "lru"
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
    device_steps: int = 1
    reader_tokens: int = 256
    reader_seconds: float = 60.0
    graphs: bool = True
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
        if self.draft_model is not None:
            check_drafts_used(self.drafts)
        if not self.prefix_cache and (self.kv_host_bytes or self.kv_disk is not None):
            raise InputError(
                "Without the prefix cache no stored block is found; leave out kv_host_bytes and "
                "kv_disk, or keep the prefix cache.",
                param="prefix_cache",
            )
        names = [item.name for item in self.classes]
        if not names or len(set(names)) < len(names):
            raise InputError(
                f"classes are {names}; at least one is needed, and each name once.",
                param="classes",
            )

    @property
    def decode_rows(self) -> int:
        """Upper bound on the rows of a step that computes no prompts."""
        return min(self.max_running * (1 + self.drafts), self.max_batch_tokens)


def check_drafts_used(drafts: int) -> None:
    """Check the number of drafted tokens of an engine with a draft model. Raises `InputError`."""
    if not drafts:
        raise InputError(
            "With drafts 0 the draft model is never used; leave it out, or allow drafts.",
            param="drafts",
        )


def _check(name: str, value: object, *, optional: bool) -> None:
    """Check the value of one field; a service class or a model was checked when it was made."""
    match name:
        case "classes" | "draft_model":
            return
        case "prefix_cache" | "canonical" | "overlap" | "graphs":
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
        case "kv_disk":
            right, wanted = isinstance(value, Path), "a path"
        case "kv_policy":
            right, wanted = value in STORE_POLICIES, f"one of {', '.join(STORE_POLICIES)}"
        case "swap_bytes" | "kv_host_bytes":
            right, wanted = _whole(value) and value >= 0, "an integer, 0 or more"
        case "drafts":
            right, wanted = _whole(value) and 0 <= value <= 64, "an integer from 0 to 64"
        case "device_steps":
            right, wanted = _whole(value) and 1 <= value <= 64, "an integer from 1 to 64"
        case _:
            right, wanted = _whole(value) and value > 0, "a positive integer"
    if not right and not (value is None and optional):
        raise InputError(f"{name} is {value!r}; it must be {wanted}.", param=name)


def _seconds(value: object) -> bool:
    return isinstance(value, int | float) and 0 < value < math.inf


def _whole(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)
