"""The number of key/value blocks, and how the engine's memory is divided.

    weights + key/value blocks + swap + workspace + reserve <= memory

The workspace is the memory that a step of the largest batch needs in addition to the weights; the
reserve is for everything else in the process. The result is computed and reported at the start, so
that a machine with too little memory gives an error then, not in the middle of a request.
"""

from __future__ import annotations

import os
from functools import partial

from maskwright.engine.config import EngineConfig
from maskwright.errors import InputError
from maskwright.immutable import Immutable
from maskwright.kernels.kv_bytes import KvDtype
from maskwright.models import Decoder, LoadedModel
from maskwright.models.device import device_memory
from maskwright.models.graphs import MOST_ROWS
from maskwright.sizing.serving_plan import RESERVE, workspace_bytes
from maskwright.sizing.units import binary_size


class Capacity(Immutable):
    """The division of memory. All fields are in bytes, except `blocks`, `block_size` (positions)
    and `host_blocks`. `memory` is None if `blocks` or `kv_bytes` were given instead of a share of
    the memory. A draft model has as many blocks, of its own size."""

    weights: int
    workspace: int
    reserve: int
    block: int
    blocks: int
    block_size: int
    kv_dtype: KvDtype
    memory: int | None
    host_blocks: int = 0
    kv_host_bytes: int = 0
    draft_weights: int = 0
    draft_block: int = 0

    @property
    def positions(self) -> int:
        """The number of positions in all blocks."""
        return self.blocks * self.block_size

    def report(self) -> str:
        """The formula with its numbers, for people."""
        kind = "" if self.kv_dtype == "auto" else f" in {self.kv_dtype}"
        parts = (
            ("weights", self.weights),
            (f"{self.blocks} blocks of {self.block_size} tokens{kind}", self.blocks * self.block),
            ("swap", self.host_blocks * self.block),
            ("evicted blocks", self.kv_host_bytes),
            ("draft model", self.draft_weights + self.blocks * self.draft_block),
            ("workspace", self.workspace),
            ("reserve", self.reserve),
        )
        terms = " + ".join(f"{name} {binary_size(value)}" for name, value in parts if value)
        whole = binary_size(sum(value for _, value in parts))
        limit = "" if self.memory is None else f", of {binary_size(self.memory)} allowed"
        return f"{terms} = {whole}{limit}: {self.positions} tokens"


def plan_capacity(loaded: LoadedModel, config: EngineConfig, *, adapters: bool = False) -> Capacity:
    """Return the division of memory for `config`. With `adapters`, the reserve includes them.

    Raises `InputError` if the memory leaves no block, or has no room for the blocks asked for. The
    system would grant these at first, and end a process when they are used."""
    decoder = loaded.decoder
    weights, block = decoder.weight_bytes, decoder.block_bytes(config.block_size, config.kv_dtype)
    draft_weights = draft_block = 0
    if config.draft_model is not None:
        small = config.draft_model.decoder
        draft_weights = small.weight_bytes
        draft_block = small.block_bytes(config.block_size, config.kv_dtype)
    workspace = _workspace(decoder, config)
    reserve = RESERVE + (config.adapter_bytes if adapters else 0)
    _check_sizes(config, block)
    memory, host_blocks = None, config.swap_bytes // block
    whole = device_memory(decoder.device)
    # Of a GPU's memory, what is swapped out takes nothing.
    swapped = host_blocks * block + config.kv_host_bytes if whole is None else 0
    owner = "machine's" if whole is None else "GPU's"
    whole = machine_memory() if whole is None else whole
    blocks = config.blocks or config.kv_bytes // block
    if config.blocks is None and config.memory_fraction is not None:
        memory = int(whole * config.memory_fraction)
        taken = weights + draft_weights + workspace + reserve + swapped
        blocks = (memory - taken) // (block + draft_block)
        if blocks < 1:
            raise InputError(
                f"{config.memory_fraction:g} of the memory is {binary_size(memory)}; weights take "
                f"{binary_size(weights + draft_weights)}, a step {binary_size(workspace)}, "
                f"swap and evicted blocks {binary_size(swapped)}, everything else "
                f"{binary_size(reserve)}, which leaves no block of {binary_size(block)}.",
                param="memory_fraction",
            )
    asked = blocks * (block + draft_block) + swapped
    if weights + draft_weights + workspace + asked > whole:
        raise InputError(
            f"{blocks} blocks of {binary_size(block + draft_block)} and host memory of "
            f"{binary_size(swapped)} don't fit into the {owner} memory of "
            f"{binary_size(whole)} beside weights of "
            f"{binary_size(weights + draft_weights)} and steps of {binary_size(workspace)}; "
            "ask for less, or set memory_fraction.",
            param=_largest(config, blocks * block, host_blocks * block),
        )
    return Capacity(
        weights=weights,
        workspace=workspace,
        reserve=reserve,
        block=block,
        blocks=blocks,
        block_size=config.block_size,
        kv_dtype=config.kv_dtype,
        memory=memory,
        host_blocks=host_blocks,
        kv_host_bytes=config.kv_host_bytes,
        draft_weights=draft_weights,
        draft_block=draft_block,
    )


def _check_sizes(config: EngineConfig, block: int) -> None:
    """Raise `InputError` for a setting that is to hold blocks of so many bytes and holds none."""
    given = {
        "kv_bytes": config.kv_bytes if config.blocks is config.memory_fraction is None else None,
        "kv_host_bytes": config.kv_host_bytes or None,
        "kv_disk_bytes": None if config.kv_disk is None else config.kv_disk_bytes,
        "swap_bytes": config.swap_bytes or None,
    }
    for name, value in given.items():
        if value is not None and value < block:
            raise InputError(
                f"{name} is {value:,} bytes, and a block of {config.block_size} tokens takes "
                f"{block:,} ({binary_size(block)}).",
                param=name,
            )


def _largest(config: EngineConfig, pool: int, swap: int) -> str:
    """Return the name of the setting that asks for most of the memory."""
    of_pool = "kv_bytes" if config.blocks is None else "blocks"
    asked = {of_pool: pool, "swap_bytes": swap, "kv_host_bytes": config.kv_host_bytes}
    return max(asked, key=asked.__getitem__)


def _workspace(decoder: Decoder, config: EngineConfig) -> int:
    """Return an upper bound on the memory of a step of the largest batch, drafts included, and on
    what recorded steps keep for themselves."""
    of = partial(workspace_bytes, row_bytes=decoder.row_bytes, vocab_size=decoder.vocab_size)
    sampled = config.max_running * (1 + config.drafts)
    largest = of(batch_tokens=config.max_batch_tokens, sampled=sampled)
    if decoder.device.type == "cpu" or not (config.graphs and decoder.recordable):
        return largest
    rows = min(config.decode_rows, MOST_ROWS)
    return largest + of(batch_tokens=rows, sampled=rows)


def machine_memory() -> int:
    """Return the bytes of the machine's memory, or the limit of the control group if it is
    lower."""
    whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        with open("/sys/fs/cgroup/memory.max", encoding="ascii") as file:
            return min(whole, int(file.read()))
    except (OSError, ValueError):  # no such group, or "max"
        return whole
