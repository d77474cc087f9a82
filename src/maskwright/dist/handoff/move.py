"""Hands a running request over between two engines of one process.

The other engine first says which blocks it lacks, and only these are sent. What is lost on the way
costs time, never correctness: the other engine computes it like the rest of a prompt, and draws
depend on seed and position alone. The request is continued in the first engine until the other one
has accepted it, so that a hand-off that fails harms nothing.

The request itself is sent as JSON with a checksum. It has the name of a grammar, since a compiled
grammar is large and every engine can compile it from what the name stands for. The matcher is not
sent: it is restored by replaying the output.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import fields
from functools import partial
from typing import Any, Final

from maskwright.dist.handoff.pieces import (
    CHUNK_BLOCKS,
    Assembly,
    Cutting,
    cut_blocks,
    pack_message,
    unpack_message,
)
from maskwright.engine import Engine, Generation
from maskwright.engine.kv.block_keys import block_keys
from maskwright.engine.request.request import Request
from maskwright.errors import InputError
from maskwright.immutable import Immutable
from maskwright.mask import CompiledGrammar
from maskwright.sampling import SamplingParams
from maskwright.sampling.params import TextBan

FindGrammar = Callable[[str], CompiledGrammar | Future[CompiledGrammar]]
"""A function from the name of a grammar to the grammar."""

DIGEST_BYTES: Final = 16


def pack_request(request: Request, grammar: str | None) -> bytes:
    """Return a request as bytes. `grammar`: the name of its grammar, None if it has none."""
    assert (request.grammar is None) == (grammar is None), "a grammar is sent by its name"
    params = _values(request.params)
    banned = request.params.banned
    params["logit_bias"] = sorted(request.params.logit_bias.items())
    params["banned"] = None if banned is None else [word.hex() for word in banned.words]
    record = _values(request) | {"params": params, "grammar": grammar}
    text = json.dumps(record, separators=(",", ":")).encode()
    return _digest(text) + text


def unpack_request(data: bytes, find_grammar: FindGrammar, texts: tuple[bytes, ...]) -> Request:
    """Return the request that `pack_request` was given, with the grammar that has its name.
    `texts`: the tokens of the vocabulary. Raises `InputError` if the bytes are damaged or cut."""
    digest, text = data[:DIGEST_BYTES], data[DIGEST_BYTES:]
    if digest != _digest(text):
        raise InputError("The request was damaged on its way: its checksum is wrong.")
    record: dict[str, Any] = json.loads(text)
    params = {name: _frozen(value) for name, value in record["params"].items()}
    params["logit_bias"] = dict(params["logit_bias"])
    if params["banned"] is not None:
        params["banned"] = TextBan([bytes.fromhex(word) for word in params["banned"]], texts)
    name = record["grammar"]
    values = {key: _frozen(value) for key, value in record.items()}
    values["params"] = SamplingParams(**params)
    values["grammar"] = None if name is None else find_grammar(name)
    return Request(**values)


def _values(instance: Request | SamplingParams) -> dict[str, Any]:
    """The arguments with which an instance was made, by name."""
    return {
        item.name: _plain(getattr(instance, item.name)) for item in fields(instance) if item.init
    }


def _plain(value: object) -> object:
    """A sequence of tokens as a list, which JSON has; other values unchanged."""
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str) else value


def _frozen(value: object) -> Any:
    """A value of JSON with tuples in place of lists."""
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def _digest(text: bytes) -> bytes:
    return hashlib.blake2b(text, digest_size=DIGEST_BYTES).digest()


Carry = Callable[[bytes], bytes | None]
"""What brings a message to the other engine; None if it is lost."""


class HandedOver(Immutable):
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

    Raises what `Engine.submit` raises if `target` refuses the request; it then keeps running in
    `source`."""
    snapshot = source.snapshot(generation)
    if snapshot is None:
        return None
    record = pack_request(snapshot, grammar)
    request = unpack_request(record, find_grammar, target.loaded.vocab.tokens)
    prefix, layout = source.kv_prefix(snapshot), target.kv_layout()
    lacking: Sequence[int] = ()
    if layout == source.kv_layout() and prefix == target.kv_prefix(request):
        lacking = target.call(partial(target.exchange.lacking, prefix)).result()
    keys = block_keys(prefix.tokens, layout.block_size, repr(prefix.salt))
    assembly = Assembly(layout.layers)
    sent = arrived = 0
    # Between two steps no more than one chunk is read.
    count = CHUNK_BLOCKS if cut is Cutting.BY_CHUNK else max(1, len(lacking))
    for begin in range(0, len(lacking), count):
        some = lacking[begin : begin + count]
        contents = source.call(partial(source.exchange.read, prefix, some)).result()
        for pieces in cut_blocks(contents, cut):
            sent += sum(piece.contents.nbytes for piece in pieces)
            for piece in unpack_message(carry(pack_message(pieces, keys)) or b"", keys):
                assembly.add(piece)
        complete = assembly.complete()
        arrived = target.call(partial(target.exchange.write, prefix, complete)).result()
        assembly.forget(arrived)
    continued = target.submit(request)
    generation.cancel()
    return HandedOver(continued, len(request.begun), len(lacking), sent, arrived)
