"""Decides which requests are let in: those with a valid key, within its rates, before a drain; and
whose prompts may fit.

Prompts that are too long are refused by their bytes: before they are parsed, rendered or cut into
tokens, which may take seconds for what a client can send. A prompt has at least as many tokens as
its bytes divided by the bytes of the longest token. Only what a prompt certainly contains is
counted: not what the chat template may leave out, such as the reasoning of earlier turns, and
nothing of tools and shapes. What is let in may still be too long, which is found while it is cut
(`prompts`).
"""

from __future__ import annotations

import math
from contextlib import nullcontext
from typing import Final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from maskwright.dist.drain import Drain
from maskwright.dist.handoff.http_names import BLOCKS_PATH, LACKING_PATH
from maskwright.engine import Engine
from maskwright.errors import InputError
from maskwright.server.access import Allowance, Excess, KeyRing
from maskwright.server.errors import HttpError, code_of, describe, error_response
from maskwright.server.exchange import OWNER, exchange_of
from maskwright.server.observe.metrics import Metrics
from maskwright.server.prompt_sizes import least_tokens

PROBES: Final = frozenset({"/health", "/live", "/ready", "/ping"})
"""Paths without a key: load balancers and supervisors have none, and learn nothing but whether the
server works."""

HANDOFF: Final = frozenset({LACKING_PATH, BLOCKS_PATH})
"""Paths with a key of their own, which servers use among themselves."""

METRICS: Final = "/metrics"

READING: Final = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods of requests that cost nothing: they aren't counted, and a drain doesn't wait for them."""

RETRY_SECONDS: Final = 1
"""Time after which a client should try again whose request came during a drain. It will reach
another server, or this one's successor."""


class AccessControl:
    """Middleware that answers requests which aren't let in: 401 without a valid key, 429 beyond the
    rates of the key, 503 during a drain."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        keys: KeyRing | None,
        drain: Drain,
        metrics: Metrics,
        open_metrics: bool = False,
        pages: frozenset[str] = frozenset(),
    ) -> None:
        """`keys`: None for a server that everybody may use. `open_metrics`: `/metrics` needs no
        key. `pages`: paths of static files, which need none either."""
        self._app = app
        self._keys = keys
        self._drain = drain
        self._metrics = metrics
        self._open = PROBES | HANDOFF | ({METRICS} if open_metrics else set[str]())
        self._pages = pages
        self._allowances: dict[str, Allowance] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = str(scope.get("path", "")).removeprefix("/v1")
        reads = scope["type"] == "http" and scope["method"] in READING
        is_page = reads and scope.get("path") in self._pages
        if scope["type"] != "http" or path in self._open or is_page:
            await self._app(scope, receive, send)
            return
        exchange = exchange_of(scope)
        try:
            exchange.allowance = self._allowance(scope)
            if not reads:
                self._let_in(exchange.allowance)
        except HttpError as error:
            exchange.code = code_of(describe(error)[1])
            await error_response(error, exchange.path)(scope, receive, send)
            return
        with nullcontext() if reads else self._drain.answering():
            await self._app(scope, receive, send)

    def _allowance(self, scope: Scope) -> Allowance | None:
        """Return the allowance of the request's key; None if the server has no keys. Raises
        HttpError."""
        if self._keys is None:
            return None
        text = _key_of(Headers(scope=scope))
        if OWNER in scope:  # a request of a batch, which was let in with this key
            key = next((key for key in self._keys.keys if key.name == scope[OWNER]), None)
        else:
            key = None if text is None else self._keys.find(text)
        if key is None:
            message = "an API key is needed, in the header 'Authorization: Bearer KEY'"
            if text:
                message = "the API key is not known here"
            asks = {"WWW-Authenticate": "Bearer"}
            raise HttpError(401, message, code="invalid_api_key", headers=asks)
        held = self._allowances.get(key.name)
        if held is None or held.key != key:  # the file of keys was read again
            held = self._allowances[key.name] = Allowance(key)
        return held

    def _let_in(self, allowance: Allowance | None) -> None:
        """Count a request. Raises HttpError for one that isn't let in."""
        if self._drain.begun:
            raise HttpError(
                503,
                "the server is being stopped and takes no new requests",
                code="draining",
                headers={"Retry-After": str(RETRY_SECONDS), "Connection": "close"},
            )
        if allowance is None:
            return
        excess = allowance.enter()
        self._metrics.used_key(allowance.key.name, None if excess is None else excess.name)
        if excess is not None:
            raise rate_limited(allowance, excess)


def _key_of(headers: Headers) -> str | None:
    """Return the text of the key in a request; None if it has none. Anthropic's clients send it in
    a header of its own."""
    scheme, _, text = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return text.strip()
    return headers.get("x-api-key")


def rate_limited(allowance: Allowance, excess: Excess) -> HttpError:
    """Return the refusal of a request that exceeds a limit of its key at present."""
    seconds = max(1, math.ceil(excess.seconds))
    return HttpError(
        429,
        f"the key {allowance.key.name} may use {excess.what}; come back in {seconds} s",
        code="rate_limit_exceeded",
        headers={"Retry-After": str(seconds)},
    )


class PromptAdmission:
    """Knows what fits into the context of an engine, and what a key may still use. Can be used from
    any thread."""

    def __init__(self, engine: Engine, metrics: Metrics) -> None:
        self._metrics = metrics
        self._context = engine.max_context
        self._least = engine.loaded.least_tokens
        self._shown = engine.loaded.shown_roles()

    def check(self, body: bytes, place: str, allowance: Allowance | None) -> None:
        """Check the prompts of a request that is not parsed yet, whose field `place` contains
        them. Raises InputError for one that doesn't fit into the context, and HttpError if all of
        them exceed what `allowance` still allows. Says nothing of what is malformed."""
        longest, total = self._count(body, place)
        if longest >= self._context:
            raise InputError(
                f"the prompt takes at least {longest} tokens; the context holds {self._context}, "
                "the answer included",
                param=self._blamed(body, place, self._context - 1),
                code="context_length_exceeded",
            )
        if allowance is not None:
            self._check_quota(body, total, place, allowance)

    def _count(self, body: bytes, place: str, *, instructed: bool = True) -> tuple[int, int]:
        found = least_tokens(body, place, self._shown, *self._least, instructed=instructed)
        return found or (0, 0)

    def _blamed(self, body: bytes, place: str, most: int) -> str:
        """Return the field that makes a prompt take more than `most` tokens: the instructions if
        the rest would fit, as where the prompt is cut into tokens."""
        if place == "input" and self._count(body, place, instructed=False)[0] <= most:
            return "instructions"
        return place

    def _check_quota(self, body: bytes, tokens: int, place: str, allowance: Allowance) -> None:
        excess = allowance.exceeded_by(tokens)
        if excess is None:
            return
        name = allowance.key.name
        if tokens > excess.limit:
            raise InputError(
                f"the prompt takes at least {tokens} tokens; the key {name} may use {excess.what}",
                param=self._blamed(body, place, excess.limit),
                code="quota_too_small",
            )
        self._metrics.used_key(name, excess.name)
        raise rate_limited(allowance, excess)
