"""What was enforced, annotated and bounded for the answers to one request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from maskwright.grammar.schema.tree import CLOSED_BY_DEFAULT, Report, ReportEntry
from maskwright.grammar.tools.members import DECLARED_ONLY
from maskwright.server.grammars.recipes import Recipes
from maskwright.server.json import Json
from maskwright.server.request.answer_request import AnswerRequest
from maskwright.server.request.shape import (
    ChoiceShape,
    FreeText,
    GrammarShape,
    JsonShape,
    RegexShape,
    Shape,
    TagShape,
)
from maskwright.server.request.tool_use import ToolUse

MOST_ENTRIES: Final = 500
"""Entries of one list that are told; `counts` has the number of all."""

_NARROWING: Final[Mapping[str, str]] = {
    CLOSED_BY_DEFAULT: "the schema lists properties and says nothing of others, so there are no "
    'others; additionalProperties: true, or "maskwright": {"additional_properties": "allow"}, '
    "allows them",
    DECLARED_ONLY: "the tool format of this model writes only members that the schema declares; "
    "declare the others, too",
}
"""By the note of an entry on a keyword that narrows what the schema says: what is told of it."""

_OWN_ENTRY: Final[dict[type, str]] = {
    RegexShape: "pattern",
    ChoiceShape: "choice",
    GrammarShape: "grammar",
}
"""The entries in reports that stand for whole shapes."""


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


def kind_of(shape: Shape) -> str:
    """Return the name of a kind of shape, that of `response_format` where there is one."""
    match shape:
        case FreeText():
            return "text"
        case JsonShape():
            return "json_schema"
        case RegexShape():
            return "regex"
        case ChoiceShape():
            return "choice"
        case GrammarShape():
            return "grammar"
        case TagShape():
            return "structural_tag"


def _subject(shape: Shape, use: ToolUse | None) -> Json:
    """Return what was asked for, and in which field."""
    place = None if isinstance(shape, FreeText) else shape.place
    asked: Json = {"shape": kind_of(shape), "param": place}
    if use is None or not use.constrains:
        return asked
    tools = [
        {"name": tool.name, "param": tool.place if tool.input is None else tool.input.place}
        for tool in use.choice.tools
    ]
    return {**asked, "tools": tools, "tool_choice": use.choice.mode}


def _shape_beside(request: AnswerRequest, report: Report) -> Iterator[Json]:
    """Yield the entry of a shape that is a part of a larger grammar, which has none of its own."""
    keyword = _OWN_ENTRY.get(type(request.shape))
    is_forced = request.tool_use is not None and request.tool_use.forced
    if keyword is None or is_forced:
        return
    if not any((entry.pointer, entry.keyword) == ("", keyword) for entry in report.enforced):
        yield {"pointer": "", "keyword": keyword}


def _entry(entry: ReportEntry) -> Json:
    told: Json = {"pointer": entry.pointer, "keyword": entry.keyword}
    return {**told, "note": entry.note} if entry.note else told


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
    if isinstance(shape, JsonShape | TagShape) or has_tools:
        yield from _spelling(recipes)
    if has_tools and not (use is None or use.parallel):
        yield {"rule": "parallel_tool_calls", "note": "one call at most"}
    if not isinstance(shape, FreeText) or has_tools:
        limit = request.limit
        note = (
            "near the token limit, only tokens are allowed after which the answer can end in time"
        )
        told: Json = {"rule": "token limit", "note": note}
        yield told if limit is None else {**told, "param": limit.field, "value": limit.tokens}
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
