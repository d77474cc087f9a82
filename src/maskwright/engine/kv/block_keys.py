"""Chained digests of blocks, by which blocks are found outside the tree that holds their tokens.

The digest of a block covers its tokens, all tokens before it, and the salt. A digest of a block's
own tokens alone would find keys and values that were computed after other tokens.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final

import numpy as np

DIGEST_BYTES: Final = 32


def root_key(salt: str) -> bytes:
    """Return the digest before the first block of all prefixes with `salt`."""
    return hashlib.blake2b(salt.encode(), digest_size=DIGEST_BYTES).digest()


def next_key(before: bytes, tokens: Sequence[int]) -> bytes:
    """Return the digest of a block with `tokens`, less than 2**32 each, after a block or a root
    with the digest `before`."""
    block = np.array(tokens, "<u4").tobytes()
    return hashlib.blake2b(before + block, digest_size=DIGEST_BYTES).digest()


def block_keys(tokens: Sequence[int], block_size: int, salt: str) -> list[bytes]:
    """Return for each whole block of `tokens` a digest of all tokens up to its end, and of
    `salt`."""
    digest, keys = root_key(salt), []
    for end in range(block_size, len(tokens) + 1, block_size):
        digest = next_key(digest, tokens[end - block_size : end])
        keys.append(digest)
    return keys
