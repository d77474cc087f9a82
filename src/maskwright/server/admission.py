"""Refuses prompts that are too long, by their bytes: before they are parsed, rendered or cut into
tokens, which may take seconds for what a client can send.

A prompt has at least as many tokens as its bytes divided by those of the longest token. Counted is
only what a prompt certainly contains: not what the chat template may leave out, such as the
reasoning of earlier turns, and of tools and shapes nothing. What is let in may still be too long,
which is found while it is cut (`prompts`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, cast

from maskwright.engine import Engine
from maskwright.errors import InputError
from maskwright.server.access.rates import Allowance
from maskwright.server.access_control import rate_limited
from maskwright.server.json import Json
from maskwright.server.observe.metrics import Metrics

_ROLES: Final = {"developer": "system", "function": "tool"}
"""Roles under the names that templates know."""

_OUTPUTS: Final = ("function_call_output", "custom_tool_call_output")


class Chat(list[object]):
    """The messages of a chat, as distinct from token ids."""


class PromptAdmission:
    """Knows what fits into the context of an engine, and what a key may still use. Can be used from
    any thread."""

    def __init__(self, engine: Engine, metrics: Metrics) -> None:
        self._metrics = metrics
        self._context = engine.max_context
        self._least = engine.loaded.least_tokens
        self._shown = engine.loaded.shown_roles()

    def check(self, body: Json, place: str, allowance: Allowance | None) -> None:
        """Check the prompts of a request that is not parsed yet, whose field `place` contains
        them. Raises InputError for one that doesn't fit into the context, and HttpError if all of
        them exceed what `allowance` still allows. Says nothing of what is malformed."""
        if body.get("truncate_prompt_tokens") is not None:
            return
        least = [self._tokens(prompt) for prompt in _prompts(body, place)]
        longest = max(least, default=0)
        if longest >= self._context:
            raise InputError(
                f"the prompt takes at least {longest} tokens; the context holds {self._context}, "
                "the answer included",
                param=place,
                code="context_length_exceeded",
            )
        if allowance is not None:
            self._check_quota(sum(least), place, allowance)

    def _check_quota(self, tokens: int, place: str, allowance: Allowance) -> None:
        excess = allowance.exceeded_by(tokens)
        if excess is None:
            return
        name = allowance.key.name
        if tokens > excess.limit:
            raise InputError(
                f"the prompt takes at least {tokens} tokens; the key {name} may use {excess.what}",
                param=place,
                code="quota_too_small",
            )
        self._metrics.used_key(name, excess.name)
        raise rate_limited(allowance, excess)

    def _tokens(self, prompt: object) -> int:
        """Return how many tokens a prompt takes at least: a text, token ids, or the messages of a
        chat."""
        match prompt:
            case str(text):
                return self._least.of([text])
            case Chat():
                return self._least.of(self._shown_texts(prompt))
            case list():
                return len(cast(list[object], prompt))
            case _:
                return 0

    def _shown_texts(self, chat: Chat) -> Iterator[str]:
        """Yield the texts of a chat that its prompt certainly contains."""
        for at, message in enumerate(chat):
            if not isinstance(message, dict):
                continue
            fields = cast(Json, message)
            given = fields.get("role")
            role = _ROLES.get(given, given) if isinstance(given, str) else None
            if role in self._shown and (at == 0 or role != "system"):
                yield from _texts(fields.get("content"))


def _prompts(body: Json, place: str) -> list[object]:
    """Return the prompts in a field of a body, in any of its forms."""
    given = body.get(place)
    match place:
        case "messages":
            return [Chat(cast(list[object], given))] if isinstance(given, list) else []
        case "input":
            return [_conversation(body.get("instructions"), given)]
        case _:
            many = isinstance(given, list) and given and isinstance(given[0], list | str)
            return cast(list[object], given) if many else [given]


def _conversation(instructions: object, given: object) -> Chat:
    """Return the input of the responses protocol as the messages of a chat."""
    chat = Chat()
    if isinstance(instructions, str):
        chat.append({"role": "system", "content": instructions})
    items = [{"role": "user", "content": given}] if isinstance(given, str) else given
    for item in cast(list[object], items) if isinstance(items, list) else ():
        if isinstance(item, dict) and cast(Json, item).get("type") in _OUTPUTS:
            chat.append({"role": "tool", "content": cast(Json, item).get("output")})
        else:
            chat.append(item)
    return chat


def _texts(content: object) -> Iterator[str]:
    """Yield the text of a message, or of each of its parts, without the space around it, which
    templates may remove."""
    if isinstance(content, str):
        yield content.strip()
    elif isinstance(content, list):
        for part in cast(list[object], content):
            match part:
                case str(text) | {"text": str(text)}:
                    yield text.strip()
                case _:
                    pass
