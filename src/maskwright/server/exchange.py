"""The record of one HTTP request while it is answered, for logs, metrics and traces."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from msgspec import Struct
from starlette.types import Scope

from maskwright.engine import Generation, Request
from maskwright.server.access import Allowance
from maskwright.server.config import Identity
from maskwright.server.continuation import Naming
from maskwright.server.json import Json

KEY = "maskwright.exchange"

OWNER = "maskwright.owner"
"""In the scope of a request that this process makes for a batch: the name of the key that has made
the batch. No client can set it."""

CURRENT: ContextVar[Exchange | None] = ContextVar("exchange", default=None)
"""The request that the current task answers; log lines contain its id."""

GrammarSource: TypeAlias = Literal["none", "kept", "shared", "compiled"]
"""Where the grammar of an answer came from. "none": the answer has none; "kept": it was in the
cache; "shared": it was being compiled for another request; "compiled": it was compiled for this
one."""


class Sent(Struct):
    """When text of a choice was sent to the client, in seconds of the monotonic clock."""

    first_at: float
    last_at: float
    first_tokens: int
    """Tokens of the first text that was sent."""


@dataclass(slots=True, eq=False)
class Exchange:
    """One HTTP request and its answer. Durations are in seconds; None for what did not happen.

    - `started` is a time of the monotonic clock, `received` in seconds since 1970.
    - `code`: that of the error with which it ended.
    - `allowance`: that of the client's key; None if the server has no keys.
    - `body` is as it was parsed, `prompts` are token ids.
    - `naming`: the names that are drawn for the answer.
    - `relayed`: a router has sent the request, and gets records from which another server could
      continue the answer.
    - `requests`: what each of `generations` was asked for.
    - `hand_to`: the address of the server to which the router wants the request handed over.
    - `grammar_digest` is equal for answers with equal grammars.
    """

    request_id: str
    method: str = ""
    path: str = ""
    traceparent: str | None = None
    received: float = field(default_factory=time.time)
    started: float = field(default_factory=time.monotonic)
    status: int = 0
    code: str | None = None
    allowance: Allowance | None = None
    route: str = ""
    model: str | None = None
    stream: bool = False
    served_by: Identity | None = None
    body: Json | None = None
    naming: Naming = field(default_factory=Naming)
    relayed: bool = False
    hand_to: str | None = None
    prompts: Sequence[Sequence[int]] = ()
    shape: str | None = None
    grammar_digest: str | None = None
    grammar: GrammarSource = "none"
    compiling: float | None = None
    rendering: float | None = None
    seconds: float = 0.0
    """The whole duration, once the request has ended."""
    generations: Sequence[Generation] = ()
    requests: Sequence[Request] = ()
    sent: dict[int, Sent] = field(default_factory=dict[int, Sent])

    @property
    def key(self) -> str | None:
        """The name of the client's key; None if the server has no keys."""
        return None if self.allowance is None else self.allowance.key.name

    def note_sent(self, index: int, tokens: int) -> None:
        """Record that text of choice `index` was sent, which has `tokens` tokens so far."""
        now, before = time.monotonic(), self.sent.get(index)
        if before is None:
            self.sent[index] = Sent(now, now, tokens)
        else:
            before.last_at = now


def owner_of(scope: Scope) -> str | None:
    """Return the name of the key with which a request came; None for a server without keys."""
    return exchange_of(scope).key


def exchange_of(scope: Scope) -> Exchange:
    """Return the exchange of an ASGI scope, in which the middleware stores it."""
    return scope[KEY]
