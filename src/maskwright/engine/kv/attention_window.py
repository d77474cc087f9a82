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

    A whole block is kept at least, so that the last full one always stands; and a position more, so
    that both hold as well when the last token is computed again.
    """

    block_size: int
    chunk: int
    window: int | None = None

    def behind(self, computed: int) -> int:
        """Blocks at the beginning that are not read again once `computed` tokens are."""
        if self.window is None:
            return 0
        return max(0, computed - self._kept(self.window)) // self.block_size

    def most(self, tokens: int) -> int:
        """The most blocks that a sequence holds at once on its way to so many tokens."""
        whole = -(-tokens // self.block_size)
        if self.window is None:
            return whole
        spanned = self._kept(self.window) + self.chunk
        return min(whole, -(-spanned // self.block_size) + 1)

    def _kept(self, window: int) -> int:
        return max(window, self.block_size) + 1
