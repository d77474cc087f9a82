"""How far back a sequence looks, and so how many blocks it holds.

Where every layer has a sliding window, keys and values behind the widest are never read again, and
their blocks can be given up while the sequence goes on. Where one layer sees everything, none can.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reach:
    """`window`: positions that the layers look back on, None for all; `chunk`: the most tokens
    computed in a step.

    One position more than the window is kept, so that the last token can be computed again, and a
    whole block at least, so that the last full one always stands.
    """

    block_size: int
    chunk: int
    window: int | None = None

    def behind(self, computed: int) -> int:
        """Blocks at the beginning that are not read again once `computed` tokens are."""
        if self.window is None:
            return 0
        return max(0, computed - max(self.window, self.block_size)) // self.block_size

    def most(self, tokens: int) -> int:
        """The most blocks that a sequence holds at once on its way to so many tokens."""
        whole = -(-tokens // self.block_size)
        if self.window is None:
            return whole
        kept = max(self.window, self.block_size) + self.chunk
        return min(whole, -(-kept // self.block_size) + 1)
