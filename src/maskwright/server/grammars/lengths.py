"""Checks that a prompt fits into the context, and the shortest answer of a shape into its limit."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from maskwright.errors import BudgetError, InputError, LimitError
from maskwright.mask import CompiledGrammar
from maskwright.server.grammars.recipes import Recipe
from maskwright.server.request.answer_request import AnswerRequest
from maskwright.server.request.messages import ChatPrompt
from maskwright.server.request.shape import (
    ChoiceShape,
    FreeText,
    GrammarShape,
    JsonShape,
    RegexShape,
    TagShape,
)

MOST_NAMES: Final = 3
"""Tools that a message names."""


def without_shape(request: AnswerRequest) -> AnswerRequest | None:
    """Return a request whose prompts show neither a schema nor tools; None if they show none."""
    if request.tool_use is None and not _shows_schema(request):
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
        if isinstance(request.shape, JsonShape) and request.shape.shown:
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


def _shows_schema(request: AnswerRequest) -> bool:
    return isinstance(request.shape, JsonShape) and request.shape.shown


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
    match request.shape:
        case JsonShape() | FreeText():
            return "answer of this schema"
        case RegexShape():
            return "text of this pattern"
        case ChoiceShape():
            return "of these choices"
        case GrammarShape():
            return "text of this grammar"
        case TagShape():
            return "text of this structural tag"


def _named(tools: Sequence[str]) -> str:
    if len(tools) == 1:
        return f"the tool {tools[0]!r}"
    more = ", …" if len(tools) > MOST_NAMES else ""
    return f"one of the tools {', '.join(map(repr, tools[:MOST_NAMES]))}{more}"
