"""Takes blocks of keys and values that another server sends.

Whoever may send blocks decides what later prompts are answered with. The endpoints therefore exist
only in a server that has a key for them, and need this key.
"""

from __future__ import annotations

import asyncio
import hmac
from dataclasses import dataclass
from functools import partial
from typing import Final

from starlette.requests import Request
from starlette.responses import JSONResponse

from maskwright.dist.handoff.http_names import HANDOFF_KEY
from maskwright.dist.handoff.pieces import Assembly, unpack_message
from maskwright.dist.handoff.prefix_message import cut_head, unpack_prefix
from maskwright.engine import Engine
from maskwright.engine.kv.block_keys import block_keys
from maskwright.engine.step.exchange import KvLayout, KvPrefix
from maskwright.server.errors import HttpError
from maskwright.server.request.body import chunks_of

MOST_BYTES: Final = 1 << 30
"""Upper bound on the bytes of a message."""


MOST_PREFIXES: Final = 16
"""Prefixes that are remembered: about as many as arrive at one time."""


@dataclass(frozen=True, slots=True)
class KnownPrefix:
    """What the head of a message says, and the keys of the blocks. All messages with the blocks of
    a prompt have one head, which is read once: reading it takes time in which the engine's thread
    can't go on."""

    layout: KvLayout
    prefix: KvPrefix
    keys: list[bytes]


class IncomingBlocks:
    """The endpoints of one engine that take blocks. `key`: the one that senders must have."""

    def __init__(self, engine: Engine, key: str) -> None:
        self._engine = engine
        self._key = key
        self._prefixes: dict[bytes, KnownPrefix] = {}
        """Prefixes of recent messages by their heads, the most recent one last."""

    async def lacking(self, http: Request) -> JSONResponse:
        """Tell which blocks of a prefix the engine lacks: none where it could not use them."""
        self._check(http)
        head, _ = cut_head(await _read(http))
        known = self._known(head)
        if known.layout != self._engine.kv_layout():
            return JSONResponse({"lacking": []})
        call = self._engine.call(partial(self._engine.exchange.lacking, known.prefix))
        return JSONResponse({"lacking": await asyncio.wrap_future(call)})

    async def blocks(self, http: Request) -> JSONResponse:
        """Insert those blocks of a message that are undamaged, and tell how many leading blocks of
        the prefix the engine has then."""
        self._check(http)
        head, pieces = cut_head(await _read(http))
        known = self._known(head)
        if known.layout != self._engine.kv_layout():
            return JSONResponse({"arrived": 0})
        assembly = Assembly(known.layout.layers)
        for piece in unpack_message(pieces, known.keys):
            assembly.add(piece)
        write = partial(self._engine.exchange.write, known.prefix, assembly.complete())
        return JSONResponse({"arrived": await asyncio.wrap_future(self._engine.call(write))})

    def _known(self, head: bytes) -> KnownPrefix:
        """Read the head of a message. Raises InputError."""
        known = self._prefixes.pop(head, None)
        if known is None:
            layout, prefix = unpack_prefix(head)
            keys = block_keys(prefix.tokens, layout.block_size, repr(prefix.salt))
            known = KnownPrefix(layout, prefix, keys)
        self._prefixes[head] = known
        if len(self._prefixes) > MOST_PREFIXES:
            del self._prefixes[next(iter(self._prefixes))]
        return known

    def _check(self, http: Request) -> None:
        given = http.headers.get(HANDOFF_KEY, "")
        if not hmac.compare_digest(given.encode(), self._key.encode()):
            raise HttpError(
                401, f"the header {HANDOFF_KEY} has another key", code="invalid_handoff_key"
            )


async def _read(http: Request) -> bytes:
    """Return the body. Raises HttpError if it is too large."""
    message = f"a message has at most {MOST_BYTES} bytes"
    too_large = HttpError(413, message, code="body_too_large")
    parts = [part async for part in chunks_of(http, MOST_BYTES, too_large)]
    return parts[0] if len(parts) == 1 else b"".join(parts)
