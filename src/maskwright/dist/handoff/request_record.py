"""A request as bytes: what an engine needs to go on with it, except its keys and values.

The bytes are JSON with a checksum. A grammar is told by its name, since a compiled grammar is large
and every engine can compile it from what the name stands for. The matcher is not sent: it is
restored by replaying the output.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import fields
from typing import Any, Final

from maskwright.engine.request.request import Request
from maskwright.errors import InputError
from maskwright.processes import AnyGrammar
from maskwright.sampling import SamplingParams
from maskwright.sampling.text_ban import TextBan

FindGrammar = Callable[[str], AnyGrammar | Future[AnyGrammar]]
"""A function from the name of a grammar to the grammar."""

DIGEST_BYTES: Final = 16


def pack_request(request: Request, grammar: str | None) -> bytes:
    """Return a request as bytes. `grammar`: the name of its grammar, None if it has none."""
    assert (request.grammar is None) == (grammar is None), "a grammar is told by its name"
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
