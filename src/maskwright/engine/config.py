"""How much the engine may hold and do at once."""

from __future__ import annotations

from dataclasses import dataclass, fields

from maskwright.errors import InputError

SMALL_MODEL = 64 * 2**20
"""Bytes of weights below which one thread decodes. The products of a 3 M-parameter model take tens
of microseconds, about what it costs to wake a second thread; where other processes use the cores,
waiting for it made steps 1.5 times as long (17 times with the 2-layer test model)."""


@dataclass(frozen=True, slots=True)
class EngineConfig:
    """Validated at construction.

    `block_size`: positions a key/value block. `kv_bytes`: memory for all of them, unless `blocks`
    gives their number. `max_running`: sequences in the batch. `max_batch_tokens`: tokens a step
    computes at most; longer prompts are computed in chunks. `max_waiting`: requests in the queue;
    one more is refused. `max_context`: positions a request may fill, None for the model's own
    limit. `threads`: CPU threads of the forward; None is one for a model below `SMALL_MODEL`, else
    the library's choice.
    """

    block_size: int = 16
    kv_bytes: int = 256 * 2**20
    blocks: int | None = None
    max_running: int = 64
    max_batch_tokens: int = 512
    max_waiting: int = 256
    max_context: int | None = None
    threads: int | None = None

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            if value is None and item.default is None:
                continue
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise InputError(
                    f"{item.name} is {value!r}; it must be a positive integer.", param=item.name
                )
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
