"""Copies of blocks between the model's pool and the host's that go on beside steps."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

from maskwright.engine.kv.prefix import Node


class CopyEvent(Protocol):
    """The end of copies that have begun."""

    @property
    def seconds(self) -> float:
        """How long the copies took; to be asked after they have ended."""
        ...

    def done(self) -> bool:
        """Whether the copies have ended; doesn't wait."""
        ...

    def wait(self) -> None:
        """Wait until the copies have ended."""
        ...


class BlockTransfer(Struct, eq=False):
    """The copies of one sequence's blocks from one pool to the other.

    `blocks` are those in the model's pool, `homes` those in the host's, pair by pair; `inward` says
    that they are copied to the model's pool. `node` is the prefix tree's node of the last full
    block. `event` is set when the copies begin.
    """

    blocks: list[int]
    homes: list[int]
    inward: bool
    node: Node | None
    event: CopyEvent | None = None

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """From which block to which block is copied."""
        ways = (self.homes, self.blocks) if self.inward else (self.blocks, self.homes)
        return list(zip(*ways, strict=True))
