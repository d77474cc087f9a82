"""What a message is about with which one server sends blocks to another.

A message begins with a head in JSON: the layout of the sender's blocks, and the tokens and the salt
of the prefix. The checksums of the pieces after it cover tokens and salt, so that a head that was
damaged makes all of them wrong.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any, Final, cast

from maskwright.engine.step.exchange import KvLayout, KvPrefix
from maskwright.errors import InputError

_LENGTH: Final = struct.Struct("<I")


def pack_prefix(layout: KvLayout, prefix: KvPrefix) -> bytes:
    """Return the head of a message about blocks of `prefix`."""
    salt = list(cast(Iterable[str], prefix.salt))
    fields = {"layout": asdict(layout), "salt": salt, "tokens": list(prefix.tokens)}
    head = json.dumps(fields, separators=(",", ":")).encode()
    return _LENGTH.pack(len(head)) + head


def cut_head(message: bytes) -> tuple[bytes, memoryview]:
    """Return the head of a message and the bytes after it, which are not copied. A message that is
    too short for a head is one as a whole."""
    length = _LENGTH.unpack_from(message)[0] if len(message) >= _LENGTH.size else len(message)
    end = _LENGTH.size + length
    return message[:end], memoryview(message)[end:]


def unpack_prefix(head: bytes) -> tuple[KvLayout, KvPrefix]:
    """Return what `pack_prefix` was given. Raises InputError for what has another form."""
    try:
        fields: dict[str, Any] = json.loads(head[_LENGTH.size :])
        layout = dict(fields["layout"])
        layout["kind"] = tuple(layout["kind"])
        tokens = [int(token) for token in fields["tokens"]]
        if not all(0 <= token < 1 << 32 for token in tokens):
            raise ValueError("a token is out of range")
        prefix = KvPrefix(tuple(map(str, fields["salt"])), tokens)
        return KvLayout(**layout), prefix
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"This is no message about blocks: {error!r}") from None
