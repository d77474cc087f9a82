"""What a model can serve in a given memory, and at which rate at most.

docs/capacity.md derives each formula and computes examples.

A step of decoding reads all weights once, and the keys and values of every position of every
sequence. It computes little for each byte read, so that memory bandwidth bounds its rate from above
until the batch is large (roofline model: Williams, Waterman and Patterson 2009).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from maskwright.kernels.kv_bytes import KvDtype, position_bytes

BLOCK_SIZES: Final = (4, 8, 16, 32, 64)
"""Positions in a block, as the engine allows them."""

RESERVE: Final = 1 << 30
"""Bytes for the interpreter, libraries, grammars and requests; adapters come on top."""

MOST_SCORED: Final = 64
"""Upper bound on the positions of a step whose logits are kept for log-probabilities of prompts,
over all sequences: a row of logits takes far more memory than the other activations of a token."""

WEIGHT_BITS: Final = {
    "float32": 32,
    "bfloat16": 16,
    "float16": 16,
    "fp8": 8,
    "int8": 8,
    "int4": 4,
}
"""Bits of a weight by data type. The bytes of a model are these times its parameters, except where
a checkpoint's config.json says which weights `serve --weight-dtype fp8` makes codes of."""


def workspace_bytes(*, row_bytes: int, vocab_size: int, batch_tokens: int, sampled: int) -> int:
    """Return an upper bound on the memory of a step: for each of `batch_tokens` tokens the
    activations of one layer (`row_bytes`), and for each of `sampled` rows, and of those that are
    scored for log-probabilities of prompts, three copies of the logits in float32 and a mask."""
    logits = 3 * 4 * vocab_size + vocab_size // 8
    return batch_tokens * row_bytes + min(batch_tokens, sampled + MOST_SCORED) * logits


@dataclass(frozen=True, slots=True)
class ModelShape:
    """What capacity depends on. `weights`: bytes of all weights, of `weight_bits` bits each.
    `itemsize`: bytes of a number of keys and values that are not codes."""

    layers: int
    kv_heads: int
    head_dim: int
    weights: int
    weight_bits: int = 16
    itemsize: int = 2


@dataclass(frozen=True, slots=True)
class BlockSizeRow:
    """What one block size costs. `unused_bytes`: mean bytes of a sequence's last block that hold
    nothing, if all lengths are equally likely. `run_bytes`: the longest run of keys that lies in
    one piece in one layer, which a kernel reads at once."""

    block_size: int
    sequences: int
    table_entries: int
    unused_tokens: float
    unused_bytes: float
    run_bytes: int


@dataclass(frozen=True, slots=True)
class DecodeRow:
    """The bound on decoding for a number of sequences at full context: seconds of a step, tokens a
    second of all together, and the share of the bytes read that are keys and values."""

    sequences: int
    step_seconds: float
    tokens_per_second: float
    kv_share: float


@dataclass(frozen=True, slots=True)
class QuantisationRow:
    """Capacity with weights of `weight_bits` bits and keys and values stored as `kv_dtype`. Rates
    are bounds in tokens a second, of one sequence and of all that fit; None without a bandwidth."""

    weight_bits: int
    kv_dtype: KvDtype
    weights: int
    token_bytes: int
    sequences: int
    one_rate: float | None
    full_rate: float | None


@dataclass(frozen=True, slots=True)
class ServingPlan:
    """A model in `memory` bytes, with `reserve` of them for everything but weights, keys and
    values. `context`: positions of a sequence. `bandwidth`: bytes a second that can be read, or
    None."""

    model: ModelShape
    memory: int
    reserve: int
    context: int
    block_size: int = 16
    kv_dtype: KvDtype = "auto"
    bandwidth: int | None = None

    @property
    def token_bytes(self) -> int:
        """Bytes of the keys and values of one position in all layers."""
        return self.model.layers * self._position

    @property
    def block(self) -> int:
        """Bytes of one block."""
        return self.block_size * self.token_bytes

    @property
    def kv_bytes(self) -> int:
        """Bytes that weights and reserve leave for keys and values; negative if they don't fit."""
        return self.memory - self.model.weights - self.reserve

    @property
    def blocks(self) -> int:
        """Blocks that fit."""
        return max(0, self.kv_bytes // self.block)

    @property
    def sequence_blocks(self) -> int:
        """Blocks of a sequence of `context` positions."""
        return -(-self.context // self.block_size)

    @property
    def sequences(self) -> int:
        """Sequences of `context` positions that fit at a time."""
        return self.blocks // self.sequence_blocks

    def block_sizes(self) -> list[BlockSizeRow]:
        """The trade-off of block sizes: unused positions against entries of block tables."""
        return [
            BlockSizeRow(
                block_size=plan.block_size,
                sequences=plan.sequences,
                table_entries=plan.sequence_blocks,
                unused_tokens=(plan.block_size - 1) / 2,
                unused_bytes=(plan.block_size - 1) / 2 * plan.token_bytes,
                run_bytes=plan.block_size * plan._position // 2,
            )
            for plan in (replace(self, block_size=size) for size in BLOCK_SIZES)
        ]

    def decode_bound(self, sequences: int) -> DecodeRow | None:
        """The bound on decoding with that many sequences; None without a bandwidth."""
        if self.bandwidth is None:
            return None
        read = sequences * self.context * self.token_bytes
        seconds = (self.model.weights + read) / self.bandwidth
        share = read / (self.model.weights + read)
        return DecodeRow(sequences, seconds, sequences / seconds, share)

    def decode_rows(self) -> list[DecodeRow]:
        """The bound for 1, 2, 4, … sequences, up to those that fit."""
        counts = [1]
        while 2 * counts[-1] < self.sequences:
            counts.append(2 * counts[-1])
        if self.sequences > counts[-1]:
            counts.append(self.sequences)
        found = (self.decode_bound(count) for count in counts if self.sequences)
        return [row for row in found if row is not None]

    def variants(self) -> Iterator[ServingPlan]:
        """This plan, and those with fewer bits for weights, or keys and values, or both."""
        bits = [each for each in (8, 4) if each < self.model.weight_bits]
        kinds: list[KvDtype] = [self.kv_dtype]
        if self.kv_dtype == "auto":
            kinds.append("int8")
        for weight_bits in (self.model.weight_bits, *bits):
            weights = self.model.weights * weight_bits // self.model.weight_bits
            model = replace(self.model, weights=weights, weight_bits=weight_bits)
            for kind in kinds:
                yield replace(self, model=model, kv_dtype=kind)

    def quantisation_row(self) -> QuantisationRow:
        """The capacity of this plan in a row with that of others."""
        one, full = self.decode_bound(1), self.decode_bound(max(1, self.sequences))
        fits = self.sequences > 0
        return QuantisationRow(
            weight_bits=self.model.weight_bits,
            kv_dtype=self.kv_dtype,
            weights=self.model.weights,
            token_bytes=self.token_bytes,
            sequences=self.sequences,
            one_rate=one.tokens_per_second if one and fits else None,
            full_rate=full.tokens_per_second if full and fits else None,
        )

    @property
    def _position(self) -> int:
        model = self.model
        return position_bytes(model.kv_heads, model.head_dim, model.itemsize, self.kv_dtype)
