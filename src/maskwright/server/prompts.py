"""The prompts of a request as token ids."""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor

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
from maskwright.server.request.shape import JsonShape

log = logging.getLogger("maskwright.prompts")


class PromptReader:
    """Renders and tokenises prompts for one engine. To be used from one event loop."""

    def __init__(self, engine: Engine, *, logged: bool) -> None:
        """`logged`: write prompts into the log."""
        self._engine = engine
        self._loaded = engine.loaded
        self._logged = logged
        # One thread, because a fast tokenizer can't be used by two threads at once.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="render")

    async def read(self, request: AnswerRequest, adapter: str | None) -> list[list[int]]:
        """Return the token ids of each prompt. Raises InputError for one that can't be rendered."""
        loop = asyncio.get_running_loop()
        prompts = await loop.run_in_executor(self._thread, self._read, request, adapter)
        if self._logged:
            for prompt in prompts:
                text = self._loaded.vocab.decode(prompt).decode(errors="replace")
                log.info("the prompt of %d tokens", len(prompt), extra={"fields": {"prompt": text}})
        return prompts

    def _read(self, request: AnswerRequest, adapter: str | None) -> list[list[int]]:
        if adapter is not None:  # read in this thread, not in the event loop of all clients
            self._engine.adapters.have(adapter)
        return [self._tokens(prompt, request) for prompt in request.prompts]

    def _tokens(self, prompt: Prompt, request: AnswerRequest) -> list[int]:
        match prompt:
            case ChatPrompt():
                return self._chat(prompt, request)
            case TextPrompt(text=text, special=special):
                return self._loaded.tokenizer.encode(text, add_special_tokens=special)
            case TokenPrompt(tokens=tokens):
                return list(tokens)

    def _chat(self, prompt: ChatPrompt, request: AnswerRequest) -> list[int]:
        shape, use = request.shape, request.tool_use
        schema = shape.text if isinstance(shape, JsonShape) and shape.shown else None
        messages = [message.for_template() for message in prompt.messages]
        tools = None if use is None else use.sent
        try:
            return self._loaded.render_chat(messages, response_schema=schema, tools=tools)
        except TemplateError as error:
            raise InputError(
                f"the model's chat template refuses these messages: {error}", param=request.place
            ) from None
