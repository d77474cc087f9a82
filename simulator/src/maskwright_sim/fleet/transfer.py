"""How long keys and values take from the engine that computed a prompt to the one that decodes."""

from __future__ import annotations

from typing import Literal, TypeAlias

from maskwright.immutable import Immutable

TransferMode: TypeAlias = Literal["request", "layer", "aggregated"]


class Transfer(Immutable):
    """`request`: all blocks after the prefill. `layer`: each layer's blocks as soon as it is
    computed, beside the computation of the next ones (Splitwise). `aggregated`: after the prefill,
    but with the keys and values of all layers of a block in one piece (MemServe).

    `kv_bytes` is the size of a token's keys and values, `bandwidth` in bytes a second. Each piece
    costs `call` seconds of the link: a block has one for the keys and one for the values of each
    layer, or a single one if aggregated. `slowdown` is what a layer-wise transfer adds to the
    prefill, as a share of it, because the layers have to be synchronized."""

    mode: TransferMode = "aggregated"
    kv_bytes: float = 819_200
    layers: int = 40
    block_size: int = 16
    bandwidth: float = 25e9
    call: float = 0.0
    slowdown: float = 0.0

    def calls(self, tokens: int) -> int:
        """Pieces that are sent for `tokens` tokens."""
        blocks = -(-tokens // self.block_size)
        return blocks if self.mode == "aggregated" else blocks * 2 * self.layers

    def seconds(self, tokens: int) -> float:
        """Seconds for which the link is busy."""
        return tokens * self.kv_bytes / self.bandwidth + self.calls(tokens) * self.call

    def arrival(self, began: float, ended: float, tokens: int, free: float) -> tuple[float, float]:
        """When the keys and values of a prefill from `began` to `ended` are there, and when the
        link, which is free from `free` on, is free again."""
        whole = self.seconds(tokens)
        if self.mode != "layer":
            done = max(ended, free) + whole
            return done, done
        late = ended + self.slowdown * (ended - began)
        start = max(began + (ended - began) / self.layers, free)
        done = max(start + whole, late + whole / self.layers)
        return done, done


NOTHING = Transfer(kv_bytes=0.0, bandwidth=1.0)
"""A transfer that takes no time."""
