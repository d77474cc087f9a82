"""Hands a running request over between two engines of one process.

The other engine first says which blocks it lacks, and only those are sent. What is lost on the way
costs time, never correctness: the other engine computes it like the rest of a prompt, and draws
depend on seed and position alone. The request goes on in the first engine until the other one has
accepted it, so that a hand-off that fails harms nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from maskwright.dist.handoff.pieces import (
    CHUNK_BLOCKS,
    Assembly,
    Contents,
    Cutting,
    cut_blocks,
    pack_message,
    unpack_message,
)
from maskwright.dist.handoff.request_record import FindGrammar, pack_request, unpack_request
from maskwright.engine import Engine, Generation
from maskwright.engine.kv.block_keys import block_keys
from maskwright.engine.request.request import Request
from maskwright.engine.step.exchange import KvPrefix

Carry = Callable[[bytes], bytes | None]
"""What brings a message to the other engine; None if it is lost."""


@dataclass(frozen=True, slots=True)
class HandedOver:
    """A request after its hand-off.

    - `generation`: its whole output in the other engine, from its first token on.
    - `begun`: how many tokens of the output the other engine did not have to draw.
    - `lacking`: blocks that the other engine lacked; `sent_bytes`: bytes of keys and values that
      were sent, without their heads.
    - `arrived`: leading blocks from which the other engine could go on.
    """

    generation: Generation
    begun: int
    lacking: int
    sent_bytes: int
    arrived: int


def hand_over(
    generation: Generation,
    source: Engine,
    target: Engine,
    *,
    grammar: str | None,
    find_grammar: FindGrammar,
    cut: Cutting = Cutting.WHOLE,
    carry: Carry = lambda message: message,
) -> HandedOver | None:
    """Hand a running request of `source` over to `target`; `grammar` is the name of its grammar
    and `find_grammar` what `target` knows of names. Returns None if the request has ended.

    Raises what `Engine.submit` raises if `target` refuses the request; it then goes on in
    `source`."""
    snapshot = source.snapshot(generation)
    if snapshot is None:
        return None
    record = pack_request(snapshot, grammar)
    request = unpack_request(record, find_grammar, target.loaded.vocab.tokens)
    transfer = _Transfer(source, target, snapshot, request)
    for contents in transfer.read(cut):
        transfer.send(contents, cut, carry)
    continued = target.submit(request)
    generation.cancel()
    lacking, sent, arrived = len(transfer.lacking), transfer.sent_bytes, transfer.arrived
    return HandedOver(continued, len(request.begun), lacking, sent, arrived)


class _Transfer:
    """The blocks of one request on their way."""

    def __init__(self, source: Engine, target: Engine, theirs: Request, ours: Request) -> None:
        self._source = source
        self._target = target
        self._prefix = source.kv_prefix(theirs)
        layout = target.kv_layout()
        fits = layout == source.kv_layout() and self._prefix == target.kv_prefix(ours)
        self.lacking: Sequence[int] = ()
        if fits:
            self.lacking = target.call(partial(target.exchange.lacking, self._prefix)).result()
        self._keys = _keys(self._prefix, layout.block_size)
        self._assembly = Assembly(layout.layers)
        self.sent_bytes = 0
        self.arrived = 0

    def read(self, cut: Cutting) -> Iterator[dict[int, Contents]]:
        """Yield the blocks that are lacking, as many at a time as the cut needs: between two steps
        no more than one chunk is read."""
        exchange, prefix = self._source.exchange, self._prefix
        count = CHUNK_BLOCKS if cut is Cutting.BY_CHUNK else max(1, len(self.lacking))
        for begin in range(0, len(self.lacking), count):
            some = self.lacking[begin : begin + count]
            yield self._source.call(partial(exchange.read, prefix, some)).result()

    def send(self, contents: dict[int, Contents], cut: Cutting, carry: Carry) -> None:
        """Send blocks to the other engine, which inserts those that are complete."""
        for pieces in cut_blocks(contents, cut):
            self.sent_bytes += sum(piece.contents.nbytes for piece in pieces)
            message = carry(pack_message(pieces, self._keys))
            for piece in unpack_message(message or b"", self._keys):
                self._assembly.add(piece)
        complete, exchange, prefix = self._assembly.complete(), self._target.exchange, self._prefix
        self.arrived = self._target.call(partial(exchange.write, prefix, complete)).result()
        self._assembly.forget(self.arrived)


def _keys(prefix: KvPrefix, block_size: int) -> list[bytes]:
    return block_keys(prefix.tokens, block_size, repr(prefix.salt))
