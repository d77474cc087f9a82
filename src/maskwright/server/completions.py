"""Starts a chat request in the engine: its prompt, grammar, token limit and n generations."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from jinja2 import TemplateError

from maskwright.engine import Engine, Generation, Request
from maskwright.errors import BudgetError, InputError
from maskwright.processes import AnyGrammar, GrammarProcesses
from maskwright.server.answer.choices import Choices
from maskwright.server.answer.event_source import events_of
from maskwright.server.answer.logprobs import ScoreReader
from maskwright.server.answer.parts import PartReader, ToolReader, WordReader
from maskwright.server.answer.token_trace import TokenTrace
from maskwright.server.config import ServerConfig
from maskwright.server.exchange import Exchange
from maskwright.server.grammars.cache import GrammarStore
from maskwright.server.grammars.recipes import Recipes
from maskwright.server.grammars.tool_style import tool_format_of
from maskwright.server.observe.metrics import Metrics
from maskwright.server.request.fields import shown
from maskwright.server.request.protocol import SEED_BITS, ChatRequest
from maskwright.server.request.shape import JsonShape
from maskwright.server.request.tool_use import ToolUse

log = logging.getLogger("maskwright.prompts")

# 2^64 divided by the golden ratio. It is odd, so that all seeds derived from one seed differ.
SEED_STRIDE = 0x9E3779B97F4A7C15


class ChatCompletions:
    """Starts chat requests on one engine. To be used from one event loop."""

    def __init__(
        self,
        engine: Engine,
        config: ServerConfig,
        metrics: Metrics,
        processes: GrammarProcesses | None = None,
    ) -> None:
        self._engine = engine
        self._loaded = engine.loaded
        tool_format = config.tool_format or tool_format_of(engine.loaded.chat_template)
        self._recipes = Recipes(config.whitespace, tool_format)
        self._grammars = GrammarStore(config.grammar_bytes, metrics, engine.loaded.vocab, processes)
        self._log_prompts = config.log_prompts
        # One thread, because a fast tokenizer can't be used by two threads at once.
        self._renderer = ThreadPoolExecutor(1, thread_name_prefix="render")

    async def start(self, request: ChatRequest, exchange: Exchange) -> Choices:
        """Check the request and submit its generations.

        Every fault of a request is raised here, before its answer begins: InputError, whose `param`
        names the field, or OverloadedError.
        """
        self._check_token_ids(request)
        self._check_choices(request)
        grammar = await self._grammar(request, exchange)
        begin = time.monotonic()
        loop = asyncio.get_running_loop()
        prompt = await loop.run_in_executor(self._renderer, self._render, request)
        exchange.rendering = time.monotonic() - begin
        if self._log_prompts:
            text = self._loaded.vocab.decode(prompt).decode(errors="replace")
            log.info("the prompt of %d tokens", len(prompt), extra={"fields": {"prompt": text}})
        limit = self._limit(request, len(prompt))
        if grammar is not None:
            if grammar.min_tokens > limit:  # other texts are tried, which may take long
                await loop.run_in_executor(None, grammar.least_tokens, limit)
            _check_budget(request, grammar, limit)
        submitted = self._submit(request, prompt, limit, grammar)
        exchange.generations = generations = [generation for _, generation in submitted]
        traces = None
        if request.own.trace_tokens:
            traces = [TokenTrace(asked, one.seed, self._loaded.vocab) for asked, one in submitted]
        warnings = () if grammar is None else grammar.report.warnings
        return Choices(
            generations,
            len(prompt),
            _reader(request.tool_use, grammar),
            warnings,
            scores=self._scores(request),
            token_traces=traces,
        )

    def _scores(self, request: ChatRequest) -> Callable[[], ScoreReader] | None:
        if not request.logprobs:
            return None
        return lambda: ScoreReader(self._loaded.vocab, request.params.scale)

    def _check_token_ids(self, request: ChatRequest) -> None:
        for token in request.params.logit_bias:
            if token >= self._loaded.vocab.size:
                raise InputError(
                    f"logit_bias names token {token}; the vocabulary has {self._loaded.vocab.size}",
                    param="logit_bias",
                )

    def _check_choices(self, request: ChatRequest) -> None:
        """Refuse more choices than the engine can ever hold, which would be overload at every
        retry."""
        config = self._engine.config
        most = config.max_running + config.max_waiting
        if request.n > most:
            raise InputError(
                f"n is {request.n}; this server takes at most {most} answers at a time", param="n"
            )

    async def _grammar(self, request: ChatRequest, exchange: Exchange) -> AnyGrammar | None:
        recipe = self._recipes.of(request.shape, request.tool_use, request.stop)
        if recipe is None:
            return None
        begin = time.monotonic()
        exchange.shape = recipe.key.partition(" ")[0]
        exchange.grammar, grammar = await self._grammars.get(recipe)
        exchange.compiling = time.monotonic() - begin
        return grammar

    def _adapter(self, request: ChatRequest) -> str | None:
        return request.model if request.model in self._engine.adapters else None

    def _service(self, request: ChatRequest) -> str:
        names = [item.name for item in self._engine.config.classes]
        name = names[0] if request.own.service is None else request.own.service
        if name not in names:
            raise InputError(
                f"there is no class of service {shown(name)}; there are {', '.join(names)}",
                param="maskwright.service",
            )
        return name

    def _render(self, request: ChatRequest) -> list[int]:
        adapter = self._adapter(request)
        if (
            adapter is not None
        ):  # read in this thread, and not in the event loop that serves all clients
            self._engine.adapters.have(adapter)
        shape, use = request.shape, request.tool_use
        schema = shape.text if isinstance(shape, JsonShape) and shape.shown else None
        messages = [message.for_template() for message in request.messages]
        tools = None if use is None else use.sent
        try:
            return self._loaded.render_chat(messages, response_schema=schema, tools=tools)
        except TemplateError as error:
            raise InputError(
                f"the model's chat template refuses these messages: {error}", param="messages"
            ) from None

    def _limit(self, request: ChatRequest, prompt_tokens: int) -> int:
        """Return the token limit of the answer: the client's, or the rest of the context."""
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
        self, request: ChatRequest, prompt: list[int], limit: int, grammar: AnyGrammar | None
    ) -> list[tuple[Request, Generation]]:
        """Submit n generations; if one is refused, the earlier ones are cancelled."""
        submitted: list[tuple[Request, Generation]] = []
        use = request.tool_use
        try:
            for index in range(request.n):
                asked = Request(
                    prompt=prompt,
                    params=dataclasses.replace(
                        request.params, seed=choice_seed(request.params.seed, index)
                    ),
                    max_tokens=limit,
                    stop=() if use is not None and use.constrains else request.stop,
                    grammar=grammar,
                    adapter=self._adapter(request),
                    service=self._service(request),
                    client=request.user,
                    timeout=request.own.timeout,
                    cache_salt=request.cache_salt,
                    trace=request.own.trace_tokens,
                )
                submitted.append((asked, self._engine.submit(asked)))
        except Exception:
            for _, generation in submitted:
                generation.cancel()
            raise
        return submitted


def _reader(use: ToolUse | None, grammar: AnyGrammar | None) -> Callable[[], PartReader]:
    if use is None or grammar is None or not use.constrains:
        return WordReader
    return lambda: ToolReader(events_of(grammar))


def choice_seed(seed: int | None, index: int) -> int | None:
    """Return the seed of choice `index`. Choice 0 has the client's seed, so it equals the answer
    with n=1."""
    return None if seed is None else (seed + index * SEED_STRIDE) % (1 << SEED_BITS)


def _check_budget(request: ChatRequest, grammar: AnyGrammar, limit: int) -> None:
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
