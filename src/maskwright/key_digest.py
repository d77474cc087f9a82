"""The digest by which a server knows a key."""

from __future__ import annotations

import hashlib


def digest_of(key: str) -> str:
    """Return the SHA-256 digest of a key's UTF-8 bytes, in hexadecimal digits."""
    return hashlib.sha256(key.encode(errors="surrogateescape")).hexdigest()
