"""What has to hold of an answer, as checks that other means than masks can make."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from maskwright.grammar.tools.tools import CustomInput
from maskwright.mask import compile_grammar, compile_regex
from maskwright.processes import Build
from maskwright.processes.validation import Check, JsonCheck, ReadingCheck
from maskwright.server.answer.parts import WholeAnswer
from maskwright.server.grammars.recipes import ReasoningSection, Recipes
from maskwright.server.request.answer_request import AnswerRequest
from maskwright.server.request.shape import FreeText, JsonShape, Shape
from maskwright.server.request.tool_use import ToolUse
from maskwright.vocab import Vocabulary

ANSWER = "answer"
"""The subject of the checks of an answer that calls no tool."""


def checks_of(
    request: AnswerRequest,
    recipes: Recipes,
    message: WholeAnswer,
    tokens: Sequence[int],
    vocabulary: Vocabulary,
    section: ReasoningSection | None = None,
) -> list[Check]:
    """Return the checks of one answer: each call against its tool, and an answer without calls
    against the shape. `tokens`: those of the answer, its end token included. `section`: what may
    come before the answer, which the shape says nothing of."""
    if message.calls and request.tool_use is not None:
        return [*_checks_of_calls(request.tool_use, message)]
    words = message.words
    if section is not None:
        words, tokens = _after_section(words, section, message.reasoning), ()
    check = _check_of_text(request.shape, recipes, words, tokens, vocabulary)
    is_possible = request.tool_use is None or not request.tool_use.forced
    return [] if check is None or not is_possible else [check]


def _after_section(words: str, section: ReasoningSection, reasoning: str) -> str:
    """Return the answer without its reasoning, if that has been left in it."""
    begin, end = section.marks
    is_left = not reasoning and (section.begun or words.lstrip().startswith(begin))
    return words.partition(end)[2].lstrip("\n") if is_left and end in words else words


def _checks_of_calls(use: ToolUse, message: WholeAnswer) -> Iterator[Check]:
    by_name = {tool.name: tool for tool in use.tools}
    for number, (_, name, text) in enumerate(message.calls):
        tool, subject = by_name[name], f"call {number} of {name}"
        if tool.input is None:
            yield JsonCheck(subject, text, json.dumps(tool.parameters))
        elif tool.input.syntax != "text":
            yield ReadingCheck(subject, text, _input_build(tool.input))


def _input_build(wanted: CustomInput) -> Build:
    if wanted.syntax == "regex":
        return Build(compile_regex, (wanted.definition,), {"syntax": "python"})
    return Build(compile_grammar, (wanted.definition,), {"dialect": wanted.syntax})


def _check_of_text(
    shape: Shape, recipes: Recipes, text: str, tokens: Sequence[int], vocabulary: Vocabulary
) -> Check | None:
    match shape:
        case FreeText():
            return None
        case JsonShape(text=schema):
            return JsonCheck(ANSWER, text, schema)
        case _:
            recipe = recipes.of(shape, None)
            assert recipe is not None
            has_control = any(
                not vocabulary.tokens[token] and token not in vocabulary.eos for token in tokens
            )
            return ReadingCheck(ANSWER, text, recipe.build, tuple(tokens) if has_control else None)
