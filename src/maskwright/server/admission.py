"""Refuses prompts that are too long, by their bytes: before they are parsed, rendered or cut into
tokens, which may take seconds for what a client can send.

A prompt has at least as many tokens as its bytes divided by the bytes of the longest token. Only
what a prompt certainly contains is counted: not what the chat template may leave out, such as the
reasoning of earlier turns, and nothing of tools and shapes. What is let in may still be too long,
which is found while it is cut (`prompts`).
"""

from __future__ import annotations

from maskwright.engine import Engine
from maskwright.errors import InputError
from maskwright.server.access.rates import Allowance
from maskwright.server.access_control import rate_limited
from maskwright.server.observe.metrics import Metrics
from maskwright.server.prompt_sizes import least_tokens


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
