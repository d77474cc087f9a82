"""The report of each answer: what was enforced, annotated and bounded, with the verdicts of checks
that other means than masks can make.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, cast

from maskwright.errors import MaskwrightError
from maskwright.grammar.schema.tree import CLOSED_BY_DEFAULT, Report, ReportEntry
from maskwright.grammar.tools.members import DECLARED_ONLY
from maskwright.grammar.tools.tools import CustomInput
from maskwright.mask import JsonResponse, compile_grammar, compile_regex
from maskwright.processes import Build, GrammarProcesses, Inquiry
from maskwright.processes.validation import Check, JsonCheck, ReadingCheck, checked
from maskwright.server.answer.parts import WholeAnswer
from maskwright.server.json import Json
from maskwright.server.recipes import ReasoningSection, Recipes
from maskwright.server.request.answer_request import AnswerRequest
from maskwright.server.request.shape import ConstrainedShape, FreeText, Shape
from maskwright.server.request.tool_use import ToolUse
from maskwright.vocab import Vocabulary

MOST_ENTRIES: Final = 500
"""Entries of one list that a report has; `counts` has the number of all."""

_NARROWING: Final[Mapping[str, str]] = {
    CLOSED_BY_DEFAULT: "the schema lists properties and says nothing of others, so there are no "
    'others; additionalProperties: true, or "maskwright": {"additional_properties": "allow"}, '
    "allows them",
    DECLARED_ONLY: "the tool format of this model writes only members that the schema declares; "
    "declare the others, too",
}
"""By the note of an entry on a keyword that narrows what the schema says: the report's sentence."""

_OWN_ENTRY: Final = {"regex": "pattern", "choice": "choice", "grammar": "grammar"}
"""The entries in reports that stand for whole shapes, by the kinds of these."""


def report_body(request: AnswerRequest, recipes: Recipes, report: Report | None) -> Json:
    """Return what holds for every answer to a request, whose grammar has the `report`.

    A keyword is in `enforced` or in `annotations`. `bounded` holds what makes answers narrower
    than the shape alone: rules of the server, with a pointer where they stand for a keyword.
    """
    report = report or Report((), ())
    bounded = [*_bounded(report), *_settings(request, recipes)]
    lists: dict[str, Sequence[Json]] = {
        "enforced": [
            *_shape_beside(request, report),
            *(_entry(each) for each in report.enforced if each.note not in _NARROWING),
        ],
        "annotations": [_entry(each) for each in report.annotations],
        "bounded": bounded,
    }
    return {
        **_subject(request.shape, request.tool_use),
        "counts": {name: len(entries) for name, entries in lists.items()},
        **{name: list(entries[:MOST_ENTRIES]) for name, entries in lists.items()},
    }


def _subject(shape: Shape, use: ToolUse | None) -> Json:
    """Return what was asked for, and in which field."""
    place = None if isinstance(shape, FreeText) else shape.place
    asked: Json = {"shape": shape.kind, "param": place}
    if use is None or not use.constrains:
        return asked
    tools = [
        {"name": tool.name, "param": tool.place if tool.input is None else tool.input.place}
        for tool in use.choice.tools
    ]
    return {**asked, "tools": tools, "tool_choice": use.choice.mode}


def _shape_beside(request: AnswerRequest, report: Report) -> Iterator[Json]:
    """Yield the entry of a shape that is a part of a larger grammar, which has none of its own."""
    keyword = _OWN_ENTRY.get(request.shape.kind)
    is_forced = request.tool_use is not None and request.tool_use.forced
    if keyword is None or is_forced:
        return
    if not any((entry.pointer, entry.keyword) == ("", keyword) for entry in report.enforced):
        yield {"pointer": "", "keyword": keyword}


def _entry(entry: ReportEntry) -> Json:
    place: Json = {"pointer": entry.pointer, "keyword": entry.keyword}
    return {**place, "note": entry.note} if entry.note else place


def _bounded(report: Report) -> Iterator[Json]:
    """Yield the keywords that are enforced more narrowly than the specification has them."""
    for entry in report.enforced:
        if entry.note in _NARROWING:
            yield {**_entry(entry), "note": _NARROWING[entry.note]}
    enforced = {(entry.pointer, entry.keyword) for entry in report.enforced}
    for entry in report.annotations:
        if entry.note and not entry.rule and (entry.pointer, entry.keyword) in enforced:
            yield _entry(entry)


def _settings(request: AnswerRequest, recipes: Recipes) -> Iterator[Json]:
    """Yield the rules of the server that hold for the whole answer."""
    shape, use = request.shape, request.tool_use
    has_tools = use is not None and use.constrains
    if shape.kind in ("json_schema", "structural_tag") or has_tools:
        yield from _spelling(recipes)
    if has_tools and not (use is None or use.parallel):
        yield {"rule": "parallel_tool_calls", "note": "one call at most"}
    if not isinstance(shape, FreeText) or has_tools:
        limit = request.limit
        note = (
            "near the token limit, only tokens are allowed after which the answer can end in time"
        )
        rule: Json = {"rule": "token limit", "note": note}
        yield rule if limit is None else {**rule, "param": limit.field, "value": limit.tokens}
    if request.options.stop:
        note = "a stop string may cut the answer short, which is then incomplete"
        yield {"rule": "stop", "note": note, "value": list(request.options.stop)}


def _spelling(recipes: Recipes) -> Iterable[Json]:
    """Yield how JSON is written, of the spellings that it allows."""
    return (
        {"rule": "property order", "note": "properties come in the order of the schema"},
        {"rule": "whitespace", "value": recipes.whitespace, "note": "between the tokens of JSON"},
        {
            "rule": "numbers",
            "value": recipes.numbers,
            "note": "plain numbers have no exponent, and no zeros at the end but in two decimals",
        },
        {"rule": "integers", "note": "integers are written in digits, without exponents"},
        {"rule": "escapes", "note": "listed names and strings have only the escapes they need"},
    )


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
    against the shape. `tokens`: the answer's, its end token included. `section`: what may come
    before the answer, which the shape says nothing about."""
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
        case ConstrainedShape(response=JsonResponse(schema=str(schema))):
            return JsonCheck(ANSWER, text, schema)
        case _:
            recipe = recipes.of(shape, None)
            assert recipe is not None
            has_control = any(
                not vocabulary.tokens[token] and token not in vocabulary.eos for token in tokens
            )
            return ReadingCheck(ANSWER, text, recipe.build, tuple(tokens) if has_control else None)


PATIENCE: Final = 10.0
"""Seconds that an answer waits for its checks."""


class Reporter:
    """Makes the reports of the answers to one request."""

    def __init__(
        self,
        request: AnswerRequest,
        recipes: Recipes,
        report: Report | None,
        vocabulary: Vocabulary,
        processes: GrammarProcesses | None,
        section: ReasoningSection | None = None,
    ) -> None:
        """`report`: that of the grammar, None if there is none. `section`: its reasoning section.
        `processes` make the checks; without, none is made, since nothing could stop one that never
        ends."""
        self._request = request
        self._recipes = recipes
        self._vocabulary = vocabulary
        self._processes = processes
        self._section = section
        self._body = report_body(request, recipes, report)

    async def report(
        self, message: WholeAnswer, tokens: Sequence[int], shortened_at: int | None
    ) -> Json:
        """Return the report of one answer. `valid` is true if every check says so, false if one
        says no, null if there is none or one can't be decided. `shortened_at`: the first of the
        `tokens` that the token limit has changed."""
        checks = checks_of(
            self._request, self._recipes, message, tokens, self._vocabulary, self._section
        )
        verdicts = await self._verdicts(checks)
        found = [verdict["valid"] for verdict in verdicts]
        valid = False if False in found else None if None in found or not found else True
        return {**self._body, "shortened_at": shortened_at, "valid": valid, "checks": verdicts}

    async def _verdicts(self, checks: list[Check]) -> list[Json]:
        if not checks:
            return []
        if self._processes is None:
            return _undecided(checks, "the server runs without grammar processes")
        future = asyncio.wrap_future(self._processes.inquire(Inquiry(checked, (checks,))))
        try:
            async with asyncio.timeout(PATIENCE):
                return cast(list[Json], await future)
        except TimeoutError:
            return _undecided(checks, f"it takes more than {PATIENCE:g} seconds")
        except MaskwrightError as error:  # a limit, or the processes have ended
            return _undecided(checks, str(error))


def _undecided(checks: list[Check], reason: str) -> list[Json]:
    return [
        {"subject": check.subject, "by": None, "valid": None, "errors": [], "reason": reason}
        for check in checks
    ]
