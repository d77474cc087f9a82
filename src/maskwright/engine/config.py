"""The settings of the engine."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeGuard

from maskwright.engine.schedule.service import CLASSES, ServiceClass
from maskwright.engine.tiers.eviction_order import STORE_POLICIES, StorePolicy
from maskwright.errors import InputError
from maskwright.kernels.kv_bytes import KV_DTYPES, KvDtype
from maskwright.settings import option

if TYPE_CHECKING:  # settings are checked before torch is imported
    from maskwright.models import LoadedModel

MEMORY: Final = "Memory"
BATCH: Final = "Batches and queues"
DECODING: Final = "Decoding"
_memory: Final = partial(option, group=MEMORY)
_batch: Final = partial(option, group=BATCH)
_decoding: Final = partial(option, group=DECODING)


@dataclass(frozen=True, slots=True)
class EngineConfig:
    """The settings of an engine, each described at its field. Raises `InputError` for an invalid
    one."""

    block_size: int = _memory(16, "Positions in a block of the key/value pool: 4, 8, 16, 32 or 64.")
    kv_bytes: int = _memory(
        256 * 2**20, "Memory for keys and values, such as 512MiB or 2GB.", is_size=True
    )
    memory_fraction: float | None = _memory(
        None,
        "Share of the machine's memory, between 0 and 1, for weights, workspace, keys and values "
        "together; it replaces --kv-bytes.",
    )
    """Blocks get what this share leaves after weights, workspace and reserve (see `Capacity`)."""
    blocks: int | None = _memory(
        None, "Number of blocks of keys and values. Default: what the memory holds."
    )
    kv_dtype: KvDtype = _memory(
        "auto",
        "Data type of keys and values: 'auto' is the model's own, the others are codes of eight "
        "bits with a scale for each token and head.",
    )
    """Codes take less memory and change logits a little, but keep them independent of the
    schedule."""
    prefix_cache: bool = _memory(
        True, "Reuse keys and values where prompts begin with the same tokens."
    )
    kv_host_bytes: int = _memory(
        0,
        "Host memory for blocks of keys and values that the prefix cache has no room for; 0 for "
        "none.",
        is_size=True,
    )
    kv_disk: Path | None = _memory(
        None,
        "Folder for blocks of ended requests, and others that memory has no room for. Servers of "
        "one machine may share it, and it outlasts them.",
    )
    kv_disk_bytes: int = _memory(
        4 * 2**30, "Most bytes of the files in the folder of --kv-disk.", is_size=True
    )
    kv_policy: StorePolicy = _memory(
        "lru",
        "Which block of a full store goes next: the one not used for longest (lru), or the one "
        "used least often (lfu).",
    )
    """See `EvictionOrder`."""
    swap_bytes: int = _memory(0, "Host memory for the blocks of preempted requests.", is_size=True)
    """They are copied there if this takes less time than computing them again. On a CPU, more
    blocks use this memory better."""
    adapter_bytes: int = _memory(
        256 * 2**20,
        "Memory for adapters. Where it is full, the least recently used is dropped.",
        is_size=True,
    )
    max_running: int = _batch(64, "Most requests in a step.")
    max_batch_tokens: int = _batch(
        512, "Most tokens in a step; longer prompts are computed in chunks."
    )
    stall: float | None = _batch(
        4.0, "Longest step that computes prompts, in multiples of a step of decodes alone."
    )
    """It bounds the chunks; None for no bound."""
    max_waiting: int = _batch(256, "Most requests in the queue; further ones are answered 429.")
    max_context: int | None = _batch(
        None, "Most tokens of prompt and answer together. Default: the model's limit."
    )
    reader_tokens: int = _batch(
        256, "Tokens that a reader may be behind before its request is paused."
    )
    reader_seconds: float = _batch(60.0, "Seconds after which a paused request is ended.")
    classes: tuple[ServiceClass, ...] = CLASSES
    """The classes of service, the best one first."""
    canonical: bool = _decoding(
        True,
        "Write text that the grammar forces in the tokenizer's own tokens, without asking the "
        "model for it.",
    )
    drafts: int = _decoding(
        6, "Most drafted tokens of a request in a step; 0 for no drafts. It doesn't change answers."
    )
    draft_model: LoadedModel | None = None
    """A smaller model with equal tokens, which proposes draft tokens where the lookup in the text
    finds none and drafting saves time."""
    overlap: bool = _decoding(False, "Compute masks and texts while the model computes.")
    device_steps: int | None = _decoding(
        None,
        "Decode steps that the device computes by itself at each launch, where all running "
        "requests allow that; the next launch doesn't wait for their tokens. 0 for none. It "
        "doesn't change answers. Default: 1 on a GPU, 0 on a CPU.",
    )
    graphs: bool = _decoding(
        True, "On a GPU, record decode steps as CUDA graphs on first need, and replay them."
    )
    threads: int | None = _decoding(
        None, "CPU threads of the model. Default: torch's choice, at most 4 for a small model."
    )

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
                f"classes are {names}; at least one is needed, and each name once.", param="classes"
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
            right = isinstance(value, int | float) and 0 < value < math.inf
            wanted = "a finite number above 0"
        case "stall":
            right, wanted = isinstance(value, int | float) and value > 1, "a number above 1"
        case "kv_disk":
            right, wanted = isinstance(value, Path), "a path"
        case "kv_policy":
            right, wanted = value in STORE_POLICIES, f"one of {', '.join(STORE_POLICIES)}"
        case "swap_bytes" | "kv_host_bytes":
            right, wanted = _whole(value) and value >= 0, "an integer, 0 or more"
        case "drafts" | "device_steps":
            right, wanted = _whole(value) and 0 <= value <= 64, "an integer from 0 to 64"
        case _:
            right, wanted = _whole(value) and value > 0, "a positive integer"
    if not right and not (value is None and optional):
        raise InputError(f"{name} is {value!r}; it must be {wanted}.", param=name)


def _whole(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)
