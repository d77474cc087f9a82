"""A chat request on its way into the engine: prompt, grammar, limit, n generations."""

from __future__ import annotations

import asyncio
import dataclasses
from concurrent.futures import ThreadPoolExecutor

from jinja2 import TemplateError

from maskwright.automaton.whitespace import WhitespaceName
from maskwright.engine import Engine, Generation, Request
from maskwright.errors import BudgetError, InputError, LimitError, RegexError, SchemaError
from maskwright.mask import Grammar, compile_json_schema
from maskwright.server.choices import Choices
from maskwright.server.config import ServerConfig
from maskwright.server.grammars import GrammarStore
from maskwright.server.protocol import SEED_BITS, ChatRequest
from maskwright.server.response_format import JsonShape

# Odd, so that n derived seeds of one seed are all different (2^64 divided by the golden ratio).
SEED_STRIDE = 0x9E3779B97F4A7C15


class ChatCompletions:
    """Starts chat requests on one engine. To be used from one event loop."""

    def __init__(self, engine: Engine, config: ServerConfig) -> None:
        self._engine = engine
        self._loaded = engine.loaded
        self._whitespace: WhitespaceName = config.whitespace
        self._grammars = GrammarStore(self._compile, config.grammars)
        # One thread: a fast tokenizer refuses to be used by two at once.
        self._renderer = ThreadPoolExecutor(1, thread_name_prefix="render")

    async def start(self, request: ChatRequest) -> Choices:
        """Everything that can be wrong with a request is raised here, before any answer begins.

        Raises InputError (`param` names the field) and OverloadedError.
        """
        self._check_token_ids(request)
        grammar = await self._grammar(request)
        loop = asyncio.get_running_loop()
        prompt = await loop.run_in_executor(self._renderer, self._render, request)
        limit = self._limit(request, len(prompt))
        if grammar is not None:
            _check_budget(request, grammar, limit)
        return Choices(self._submit(request, prompt, limit, grammar), len(prompt))

    def _check_token_ids(self, request: ChatRequest) -> None:
        for token in request.params.logit_bias:
            if token >= self._loaded.vocab.size:
                raise InputError(
                    f"logit_bias names token {token}; the vocabulary has {self._loaded.vocab.size}",
                    param="logit_bias",
                )

    async def _grammar(self, request: ChatRequest) -> Grammar | None:
        shape = request.response_format
        if not isinstance(shape, JsonShape):
            return None
        try:
            return await self._grammars.get(shape.text())
        except (SchemaError, RegexError, LimitError) as error:
            error.param = shape.place
            raise

    def _compile(self, schema: str) -> Grammar:
        grammar = compile_json_schema(
            schema, self._loaded.vocab, whitespace=self._whitespace, integers="digits"
        )
        _ = grammar.min_tokens  # counted here, and not on the event loop
        return grammar

    def _render(self, request: ChatRequest) -> list[int]:
        shape = request.response_format
        schema = shape.text() if isinstance(shape, JsonShape) and shape.shown else None
        messages = [message.for_template() for message in request.messages]
        try:
            return self._loaded.render_chat(messages, response_schema=schema)
        except TemplateError as error:
            raise InputError(
                f"the model's chat template refuses these messages: {error}", param="messages"
            ) from None

    def _limit(self, request: ChatRequest, prompt_tokens: int) -> int:
        """Tokens the answer may take: the client's bound, or up to the end of the context."""
        room = self._engine.max_context - prompt_tokens
        if room < 1:
            raise InputError(
                f"messages take {prompt_tokens} tokens; the context holds "
                f"{self._engine.max_context}, the answer included",
                param="messages",
                code="context_length_exceeded",
            )
        return room if request.limit is None else min(request.limit.tokens, room)

    def _submit(
        self, request: ChatRequest, prompt: list[int], limit: int, grammar: Grammar | None
    ) -> list[Generation]:
        """n generations; when one is refused the earlier ones are taken back."""
        generations: list[Generation] = []
        try:
            for index in range(request.n):
                generations.append(
                    self._engine.submit(
                        Request(
                            prompt=prompt,
                            params=dataclasses.replace(
                                request.params, seed=choice_seed(request.params.seed, index)
                            ),
                            max_tokens=limit,
                            stop=request.stop,
                            grammar=grammar,
                        )
                    )
                )
        except Exception:
            for generation in generations:
                generation.cancel()
            raise
        return generations


def choice_seed(seed: int | None, index: int) -> int | None:
    """The seed of choice `index`: choice 0 keeps the client's, so it equals the answer of n=1."""
    return None if seed is None else (seed + index * SEED_STRIDE) % (1 << SEED_BITS)


def _check_budget(request: ChatRequest, grammar: Grammar, limit: int) -> None:
    needed = grammar.least_tokens(limit)
    if needed <= limit:
        return
    if request.limit is not None and request.limit.tokens < needed:
        field, told = request.limit.field, request.limit.tokens
        raise BudgetError(
            f"{field} is {told}, but the shortest answer of this schema takes {needed} tokens",
            needed=needed,
            param=field,
        )
    raise BudgetError(
        f"messages leave {limit} tokens of the context, but the shortest answer of this schema "
        f"takes {needed}",
        needed=needed,
        param="messages",
    )
