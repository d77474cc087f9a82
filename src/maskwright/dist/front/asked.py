"""What the router reads of a request: whether it is streamed, and what a server may know of it; and
what it answers where no server can, in OpenAI's form.

The router has no tokenizer. It counts bytes, and compares prompts by digests of their bytes.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Collection
from typing import Final

from maskwright.dist.routing.replica_state import RouteRequest, prefix_digests
from maskwright.immutable import Immutable
from maskwright.json_faults import object_in

NAMED: Final = frozenset({"/responses", "/messages"})
"""The endpoints whose streams have events with names."""

GENERATING: Final = NAMED | {"/chat/completions", "/completions"}
"""The endpoints that generate answers."""

TOKEN_BYTES: Final = 4
"""Bytes of a token, on average."""

BLOCK_BYTES: Final = 128
"""Bytes of a prompt that one digest covers more than the one before."""

MOST_BYTES: Final = 1 << 16
"""Bytes at the beginning of a prompt that are compared."""

PROMPT_FIELDS: Final = (
    *("tools", "functions", "instructions", "system", "messages", "prompt", "input"),
)
"""The fields that make prompts, in the order in which most templates write them."""

GRAMMAR_FIELDS: Final = (
    *("response_format", "text", "structured_outputs", "tools", "tool_choice", "functions"),
    *("guided_json", "guided_regex", "guided_grammar", "guided_choice", "regex", "json_schema"),
    *("ebnf", "grammar", "output_config", "output_format"),
)
"""The fields that decide which grammar an answer has."""


_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class Asked(Immutable):
    """A request for an answer. `tree`: its parsed body. `named`: its events have names."""

    tree: dict[str, object]
    stream: bool
    named: bool
    route: RouteRequest


def read_asked(
    path: str, body: bytes, request_id: str, adapters: Collection[str], models: Collection[str] = ()
) -> Asked | None:
    """Read a request; None for what is no JSON object, which a worker will refuse by name.
    `adapters`: those that any worker serves, for which the name of the model counts. `models`:
    those that only some workers serve."""
    tree = object_in(body)
    if tree is None:
        return None
    model = tree.get("model")
    adapter = model if isinstance(model, str) and model in adapters else None
    prompt = _prompt(tree)
    salt = f"{adapter or ''} {tree.get('cache_salt') or ''}"
    route = RouteRequest(
        request_id,
        prompt_tokens=max(1, len(prompt) // TOKEN_BYTES),
        model=model if isinstance(model, str) and model in models else None,
        digests=prefix_digests(prompt[:MOST_BYTES], BLOCK_BYTES, salt),
        digest_tokens=BLOCK_BYTES // TOKEN_BYTES,
        grammar=_grammar(tree),
        adapter=adapter,
    )
    return Asked(tree, tree.get("stream") is True, path in NAMED, route)


def model_of(body: bytes, models: Collection[str]) -> str | None:
    """Return which of `models` a request names; None if it names none of them."""
    tree = object_in(body) if models else None
    model = None if tree is None else tree.get("model")
    return model if isinstance(model, str) and model in models else None


def _prompt(tree: dict[str, object]) -> bytes:
    # Without the bracket at its end, a list of messages is a beginning of the list with more.
    parts = [_dumped(tree[name])[:-1] for name in PROMPT_FIELDS if tree.get(name) is not None]
    return b"\n".join(parts)


def _grammar(tree: dict[str, object]) -> str | None:
    shaping = [(name, tree[name]) for name in GRAMMAR_FIELDS if tree.get(name) is not None]
    if not shaping:
        return None
    return hashlib.blake2b(_dumped(shaping), digest_size=16).hexdigest()


def _dumped(value: object) -> bytes:
    return _encode(value).encode(errors="replace")


LOST: Final = "worker_lost"
STOPPED: Final = "router_stopped"
NO_WORKER: Final = "no_worker"


def error_bytes(message: str, code: str, kind: str = "server_error") -> bytes:
    """Return the body of an error."""
    error = {"message": message, "type": kind, "param": None, "code": code}
    return json.dumps({"error": error}, separators=(",", ":")).encode()


def error_event(message: str, code: str, *, named: bool) -> bytes:
    """Return the last event of a stream that fails; `named`: its events have names, as in
    responses."""
    if not named:
        return b"data: " + error_bytes(message, code) + b"\n\n"
    body = json.loads(error_bytes(message, code))
    event = {"type": "error", "code": code, "message": message, "param": None, **body}
    data = json.dumps(event, separators=(",", ":"))
    return f"event: error\ndata: {data}\n\n".encode()


def retry_header(seconds: float) -> tuple[bytes, bytes]:
    """Return the header that says when to try again."""
    return b"retry-after", b"%d" % max(1, math.ceil(seconds))


def code_of(body: bytes) -> str | None:
    """Return the code in the body of an error; None if there is none."""
    match object_in(body):
        case {"error": {"code": str(code)}}:
            return code
        case _:
            return None
