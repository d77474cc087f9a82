"""Digests of the beginnings of a prompt, by which replicas tell what they cache.

The digest of a block covers the block and everything before it (a chain, as in Mooncake), so equal
digests mean equal beginnings up to a collision of 64 bits. A collision costs time only: the router
then expects a cached prefix that the replica's own tree, which compares tokens, does not have.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

DIGEST_BYTES = 8


def prefix_digests(tokens: Sequence[int], block_size: int, salt: str = "") -> tuple[int, ...]:
    """Return a digest (64 bits) for each whole block of `block_size` tokens; it covers the blocks
    before it, too. `salt` separates prompts that share no cache: model, adapter and the
    client's cache salt. Tokens must be less than 2**32."""
    digest = salt.encode()
    digests: list[int] = []
    for end in range(block_size, len(tokens) + 1, block_size):
        block = tokens[end - block_size : end]
        digest = _chained(digest, b"".join(token.to_bytes(4, "little") for token in block))
        digests.append(int.from_bytes(digest, "little"))
    return tuple(digests)


def text_digests(text: bytes, block_bytes: int, salt: str = "") -> tuple[int, ...]:
    """Return digests as `prefix_digests` does, of blocks of `block_bytes` bytes of a text, for a
    router that has no tokenizer."""
    digest = salt.encode()
    digests: list[int] = []
    for end in range(block_bytes, len(text) + 1, block_bytes):
        digest = _chained(digest, text[end - block_bytes : end])
        digests.append(int.from_bytes(digest, "little"))
    return tuple(digests)


def _chained(before: bytes, block: bytes) -> bytes:
    joined = len(before).to_bytes(4, "little") + before + block
    return hashlib.blake2b(joined, digest_size=DIGEST_BYTES).digest()
