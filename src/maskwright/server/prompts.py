"""The prompts of a request as token ids."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from jinja2 import TemplateError

from maskwright.engine import Engine
from maskwright.errors import InputError
from maskwright.server.request.answer_request import (
    AnswerRequest,
    ChatPrompt,
    Prompt,
    TextPrompt,
    TokenPrompt,
)
from maskwright.server.request.chat_prompt import EFFORT_VARIABLES
from maskwright.server.request.messages import Message
from maskwright.server.request.shape import JsonShape

QUICK_CHARACTERS: Final = 1_000
"""Characters of a chat or text that is read in the event loop: in less than half a millisecond,
which is about what it costs to hand it to a thread and back while the engine computes."""
QUICK_MESSAGES: Final = 8
"""Messages of such a chat."""

log = logging.getLogger("maskwright.prompts")


class PromptReader:
    """Renders and tokenises prompts for one engine. To be used from one event loop."""

    def __init__(self, engine: Engine, *, logged: bool) -> None:
        """`logged`: write prompts of requests into the log."""
        self._engine = engine
        self._loaded = engine.loaded
        self._logged = logged
        # One thread, and a lock, because a fast tokenizer can't be used by two threads at once.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="render")
        self._using = threading.Lock()

    async def read(self, request: AnswerRequest, adapter: str | None) -> list[list[int]]:
        """Return the token ids of each prompt. Raises InputError for one that can't be rendered."""
        if adapter is None and _is_quick(request) and self._using.acquire(blocking=False):
            try:
                prompts = self._read(request, None)
            finally:
                self._using.release()
        else:
            loop = asyncio.get_running_loop()
            prompts = await loop.run_in_executor(self._thread, self._read_alone, request, adapter)
        if self._logged:
            for prompt in prompts:
                text = self._loaded.vocab.decode(prompt).decode(errors="replace")
                log.info("the prompt of %d tokens", len(prompt), extra={"fields": {"prompt": text}})
        return prompts

    async def tokens(
        self, prompt: Prompt, tools: Sequence[Mapping[str, Any]] | None = None
    ) -> list[int]:
        """Return the token ids of a prompt by itself."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._tokens_alone, prompt, tools)

    def _read_alone(self, request: AnswerRequest, adapter: str | None) -> list[list[int]]:
        with self._using:
            return self._read(request, adapter)

    def _tokens_alone(self, prompt: Prompt, tools: Sequence[Mapping[str, Any]] | None) -> list[int]:
        with self._using:
            return self._tokens(prompt, tools)

    def _read(self, request: AnswerRequest, adapter: str | None) -> list[list[int]]:
        if adapter is not None:  # read in this thread, not in the event loop of all clients
            self._engine.adapters.have(adapter)
        shape, use = request.shape, request.tool_use
        schema = shape.text if isinstance(shape, JsonShape) and shape.shown else None
        tools = None if use is None else use.sent
        return [self._tokens(prompt, tools, schema, request.place) for prompt in request.prompts]

    def _tokens(
        self,
        prompt: Prompt,
        tools: Sequence[Mapping[str, Any]] | None = None,
        schema: str | None = None,
        place: str = "messages",
    ) -> list[int]:
        """Return the token ids of a prompt; `schema`: that of the answer, for the chat template.
        `place`: the field that contained the prompt."""
        match prompt:
            case ChatPrompt():
                try:
                    return self._loaded.render_chat(
                        [message.for_template() for message in prompt.messages],
                        response_schema=schema,
                        tools=tools,
                        variables=prompt.variables,
                        begins_answer=prompt.begins_answer,
                        continues=prompt.continues,
                    )
                except InputError:
                    raise
                except Exception as error:
                    blamed = _blamed(prompt, error, place, with_tools=bool(tools))
                    if blamed is None:
                        raise
                    raise InputError(
                        f"the model's chat template refuses this: {error}", param=blamed
                    ) from None
            case TextPrompt(text=text, special=special):
                return self._loaded.tokenizer.encode(text, add_special_tokens=special)
            case TokenPrompt(tokens=tokens):
                return list(tokens)


def _blamed(prompt: ChatPrompt, error: Exception, place: str, *, with_tools: bool) -> str | None:
    """Return the field of which the chat template can make nothing; None for a defect of the
    server. `place`: the field that contained the prompt."""
    if prompt.variables and frozenset(prompt.variables) != EFFORT_VARIABLES:
        return "chat_template_kwargs"  # whose values may be of types that it doesn't expect
    if isinstance(error, TemplateError):
        return place
    if with_tools:  # which may hold anything as a description
        return "tools"
    if prompt.variables:
        return "reasoning.effort" if place == "input" else "reasoning_effort"
    return None


def _is_quick(request: AnswerRequest) -> bool:
    """Whether the prompt of a request is so short that it is read in the event loop."""
    if len(request.prompts) != 1 or request.tool_use is not None:
        return False
    shape = request.shape
    shown = len(shape.text) if isinstance(shape, JsonShape) and shape.shown else 0
    match request.prompts[0]:
        case ChatPrompt(messages=messages, variables=variables):
            if variables or len(messages) > QUICK_MESSAGES:
                return False
            sizes = [_characters(message) for message in messages]
            return shown + sum(sizes) <= QUICK_CHARACTERS
        case TextPrompt(text=text):
            return len(text) <= QUICK_CHARACTERS
        case TokenPrompt():
            return True


def _characters(message: Message) -> int:
    """The characters of a message without calls; more than is quick for one with calls."""
    if message.tool_calls:
        return QUICK_CHARACTERS + 1
    texts = (message.content, message.reasoning, message.name or "", message.tool_call_id or "")
    return sum(map(len, texts))
