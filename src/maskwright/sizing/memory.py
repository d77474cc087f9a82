"""Blocks of keys and values, and what they leave of the memory.

weights + blocks * block + workspace + reserve <= memory
"""

from __future__ import annotations

from typing import Final

RESERVE: Final = 1 << 30
"""Bytes for the interpreter, libraries, grammars and requests; adapters come on top."""


def block_bytes(layers: int, block_size: int, position: int) -> int:
    """Return the bytes of a block of `block_size` positions through all layers. `position`: bytes
    of one position in one layer."""
    return layers * block_size * position


def blocks_for(positions: int, block_size: int) -> int:
    """Return the number of blocks that hold `positions` positions."""
    return -(-positions // block_size)


def blocks_that_fit(memory: int, taken: int, block: int) -> int:
    """Return how many blocks of `block` bytes fit into `memory` bytes with `taken` of them in use;
    negative if more than all of it is."""
    return (memory - taken) // block


MOST_SCORED: Final = 64
"""Upper bound on the positions of a step whose logits are kept for log-probabilities of prompts,
over all sequences: a row of logits takes far more memory than the other activations of a token."""


def workspace_bytes(*, row_bytes: int, vocab_size: int, batch_tokens: int, sampled: int) -> int:
    """Return an upper bound on the memory of a step: for each of `batch_tokens` tokens the
    activations of one layer (`row_bytes`), and for each of `sampled` rows, and of those that are
    scored for log-probabilities of prompts, three copies of the logits in float32 and a mask."""
    logits = 3 * 4 * vocab_size + vocab_size // 8
    return batch_tokens * row_bytes + min(batch_tokens, sampled + MOST_SCORED) * logits
