"""The prompts of a request as token ids."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

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
        """`logged`: write prompts of requests into the log."""
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

    async def tokens(
        self, prompt: Prompt, tools: Sequence[Mapping[str, Any]] | None = None
    ) -> list[int]:
        """Return the token ids of a prompt by itself."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._tokens, prompt, tools)

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
                    if prompt.variables:  # whose values may be of types that it doesn't expect
                        place = "chat_template_kwargs"
                    elif not isinstance(error, TemplateError):
                        if not tools:
                            raise
                        place = "tools"  # which may hold anything as a description
                    raise InputError(
                        f"the model's chat template refuses this: {error}", param=place
                    ) from None
            case TextPrompt(text=text, special=special):
                return self._loaded.tokenizer.encode(text, add_special_tokens=special)
            case TokenPrompt(tokens=tokens):
                return list(tokens)
