"""One HTTP request while it is answered: what is noted on the way, for logs, metrics and traces."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from starlette.types import Scope

from maskwright.engine import Generation

KEY = "maskwright.exchange"

CURRENT: ContextVar[Exchange | None] = ContextVar("exchange", default=None)
"""The request that the running task answers; logs name its id."""

GrammarSource: TypeAlias = Literal["none", "kept", "shared", "compiled"]
"""Where the grammar of an answer came from: there is none; it was there; another request was
having it compiled; it was compiled for this one."""


@dataclass(slots=True)
class Sent:
    """What of a choice has gone to the client, in seconds of the monotonic clock."""

    first_at: float
    last_at: float
    first_tokens: int
    """Tokens that were there with the first text."""


@dataclass(slots=True, eq=False)
class Exchange:
    """`started` is on the monotonic clock, `received` the seconds since 1970. `code` is that of the
    error it ended with. Durations are seconds, None where there was nothing of the kind."""

    request_id: str
    method: str = ""
    path: str = ""
    traceparent: str | None = None
    received: float = field(default_factory=time.time)
    started: float = field(default_factory=time.monotonic)
    status: int = 0
    code: str | None = None
    route: str = ""
    model: str | None = None
    stream: bool = False
    shape: str | None = None
    grammar: GrammarSource = "none"
    compiling: float | None = None
    rendering: float | None = None
    seconds: float = 0.0
    """From beginning to end, once it has ended."""
    generations: Sequence[Generation] = ()
    sent: dict[int, Sent] = field(default_factory=dict[int, Sent])

    def note_sent(self, index: int, tokens: int) -> None:
        """Text of choice `index` has gone out, of which there are `tokens` tokens by now."""
        now, before = time.monotonic(), self.sent.get(index)
        if before is None:
            self.sent[index] = Sent(now, now, tokens)
        else:
            before.last_at = now


def exchange_of(scope: Scope) -> Exchange:
    """That of an ASGI scope, which the middleware has put there."""
    return scope[KEY]
