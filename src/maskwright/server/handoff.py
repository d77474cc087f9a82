"""The two sides of a hand-off over HTTP: one server computes the prompt of a request, another one
continues with its answer. docs/scale.md describes it.

A router asks for it, with a header that names the other server. This one computes the prompts and
reads until each choice has begun. Then it asks the other server which blocks it lacks, sends these,
and tells the router names, seeds and first tokens. With these the other server continues, just as
it continues a stream that was cut. What can't be sent, or arrives damaged, is computed again there.

Whoever may send blocks decides what later prompts are answered with. The endpoints therefore exist
only in a server that has a key for them, and need this key.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
from collections import defaultdict
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse

from maskwright.dist.front.wire import Address, WorkerClient, WorkerLostError
from maskwright.dist.handoff.http_names import BLOCKS_PATH, HAND_TO, HANDOFF_KEY, LACKING_PATH
from maskwright.dist.handoff.pieces import (
    CHUNK_BLOCKS,
    Assembly,
    Cutting,
    cut_blocks,
    cut_head,
    pack_message,
    pack_prefix,
    unpack_message,
    unpack_prefix,
)
from maskwright.engine import Engine
from maskwright.engine.kv.block_keys import block_keys
from maskwright.engine.step.exchange import KvLayout, KvPrefix
from maskwright.immutable import Immutable
from maskwright.server.answer.choices import Choices
from maskwright.server.continuation import RelayedDelta
from maskwright.server.errors import HttpError
from maskwright.server.exchange import Exchange
from maskwright.server.json import Json
from maskwright.server.request.body import chunks_of

IDLE_SECONDS: Final = 60.0
POLL_SECONDS: Final = 0.002
SEND_SECONDS: Final = 10.0
"""Time within which the other server must answer a message."""

log = logging.getLogger(__name__)

MOST_BYTES: Final = 1 << 30
"""Upper bound on the bytes of a message."""

MOST_PREFIXES: Final = 16
"""Prefixes that are remembered: about as many as arrive at one time."""


class KnownPrefix(Immutable):
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


@dataclass(slots=True)
class SentBlocks:
    """What became of the blocks of a request. `blocks`: those that the other server lacked and this
    one had, as far as they were sent; `arrived`: how many of them it then had; `sent_bytes`: of
    keys and values, without heads."""

    blocks: int = 0
    arrived: int = 0
    sent_bytes: int = 0


class OutgoingBlocks:
    """Hands requests of one engine over. `key`: the one that it has in common with other servers
    and the router."""

    def __init__(self, engine: Engine, key: str) -> None:
        self._engine = engine
        self._key = key

    def target(self, http: Request) -> str | None:
        """Return the address of the server to which a request is to be handed over. None if the
        client does not ask for it, or has no key for it."""
        to, given = http.headers.get(HAND_TO), http.headers.get(HANDOFF_KEY, "")
        if to is None:
            return None
        return to if hmac.compare_digest(given.encode(), self._key.encode()) else None

    async def hand_over(self, choices: Choices, exchange: Exchange, target: str) -> Json:
        """Return what the router has to tell the other server about a request that runs here, once
        its blocks have been sent to `target`. It is cancelled here. Raises the error of a choice
        that has failed."""
        begun = await _first_deltas(choices)
        await self._computed(exchange)
        choices.cancel()  # the blocks stay in the prefix tree
        sent = SentBlocks()
        client = WorkerClient(Address.parse(target))
        try:
            for prefix in self._prefixes(exchange, begun):
                await self._send(client, prefix, sent)
        except (WorkerLostError, TimeoutError) as error:
            log.warning("blocks could not be sent to %s: %s", target, error)
        finally:
            client.abort()
        naming = exchange.naming
        return {
            "key": naming.key,
            "created": naming.created,
            "seeds": choices.seeds,
            "deltas": [one.fields for one in begun],
            "sent": {"blocks": sent.blocks, "arrived": sent.arrived, "bytes": sent.sent_bytes},
        }

    async def _computed(self, exchange: Exchange) -> None:
        """Wait until the prompts have been computed. Text that a grammar forces is there before."""
        lacking = self._engine.exchange.lacking
        for request, generation in zip(exchange.requests, exchange.generations, strict=True):
            prefix = self._engine.kv_prefix(replace(request, begun=()))
            while generation.trace is None:
                if not await asyncio.wrap_future(self._engine.call(partial(lacking, prefix))):
                    break
                await asyncio.sleep(POLL_SECONDS)

    def _prefixes(self, exchange: Exchange, deltas: list[RelayedDelta]) -> list[KvPrefix]:
        """Return what the other server reads of each choice that hasn't ended."""
        begun: defaultdict[int, list[int]] = defaultdict(list)
        for one in deltas:
            begun[one.index] += one.token_ids
        ended = {one.index for one in deltas if one.ends}
        found: list[KvPrefix] = []
        for index, request in enumerate(exchange.requests):
            if index not in ended:
                scored = request.params.logprobs is not None  # drawn again from the beginning
                given = () if scored else tuple(begun[index])
                found.append(self._engine.kv_prefix(replace(request, begun=given)))
        return found

    async def _send(self, client: WorkerClient, prefix: KvPrefix, sent: SentBlocks) -> None:
        """Send the blocks of `prefix` that the other server lacks, a chunk at a time, so that the
        requests which run there or here never wait for more than one. What follows a block that
        did not arrive is of no use, and is not sent."""
        layout = self._engine.kv_layout()
        head = pack_prefix(layout, prefix)
        lacking: list[int] = (await self._asked(client, LACKING_PATH, head)).get("lacking", [])
        keys = block_keys(prefix.tokens, layout.block_size, repr(prefix.salt))
        for begin in range(0, len(lacking), CHUNK_BLOCKS):
            some = lacking[begin : begin + CHUNK_BLOCKS]
            read = self._engine.call(partial(self._engine.exchange.read, prefix, some))
            found = await asyncio.wrap_future(read)
            sent.blocks += len(found)
            for pieces in cut_blocks(found, Cutting.WHOLE):
                body = head + pack_message(pieces, keys)
                sent.sent_bytes += sum(piece.contents.nbytes for piece in pieces)
                answer = await self._asked(client, BLOCKS_PATH, body)
                arrived = int(answer.get("arrived", 0))
                sent.arrived += sum(number < arrived for number in found)
                if arrived <= some[-1]:
                    return
            if len(found) < len(some):  # blocks of forced text that have not been computed
                return

    async def _asked(self, client: WorkerClient, path: str, body: bytes) -> dict[str, Any]:
        """Return what the other server answers; nothing if it refuses. Raises WorkerLostError and
        TimeoutError."""
        headers = [(HANDOFF_KEY.encode(), (self._key or "").encode())]
        async with asyncio.timeout(SEND_SECONDS):
            response = await client.send("POST", path, headers, body)
            answer = await response.body()
        if response.status != 200:
            log.warning("a message about blocks was refused: %s", answer.decode(errors="replace"))
            return {}
        return json.loads(answer)


async def _first_deltas(choices: Choices) -> list[RelayedDelta]:
    """Read until each choice has begun, and return all deltas."""
    waiting, found = set(range(len(choices))), list[RelayedDelta]()
    async with aclosing(choices.deltas(IDLE_SECONDS)) as deltas:
        async for delta in deltas:
            if delta is not None:
                ends = delta.finish_reason is not None
                found.append(RelayedDelta(delta.index, delta.token_ids, ends, delta.shortened_at))
                waiting.discard(delta.index)
            if not waiting:
                break
    return found
