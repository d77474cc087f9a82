"""The attention window of a model, which decides how many blocks a sequence has to hold.

Where every layer has sliding-window attention, keys and values that have left the widest window are
never read again, and their blocks can be released while the sequence grows. Where one layer has
full attention, no block can be released before the sequence ends.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AttentionWindow:
    """`positions`: the widest attention window of the layers in positions, None for full attention.
    `chunk`: the most tokens computed in one step.

    At least one whole block is kept, because the last full block is what the prefix tree needs to
    continue from. One more position is kept, so that both also hold when the last token of a
    sequence is computed again.
    """

    block_size: int
    chunk: int
    positions: int | None = None

    def blocks_outside(self, computed: int) -> int:
        """How many leading blocks are outside the window once `computed` tokens have been computed,
        and so are never read again."""
        if self.positions is None:
            return 0
        return max(0, computed - self._kept(self.positions)) // self.block_size

    def most_blocks(self, tokens: int) -> int:
        """Upper bound on the blocks that a sequence holds at one time until it has `tokens`
        tokens."""
        whole = -(-tokens // self.block_size)
        if self.positions is None:
            return whole
        spanned = self._kept(self.positions) + self.chunk
        return min(whole, -(-spanned // self.block_size) + 1)

    def _kept(self, window: int) -> int:
        return max(window, self.block_size) + 1
