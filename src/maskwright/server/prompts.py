"""The prompts of a request as token ids; and whether a prompt fits into the context, and the
shortest answer of a shape into its limit.

Short prompts are read in the event loop, larger ones in a thread. Those that take longer than a
window of text have another thread, in which they take turns after each window, so that no prompt
waits for a much larger one. The tokenizer gives up the interpreter's lock meanwhile.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, NamedTuple, TypeVar, cast

from jinja2 import TemplateError
from msgspec.structs import replace

from maskwright.engine import Engine
from maskwright.errors import BudgetError, InputError, LimitError
from maskwright.immutable import Immutable
from maskwright.mask import CompiledGrammar
from maskwright.server.recipes import Recipe
from maskwright.server.request.answer_request import AnswerRequest, Prompt, TextPrompt, TokenPrompt
from maskwright.server.request.messages import EFFORT_VARIABLES, ChatPrompt, Message
from maskwright.server.request.shape import ConstrainedShape, FreeText
from maskwright.vocab.text_encoder import WINDOW

T = TypeVar("T")

QUICK_CHARACTERS: Final = 1_000
"""Characters of a chat or text that is read in the event loop: in less than half a millisecond,
which is about what it costs to hand it to a thread and back while the engine computes."""
QUICK_MESSAGES: Final = 8
"""Messages of such a chat."""
VALUE_SIZE: Final = 16
"""Characters that cost as much as one value of tools, messages or variables by itself."""

log = logging.getLogger("maskwright.prompts")


class TokenisedPrompt(NamedTuple):
    """The token ids of a prompt. `whole`: these are all; otherwise only so many as matter."""

    ids: list[int]
    whole: bool


class Shown(Immutable):
    """What chats show beside their messages: tools, and the `schema` of the answer. `place`: the
    field that contained the prompts."""

    tools: Sequence[Mapping[str, Any]] | None = None
    schema: str | None = None
    place: str = "messages"


class PromptReader:
    """Renders and tokenises prompts for one engine. To be used from one event loop."""

    def __init__(
        self, engine: Engine, variables: Mapping[str, object] | None = None, *, logged: bool
    ) -> None:
        """`variables`: for the chat template, where a request sets no others. `logged`: write
        prompts of requests into the log. Raises InputError for variables with which the template
        fails."""
        self._engine = engine
        self._loaded = engine.loaded
        self._variables = variables or {}
        if self._variables:
            self._check_variables()
        self._logged = logged
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="render")
        self._thread_of_large = ThreadPoolExecutor(1, thread_name_prefix="render-large")

    def _check_variables(self) -> None:
        """Render a chat with the server's own variables, for which no request is to blame."""
        hello = Message("user", "hello").for_template()
        try:
            self._loaded.render_chat_texts([hello], variables=self._variables)
        except Exception as error:
            raise InputError(
                f"the model's chat template refuses the server's chat_template_kwargs: {error}",
                param="chat_template_kwargs",
            ) from None

    async def read(self, request: AnswerRequest, adapter: str | None) -> list[list[int]]:
        """Return the token ids of each prompt, cut as the request asks. Raises InputError for one
        that can't be rendered, or leaves no room for an answer."""
        if adapter is not None:
            await asyncio.to_thread(self._engine.adapters.have, adapter)
        try:
            prompts = await self._read(request)
        except InputError as error:
            error.param = error.param or request.place  # of a text that can't be read
            raise
        for number, prompt in enumerate(prompts):
            if len(prompt.ids) >= self._engine.max_context:
                raise await self._too_long(request, number, prompt)
        if self._logged:
            for ids, _ in prompts:
                text = self._loaded.vocab.decode(ids).decode(errors="replace")
                log.info("the prompt of %d tokens", len(ids), extra={"fields": {"prompt": text}})
        return [prompt.ids for prompt in prompts]

    async def count(self, request: AnswerRequest, adapter: str | None) -> int:
        """Return how many tokens all prompts of a request take, however long they are."""
        if adapter is not None:
            await asyncio.to_thread(self._engine.adapters.have, adapter)
        prompts = await self._apart(request.prompts, _shown(request), None)
        return sum(len(prompt.ids) for prompt in prompts)

    async def tokens(
        self, prompts: Sequence[Prompt], tools: Sequence[Mapping[str, Any]] | None = None
    ) -> list[list[int]]:
        """Return the token ids of prompts by themselves."""
        return [prompt.ids for prompt in await self._apart(prompts, Shown(tools), None)]

    async def _too_long(
        self, request: AnswerRequest, number: int, prompt: TokenisedPrompt
    ) -> InputError:
        """Return the error of a prompt that is too long, which says how many of its tokens are for
        tools and schema, and names the field of the first message if the rest would fit."""
        context, count = self._engine.max_context, len(prompt.ids)
        bare = await self._length(without_shape(request), number)
        error = prompt_too_long(request, count, bare, context, whole=prompt.whole)
        if error.param == request.place:
            rest = await self._length(without_first(request), number)
            if rest is not None and rest < context:
                error.param = request.first_place
        return error

    async def _length(self, request: AnswerRequest | None, number: int) -> int | None:
        """Return how many tokens a prompt takes; None without a request, or for too many."""
        if request is None:
            return None
        prompt = (await self._read(request))[number]
        return len(prompt.ids) if prompt.whole else None

    async def _read(self, request: AnswerRequest) -> list[TokenisedPrompt]:
        shown = _shown(request)
        kept, first = self._kept(request), request.options.keeps_beginning
        if kept is None:
            enough: int | None = self._engine.max_context
        else:
            enough = min(kept, self._engine.max_context) if first else None
        if _is_quick(request):
            prompts = self._tokens(request.prompts, shown)
        else:
            prompts = await self._apart(request.prompts, shown, enough)
        if kept is None:
            return prompts
        cut = slice(kept) if first else slice(-kept, None)
        return [TokenisedPrompt(ids[cut], whole) for ids, whole in prompts]

    def _kept(self, request: AnswerRequest) -> int | None:
        """Return how many tokens of each prompt are kept; None for all."""
        kept = request.options.kept
        if kept is None or kept > 0:
            return kept
        room = self._engine.max_context - (1 if request.limit is None else request.limit.tokens)
        return max(room, 1)

    async def _apart(
        self, prompts: Sequence[Prompt], shown: Shown, enough: int | None
    ) -> list[TokenisedPrompt]:
        """Return the token ids of prompts, which other threads read. `enough`: so many of the first
        ones suffice, if there are more."""
        if not _are_large(prompts, shown):
            return await _in(self._thread, self._tokens, prompts, shown)
        return [await self._in_turns(prompt, shown, enough) for prompt in prompts]

    async def _in_turns(self, prompt: Prompt, shown: Shown, enough: int | None) -> TokenisedPrompt:
        if isinstance(prompt, TokenPrompt):
            return TokenisedPrompt(list(prompt.tokens), whole=True)
        ids: list[int] = []
        for text in await _in(self._thread_of_large, self._texts, prompt, shown):
            windows = self._loaded.encoder.windows(text, special=_is_special(prompt))
            while enough is None or len(ids) < enough:
                part = await _in(self._thread_of_large, _next, windows)
                if part is None:
                    break
                ids += part
            else:
                return TokenisedPrompt(ids, whole=False)
        return TokenisedPrompt(ids, whole=True)

    def _tokens(self, prompts: Sequence[Prompt], shown: Shown) -> list[TokenisedPrompt]:
        """Return the token ids of prompts, each read at once."""
        found: list[TokenisedPrompt] = []
        for prompt in prompts:
            ids: list[int] = []
            if isinstance(prompt, TokenPrompt):
                ids += prompt.tokens
            else:
                special = _is_special(prompt)
                for text in self._texts(prompt, shown):
                    ids += self._loaded.encoder.encode(text, special=special)
            found.append(TokenisedPrompt(ids, whole=True))
        return found

    def _texts(self, prompt: ChatPrompt | TextPrompt, shown: Shown) -> list[str]:
        """Return the texts whose tokens are a prompt."""
        if isinstance(prompt, TextPrompt):
            return [prompt.text]
        try:
            return self._loaded.render_chat_texts(
                [message.for_template() for message in prompt.messages],
                response_schema=shown.schema,
                tools=shown.tools,
                variables={**self._variables, **prompt.variables},
                begins_answer=prompt.begins_answer,
                continues=prompt.continues,
            )
        except InputError:
            raise
        except Exception as error:
            blamed = _blamed(prompt, error, shown.place, with_tools=bool(shown.tools))
            if blamed is None:
                raise
            raise InputError(
                f"the model's chat template refuses this: {error}", param=blamed
            ) from None


def _shown(request: AnswerRequest) -> Shown:
    use = request.tool_use
    return Shown(None if use is None else use.sent, request.shape.shown_schema, request.place)


def _next(windows: Iterator[list[int]]) -> list[int] | None:
    return next(windows, None)


async def _in(thread: ThreadPoolExecutor, work: Callable[..., T], *given: object) -> T:
    return await asyncio.get_running_loop().run_in_executor(thread, work, *given)


def _blamed(prompt: ChatPrompt, error: Exception, place: str, *, with_tools: bool) -> str | None:
    """Return the field with which the chat template fails; None for a defect of the
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
    shown = len(request.shape.shown_schema or "")
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


def _is_special(prompt: ChatPrompt | TextPrompt) -> bool:
    """Whether the tokenizer puts special tokens around a prompt. Chat templates write their own."""
    return isinstance(prompt, TextPrompt) and prompt.special


def _are_large(prompts: Sequence[Prompt], shown: Shown) -> bool:
    """Whether prompts are together longer than the text that is cut into tokens at once."""
    size = 0
    for each in _sizes((prompts, shown.tools, shown.schema)):
        size += each
        if size > WINDOW:
            return True
    return False


def _sizes(value: object) -> Iterator[int]:
    """Yield the sizes of all parts of a value."""
    match value:
        case str():
            yield len(value) + VALUE_SIZE
        case ChatPrompt():
            yield from _sizes((value.messages, value.variables))
        case TextPrompt():
            yield len(value.text)
        case Message():
            yield from _sizes((value.content, value.reasoning, value.name, value.tool_call_id))
            for call in value.tool_calls:
                yield from _sizes((call.name, call.arguments))
        case Mapping():
            for name, member in cast(Mapping[str, object], value).items():
                yield len(name)
                yield from _sizes(member)
        case list() | tuple():
            for each in cast(Sequence[object], value):
                yield from _sizes(each)
        case _:
            yield VALUE_SIZE


MOST_NAMES: Final = 3
"""Tools that a message names."""


def without_shape(request: AnswerRequest) -> AnswerRequest | None:
    """Return a request whose prompts show neither a schema nor tools; None if they show none."""
    if request.tool_use is None and request.shape.shown_schema is None:
        return None
    return replace(request, shape=FreeText(), tool_use=None)


def without_first(request: AnswerRequest) -> AnswerRequest | None:
    """Return a request without the first message; None unless that has a field of its own."""
    if request.first_place is None:
        return None
    (prompt,) = request.prompts
    assert isinstance(prompt, ChatPrompt)
    return replace(request, prompts=(replace(prompt, messages=prompt.messages[1:]),))


def prompt_too_long(
    request: AnswerRequest, tokens: int, bare: int | None, context: int, *, whole: bool = True
) -> InputError:
    """Return the error of a prompt of so many `tokens`, or more if that is not the `whole` prompt.
    `bare`: how many it takes without the schema and the tools that it shows; None if it shows none,
    or that is not known. The error names what has to be shortened: these, if the rest would fit."""
    shown, place = "", request.place
    least = "" if whole else "at least "
    if bare is not None and bare < tokens:
        names: dict[str, str] = {}
        if isinstance(request.shape, ConstrainedShape) and request.shape.shown_schema:
            names["the schema"] = request.shape.place
        if request.tool_use is not None:
            names["the tools"] = request.tool_use.field
        shown = f", {least}{tokens - bare} of them for {' and '.join(names)}"
        if bare < context:
            place = next(iter(names.values()))
    return InputError(
        f"the prompt takes {least}{tokens} tokens{shown}; the context holds {context}, the answer "
        "included",
        param=place,
        code="context_length_exceeded",
    )


async def check_least(
    request: AnswerRequest, recipe: Recipe, grammar: CompiledGrammar, limit: int
) -> None:
    """Refuse a limit that no text of the grammar keeps to."""
    needed = grammar.min_tokens
    if needed <= limit:
        return
    try:  # other texts are tried, which may take long
        loop = asyncio.get_running_loop()
        needed = await loop.run_in_executor(None, grammar.least_tokens, limit)
    except LimitError as error:
        recipe.name_place(error)
        raise
    if needed <= limit:
        return
    shortest = _shortest(request)
    if request.limit is not None and request.limit.tokens < needed:
        field, limit = request.limit.field, request.limit.tokens
        raise BudgetError(
            f"{field} is {limit}, but the shortest {shortest} found takes {needed} tokens",
            needed=needed,
            param=field,
        )
    raise BudgetError(
        f"the prompt leaves {limit} tokens of the context, but the shortest {shortest} found takes "
        f"{needed}",
        needed=needed,
        param=request.place,
    )


def _shortest(request: AnswerRequest) -> str:
    """Say of what the shortest text was looked for."""
    use = request.tool_use
    if use is not None and use.constrains:
        tools = _named([tool.name for tool in use.choice.tools])
        return f"call of {tools}" if use.forced else f"answer or call of {tools}"
    return request.shape.called


def _named(tools: Sequence[str]) -> str:
    if len(tools) == 1:
        return f"the tool {tools[0]!r}"
    more = ", …" if len(tools) > MOST_NAMES else ""
    return f"one of the tools {', '.join(map(repr, tools[:MOST_NAMES]))}{more}"
