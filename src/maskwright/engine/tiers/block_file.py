"""A block as the bytes of a file, with a checksum that also covers the key.

A file that is damaged, cut off or under a wrong name is therefore recognised. Only the counter of
uses is outside the checksum, because it changes in place; damage to it changes the order of
eviction and nothing else.
"""

from __future__ import annotations

import hashlib
import struct
from typing import Final

MAGIC: Final = b"mwkv\x00\x00\x00\x01"
CHECKSUM_BYTES: Final = 16
HEAD: Final = struct.Struct(f"<8sIQ{CHECKSUM_BYTES}s")
"""Magic number, counter of uses, bytes of the contents, checksum."""

USES: Final = struct.Struct("<I")
USES_AT: Final = 8
"""Where the counter of uses stands."""


def pack_block(key: bytes, contents: bytes) -> bytes:
    """Return the file of a block. `key`: 32 bytes."""
    return HEAD.pack(MAGIC, 1, len(contents), _checksum(key, contents)) + contents


def unpack_block(key: bytes, data: bytes) -> bytes | None:
    """Return the contents of a block from its file; None if it is not the whole file of `key`."""
    if len(data) < HEAD.size:
        return None
    magic, _, length, checksum = HEAD.unpack_from(data)
    contents = data[HEAD.size :]
    if magic != MAGIC or length != len(contents) or checksum != _checksum(key, contents):
        return None
    return contents


def _checksum(key: bytes, contents: bytes) -> bytes:
    return hashlib.blake2b(contents, digest_size=CHECKSUM_BYTES, key=key).digest()
