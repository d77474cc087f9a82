"""Blocks of keys and values as bytes on their way from one engine to another.

A message is a sequence of pieces. A piece is some layers of one block, with a checksum that also
covers where it belongs: its block, its layers, and a digest of all tokens up to the end of the
block. A piece that is damaged, cut off or of another request is therefore dropped, and what it held
is computed again.

Blocks can be cut into messages in three ways. `WHOLE` is one message, `BY_CHUNK` one for some
consecutive blocks each, `BY_LAYER` one for each layer of all blocks (as Splitwise, Patel et al.
2024, sends a layer while the next one is computed). The bytes of the blocks are equal in all three.
"""

from __future__ import annotations

import enum
import hashlib
import json
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from maskwright.engine.step.exchange import KvLayout, KvPrefix
from maskwright.errors import InputError
from maskwright.immutable import Immutable

Contents = NDArray[np.uint8]
"""The bytes of one block: uint8 `[layers, bytes]`."""

CHUNK_BLOCKS: Final = 8
"""Blocks in a message that is cut by chunk."""

DIGEST_BYTES: Final = 16
_HEAD: Final = struct.Struct(f"<IHHQ{DIGEST_BYTES}s")
"""Number of the block, first layer, number of layers, bytes of the contents, checksum."""


class Cutting(enum.StrEnum):
    """How blocks are cut into messages."""

    WHOLE = "whole"
    BY_LAYER = "by layer"
    BY_CHUNK = "by chunk"


class Piece(Immutable):
    """Layers of one block, from `first_layer` on: `contents` uint8 `[layers, bytes]`."""

    block: int
    first_layer: int
    contents: Contents


def cut_blocks(blocks: Mapping[int, Contents], cut: Cutting) -> Iterator[list[Piece]]:
    """Yield the pieces of each message."""
    whole = [Piece(number, 0, contents) for number, contents in sorted(blocks.items())]
    if not whole:
        return
    match cut:
        case Cutting.WHOLE:
            yield whole
        case Cutting.BY_CHUNK:
            for begin in range(0, len(whole), CHUNK_BLOCKS):
                yield whole[begin : begin + CHUNK_BLOCKS]
        case Cutting.BY_LAYER:
            for layer in range(len(whole[0].contents)):
                yield [Piece(p.block, layer, p.contents[layer : layer + 1]) for p in whole]


def pack_message(pieces: Sequence[Piece], keys: Sequence[bytes]) -> bytes:
    """Return a message with `pieces`; `keys` are from `block_keys` (`engine/kv/block_keys.py`)."""
    parts: list[bytes] = []
    for piece in pieces:
        contents = piece.contents.tobytes()
        place = (piece.block, piece.first_layer, len(piece.contents), len(contents))
        checksum = _checksum(keys[piece.block], place, contents)
        parts += (_HEAD.pack(*place, checksum), contents)
    return b"".join(parts)


def unpack_message(message: bytes | memoryview, keys: Sequence[bytes]) -> Iterator[Piece]:
    """Yield the pieces of a message whose checksums are right. What follows a damaged length can't
    be read, and is dropped. The contents are parts of the message and are not copied: to copy them
    would hold the lock of the interpreter, which the thread of the engine needs."""
    message = memoryview(message)
    begin = 0
    while begin + _HEAD.size <= len(message):
        *place, checksum = _HEAD.unpack_from(message, begin)
        block, first_layer, layers, length = place
        begin += _HEAD.size
        contents = message[begin : begin + length]
        begin += length
        if block >= len(keys) or checksum != _checksum(keys[block], place, contents):
            continue
        yield Piece(block, first_layer, np.frombuffer(contents, np.uint8).reshape(layers, -1))


class Assembly:
    """Blocks that arrive in pieces, in any order. `layers`: layers of a block."""

    def __init__(self, layers: int) -> None:
        self._layers = layers
        self._whole: dict[int, Contents] = {}
        """Blocks that have arrived in one piece, which are not copied."""
        self._parts: dict[int, dict[int, Contents]] = {}

    def add(self, piece: Piece) -> None:
        """Take a piece in; one that has arrived before replaces the earlier one."""
        if len(piece.contents) == self._layers:
            self._whole[piece.block] = piece.contents
            self._parts.pop(piece.block, None)
            return
        rows = self._parts.setdefault(piece.block, {})
        rows.update(enumerate(self._whole.pop(piece.block, ())))
        rows.update(enumerate(piece.contents, piece.first_layer))

    def complete(self) -> dict[int, Contents]:
        """The blocks all of whose layers have arrived, by their numbers."""
        joined = {
            block: np.stack([rows[layer] for layer in range(self._layers)])
            for block, rows in self._parts.items()
            if len(rows) == self._layers
        }
        return {**self._whole, **joined}

    def forget(self, count: int) -> None:
        """Drop the blocks with numbers below `count`, which are no longer needed."""
        self._whole = {block: whole for block, whole in self._whole.items() if block >= count}
        self._parts = {block: rows for block, rows in self._parts.items() if block >= count}


def _checksum(key: bytes, place: Sequence[int], contents: bytes | memoryview) -> bytes:
    digest = hashlib.blake2b(struct.pack("<4Q", *place), digest_size=DIGEST_BYTES, key=key)
    digest.update(contents)
    return digest.digest()


_LENGTH: Final = struct.Struct("<I")


def pack_prefix(layout: KvLayout, prefix: KvPrefix) -> bytes:
    """Return the head of a message about blocks of `prefix`, in JSON: the layout of the sender's
    blocks, and the tokens and the salt of the prefix. The checksums of the pieces after it cover
    tokens and salt, so that a head that was damaged makes all of them wrong."""
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
