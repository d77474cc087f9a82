"""Starts requests in the engine: their prompts, grammar, token limits and generations."""

from __future__ import annotations

import dataclasses
import itertools
import math
import time
from collections.abc import Callable
from typing import Final

from msgspec import structs

from maskwright.engine import Engine, Generation, Request
from maskwright.errors import InputError
from maskwright.mask import CompiledGrammar
from maskwright.processes import GrammarProcesses
from maskwright.sampling import TextBan
from maskwright.server.answer.choices import Choices, MakeReport, TokenTrace
from maskwright.server.answer.logprobs import ScoreReader
from maskwright.server.answer.parts import (
    PartReader,
    ReasoningTokens,
    ThinkingReader,
    ToolReader,
    TrimmedReader,
    WordReader,
    thinking_marks_of,
)
from maskwright.server.config import DEFAULT_SECONDS, ServerConfig
from maskwright.server.continuation import Naming, StreamBeginning
from maskwright.server.errors import HttpError
from maskwright.server.exchange import Exchange
from maskwright.server.guarantees.reporter import Reporter
from maskwright.server.observe.metrics import Metrics
from maskwright.server.prompts import PromptReader, check_least
from maskwright.server.recipes import GrammarStore, ReasoningSection, Recipe, Recipes
from maskwright.server.request.answer_request import AnswerRequest, TokenPrompt
from maskwright.server.request.messages import ChatPrompt
from maskwright.server.request.model import check_tokens, shown
from maskwright.server.request.sampling_fields import SEED_BITS
from maskwright.server.request.shape import FreeText
from maskwright.server.request.tool_use import ToolUse

# 2^64 divided by the golden ratio. It is odd, so that all seeds derived from one seed differ.
SEED_STRIDE = 0x9E3779B97F4A7C15

_MARK_TOKENS: Final = 32
"""Tokens at the end of a prompt that may spell the mark of a reasoning section."""


class Starter:
    """Starts requests on one engine. To be used from one event loop."""

    def __init__(
        self,
        engine: Engine,
        config: ServerConfig,
        recipes: Recipes,
        metrics: Metrics,
        prompts: PromptReader,
        processes: GrammarProcesses | None = None,
    ) -> None:
        self._engine = engine
        self._loaded = engine.loaded
        self._thinking = thinking_marks_of(engine.loaded.chat_template)
        self._recipes = recipes
        self._grammars = GrammarStore(config.grammar_bytes, metrics, engine.loaded.vocab, processes)
        self._prompts = prompts
        self._most_seconds = config.request_seconds
        self._processes = processes

    async def start(self, request: AnswerRequest, exchange: Exchange) -> Choices:
        """Check the request and submit its generations: n for each prompt, in this order.

        Every fault of a request is raised here, before its answer begins: InputError, whose `param`
        names the field, or OverloadedError.
        """
        self._check_token_ids(request)
        self._check_choices(request)
        self._check_ends(request)
        service = self._service(request, exchange)
        seconds = self._seconds(request, service)
        if request.options.own.continuation is not None:
            request.options.own.continuation.check_choices(len(request.prompts) * request.options.n)
        begin = time.monotonic()
        prompts = await self._prompts.read(request, self._adapter(request))
        exchange.rendering = time.monotonic() - begin
        recipe = self._recipe(request, prompts[0])
        grammar = None if recipe is None else await self._grammar(recipe, exchange)
        left_out = () if grammar is None else grammar.report.left_out
        if left_out and request.tool_use is not None:  # the model is not to see them, either
            use = request.tool_use.without(left_out)
            request = structs.replace(request, tool_use=use)
            prompts = await self._prompts.read(request, self._adapter(request))
        # The client's limit, or the rest of the context.
        context = self._engine.max_context
        most = context if request.limit is None else request.limit.tokens
        limits = [min(most, context - len(prompt)) for prompt in prompts]
        if recipe is not None and grammar is not None:
            await check_least(request, recipe, grammar, min(limits))
        submitted = self._submit(request, prompts, limits, grammar, exchange, service, seconds)
        exchange.prompts = prompts
        exchange.generations = generations = [generation for _, generation in submitted]
        exchange.requests = [asked for asked, _ in submitted]
        if exchange.allowance is not None:
            exchange.allowance.charge_answers(sum(map(len, prompts)), generations)
        traces = None
        if request.options.own.scores_tokens:
            traces = [TokenTrace(asked, one.seed, self._loaded.vocab) for asked, one in submitted]
        warnings = () if grammar is None else grammar.report.warnings
        return Choices(
            generations,
            prompts,
            self._reader(request, recipe, grammar, prompts[0], exchange.naming),
            warnings,
            name_place=None if recipe is None else recipe.name_place,
            scores=self._scores(request),
            token_traces=traces,
            report=self._reporter(request, recipe, grammar),
            reasoning=self._reasoning_tokens(),
            shows_reasoning=request.reply.include_reasoning,
        )

    def _reader(
        self,
        request: AnswerRequest,
        recipe: Recipe | None,
        grammar: CompiledGrammar | None,
        prompt: list[int],
        naming: Naming,
    ) -> Callable[[], PartReader]:
        """What makes the reader of one answer. Reasoning is split off free answers to a chat, and
        off others whose grammar has a section for it."""
        section = None if recipe is None else recipe.section
        calls = request.tool_use is not None and request.tool_use.constrains
        reader, marks = _words_or_calls(request.tool_use, grammar, naming), self._thinking
        if marks is None or not request.reply.separate_reasoning:
            return reader
        if section is not None:
            begun = section.begun
            if calls:  # whose events distinguish reasoning
                return lambda: TrimmedReader(reader())
            return lambda: ThinkingReader(reader(), marks, begun=begun)
        if not _is_free_chat(request):
            return reader
        begun = self._end_of(prompt).endswith(marks.begin)
        return lambda: ThinkingReader(reader(), marks, begun=begun)

    def _section(self, request: AnswerRequest, prompt: list[int]) -> ReasoningSection | None:
        """The reasoning section that the answer to a chat may have; None if there is none, or if
        the prompt has ended it. Marks that are special tokens are no part of a text, in which they
        could be found."""
        marks, tokens = self._thinking, request.options.thinking_tokens
        usable = marks is not None and marks.begin not in self._loaded.vocab.special_tokens
        if not usable or not request.reply.separate_reasoning or not _is_chat(request):
            none_wanted = marks is None and tokens == 0  # of what the model doesn't have
            if tokens is not None and not none_wanted and not request.options.thinking_optional:
                raise _no_section()
            return None
        assert marks is not None
        prompt_end = self._end_of(prompt)
        if prompt_end.endswith(marks.end):
            return None
        last = request.options.thinking_last
        if marks.end in last:
            raise InputError(
                f"reasoning_budget_message must not hold {marks.end}, the end of the reasoning",
                param="reasoning_budget_message",
            )
        return ReasoningSection(marks, prompt_end.endswith(marks.begin), tokens, last)

    def _end_of(self, prompt: list[int]) -> str:
        """The end of a prompt's text, as long as a mark may be, without space after it."""
        text = self._loaded.vocab.decode(prompt[-_MARK_TOKENS:]).decode(errors="replace")
        return text.rstrip()

    def _reasoning_tokens(self) -> Callable[[], ReasoningTokens] | None:
        marks, texts = self._thinking, self._loaded.vocab.tokens
        return None if marks is None else lambda: ReasoningTokens(texts, marks)

    def _reporter(
        self, request: AnswerRequest, recipe: Recipe | None, grammar: CompiledGrammar | None
    ) -> MakeReport | None:
        if not request.options.own.report:
            return None
        report = None if grammar is None else grammar.report
        recipes, vocabulary = self._recipes_for(request), self._loaded.vocab
        section = None if recipe is None else recipe.section
        return Reporter(request, recipes, report, vocabulary, self._processes, section).report

    def _scores(self, request: AnswerRequest) -> Callable[[], ScoreReader] | None:
        if not request.reply.logprobs:
            return None
        vocab, scale = self._loaded.vocab, request.options.params.scale
        reply = request.reply
        return lambda: ScoreReader(vocab, scale, as_ids=reply.tokens_as_ids, every=reply.echo)

    def _check_token_ids(self, request: AnswerRequest) -> None:
        prompts = (one.tokens for one in request.prompts if isinstance(one, TokenPrompt))
        options = request.options
        named = [
            ("logit_bias", options.params.logit_bias),
            ("allowed_token_ids", options.params.allowed_tokens or ()),
            ("stop_token_ids", options.stop_tokens),
        ]
        for field, tokens in (*named, *((request.place, tokens) for tokens in prompts)):
            if max(tokens, default=0) >= self._loaded.vocab.size:  # a quick look, for long prompts
                check_tokens(field, tokens, self._loaded.vocab.size)

    def _check_ends(self, request: AnswerRequest) -> None:
        """Refuse ends that can't be distinguished from the arguments of calls. Stop strings are
        part of the grammar there."""
        use, options = request.tool_use, request.options
        if use is None or not use.constrains:
            return
        if options.include_stop and options.stop:
            raise InputError(
                "stop strings can't be included beside tools that may be called",
                param="include_stop_str_in_output",
                code="unsupported_parameter",
            )
        for token in options.stop_tokens:
            if self._loaded.vocab.tokens[token]:
                raise InputError(
                    f"token {token} has a text, which may occur in the arguments of a call; beside "
                    "tools that may be called, send stop strings",
                    param="stop_token_ids",
                    code="unsupported_parameter",
                )

    def _check_choices(self, request: AnswerRequest) -> None:
        """Refuse more choices than the engine can ever hold, which would be overload at every
        retry."""
        config, wanted = self._engine.config, len(request.prompts) * request.options.n
        most = config.max_running + config.max_waiting
        if wanted > most:
            what = f"{len(request.prompts)} prompts with n" if len(request.prompts) > 1 else "n"
            raise InputError(
                f"{what} is {request.options.n}; this server takes at most {most} answers at a "
                "time",
                param="n",
            )

    def _recipe(self, request: AnswerRequest, prompt: list[int]) -> Recipe | None:
        recipes, section = self._recipes_for(request), self._section(request, prompt)
        recipe = recipes.of(request.shape, request.tool_use, request.options.stop, section)
        is_bounded = section is not None and section.is_bounded
        counts = is_bounded and not request.options.thinking_optional
        if counts and (recipe is None or recipe.section is None):
            raise _no_section()
        return recipe

    def _recipes_for(self, request: AnswerRequest) -> Recipes:
        options, server = request.options, self._recipes
        asked = options.own.additional_properties
        if asked is None and options.closed is not None:
            asked = "forbid" if options.closed else "allow"
        return structs.replace(
            server,
            whitespace="compact" if options.compact else server.whitespace,
            additional_properties=asked or server.additional_properties,
            numbers=options.own.numbers or server.numbers,
            unusable_tools=options.own.unusable_tools,
        )

    async def _grammar(self, recipe: Recipe, exchange: Exchange) -> CompiledGrammar:
        begin = time.monotonic()
        exchange.shape = recipe.kind
        exchange.grammar_digest = self._recipes.digest(recipe)
        exchange.grammar, grammar = await self._grammars.get(recipe)
        exchange.compiling = time.monotonic() - begin
        return grammar

    def _adapter(self, request: AnswerRequest) -> str | None:
        return request.model if request.model in self._engine.adapters else None

    def _service(self, request: AnswerRequest, exchange: Exchange) -> str:
        """Return the class of service: by default the first one, of those that the key may use.
        Raises HttpError for another one."""
        names = [item.name for item in self._engine.config.classes]
        key = None if exchange.allowance is None else exchange.allowance.key
        usable = names if key is None or not key.classes else key.classes
        asked = request.options.own.service
        name = usable[0] if asked is None else asked
        if name not in names:
            raise InputError(
                f"there is no class of service {shown(name)}; there are {', '.join(names)}",
                param="maskwright.service",
            )
        if name not in usable:
            raise HttpError(
                403,
                f"this key may not use the class of service {name!r}, only {', '.join(usable)}",
                code="service_not_allowed",
                param="maskwright.service",
            )
        return name

    def _seconds(self, request: AnswerRequest, service: str) -> float | None:
        """Return the time limit of an answer in seconds, None for none. Raises InputError if the
        client asks for more time than the server gives. `service`: its class of service."""
        asked, most = request.options.own.timeout, self._most_seconds
        if asked is None and most is None:
            return None if service == "batch" else DEFAULT_SECONDS
        if asked is not None and most is not None and asked > most:
            raise InputError(
                f"this server lets an answer take {most:g} seconds at most, not {asked:g}",
                param="maskwright.timeout",
            )
        seconds = most if asked is None else asked
        return None if seconds == math.inf else seconds

    def _submit(
        self,
        request: AnswerRequest,
        prompts: list[list[int]],
        limits: list[int],
        grammar: CompiledGrammar | None,
        exchange: Exchange,
        service: str,
        seconds: float | None,
    ) -> list[tuple[Request, Generation]]:
        """Submit n generations for each prompt, each with a time limit of `seconds`; if one is
        refused, the earlier ones are cancelled."""
        submitted: list[tuple[Request, Generation]] = []
        use, options = request.tool_use, request.options
        params, words = options.params, options.bad_words
        if words:
            ban = TextBan([word.encode() for word in words], self._loaded.vocab.tokens)
            params = dataclasses.replace(params, banned=ban)
        asked = Request(
            prompt=prompts[0],
            params=params,
            max_tokens=limits[0],
            stop=() if use is not None and use.constrains else options.stop,
            stop_tokens=options.stop_tokens,
            include_stop=options.include_stop,
            grammar=grammar,
            adapter=self._adapter(request),
            service=service,
            client=options.user if exchange.key is None else exchange.key,
            timeout=seconds,
            cache_salt=options.cache_salt,
            trace=options.own.scores_tokens,
            length_if_shortened=options.own.length_if_shortened,
        )
        try:
            for prompt, limit in zip(prompts, limits, strict=True):
                for index in range(options.n):
                    seed = choice_seed(options.params.seed, index)
                    params = dataclasses.replace(params, seed=seed)
                    # In a stream, each choice begins with its prompt as soon as that is there.
                    scores = options.prompt_logprobs
                    scores = None if index and not request.reply.stream else scores
                    one = dataclasses.replace(
                        asked,
                        prompt=prompt,
                        max_tokens=limit,
                        params=params,
                        prompt_logprobs=scores,
                    )
                    one = self._continued(one, len(submitted), options.own.continuation)
                    submitted.append((one, self._engine.submit(one)))
        except Exception:
            for _, generation in submitted:
                generation.cancel()
            raise
        return submitted

    def _continued(self, asked: Request, choice: int, known: StreamBeginning | None) -> Request:
        """Return the request of a choice with what another server has sent of it. Its tokens are
        computed like a prompt; where scores are asked for, or forced text enters one token a step,
        they are drawn anew instead."""
        if known is None:
            return asked
        params = dataclasses.replace(asked.params, seed=known.seeds[choice])
        drawn_anew = params.logprobs is not None or not self._engine.config.drafts
        begun = () if drawn_anew else known.begun(choice)
        asked = dataclasses.replace(asked, params=params, cuts=known.cuts(choice))
        return asked.going_on(begun, known.shortened_at(choice))


def _words_or_calls(
    use: ToolUse | None, grammar: CompiledGrammar | None, naming: Naming
) -> Callable[[], PartReader]:
    """What makes the readers of the choices, in their order."""
    if use is None or grammar is None or not use.constrains:
        return WordReader
    numbers = itertools.count()
    return lambda: ToolReader(grammar.events(), naming.call_ids(next(numbers)))


def _no_section() -> InputError:
    return InputError(
        "this answer has no reasoning section whose tokens could be counted",
        param="thinking_token_budget",
        code="unsupported_parameter",
    )


def _is_chat(request: AnswerRequest) -> bool:
    return all(isinstance(prompt, ChatPrompt) for prompt in request.prompts)


def _is_free_chat(request: AnswerRequest) -> bool:
    """Whether the answer may contain free text that answers a chat."""
    return _is_chat(request) and isinstance(request.shape, FreeText)


def choice_seed(seed: int | None, index: int) -> int | None:
    """Return the seed of choice `index`. Choice 0 has the client's seed, so it equals the answer
    with n=1."""
    return None if seed is None else (seed + index * SEED_STRIDE) % (1 << SEED_BITS)
