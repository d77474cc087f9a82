"""The compilers of structural tags, in which free text and structure alternate, and of answers that
may or must call tools; and the shapes of answers that stand beside tools and call none of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final, get_args

from maskwright.automaton.satisfy.solver import Solver
from maskwright.automaton.value.whitespace import WHITESPACE, WhitespaceName
from maskwright.automaton.value.witness_text import rendered
from maskwright.errors import Construct, InputError, UnsatisfiableSchemaError
from maskwright.grammar.dialects.detect import Dialect
from maskwright.grammar.pattern.translate import full_match
from maskwright.grammar.regular.derivative import is_live
from maskwright.grammar.regular.terms import ANYTHING, complement, concat, intersection, words
from maskwright.grammar.rules.captures import without_captures
from maskwright.grammar.rules.tree import Capture, Expression, Terminal
from maskwright.grammar.schema.options import (
    AdditionalProperties,
    Escapes,
    Integers,
    Numbers,
    PropertyOrder,
    UnusableTools,
)
from maskwright.grammar.schema.remarks import pattern_remarks
from maskwright.grammar.schema.tree import OMITTED_TOOL, Json, ReportEntry, Schema
from maskwright.grammar.tags.parse import parse_tag
from maskwright.grammar.tools.formats import ToolFormat, tool_format
from maskwright.grammar.tools.rules import Reasoning, ToolRules
from maskwright.grammar.tools.tools import Tool, ToolChoice, parse_tool_choice, parse_tools
from maskwright.immutable import Acyclic
from maskwright.limits import DEFAULT_LIMITS, Limits, Work
from maskwright.mask.compile.arguments import check_text, compiler, listed
from maskwright.mask.compile.parts import START, Parts, no_arguments
from maskwright.mask.grammar import Grammar
from maskwright.vocab import Vocabulary


class JsonResponse(Acyclic):
    """One instance of a JSON Schema (a dict, a bool, or JSON text)."""

    schema: Json


class RegexResponse(Acyclic):
    """A text that the pattern matches from its first to its last character."""

    pattern: str


class ChoiceResponse(Acyclic):
    """One of the strings."""

    strings: tuple[str, ...]


class GrammarResponse(Acyclic):
    """A text of a grammar; without a `dialect`, that is recognised."""

    grammar: str
    dialect: Dialect | None = None


class TagResponse(Acyclic):
    """A text of a structural tag (a dict, or JSON text)."""

    tag: Json


ResponseShape = JsonResponse | RegexResponse | ChoiceResponse | GrammarResponse | TagResponse


def response_expression(
    response: ResponseShape, parts: Parts, heads: tuple[str, ...]
) -> Expression:
    """Translate a shape into a capture `text`, without texts that begin with one of `heads`, as
    calls do.

    Raises the errors of the shape's compiler, and `InputError` if too few texts are left.
    """
    match response:
        case JsonResponse(schema=schema):
            said = _json(parts.schema(schema, ""), parts, heads)
        case RegexResponse(pattern=pattern):
            parts.annotations += pattern_remarks(pattern, "")
            said = _regex(pattern, parts, heads)
        case ChoiceResponse(strings=strings):
            left = tuple(each for each in strings if not each.startswith(heads))
            if not left:
                raise _conflict("every string")
            said = Terminal(words(left))
        case GrammarResponse(grammar=text, dialect=dialect):
            said = parts.grammar(text, dialect)
        case TagResponse(tag=tag):
            said = parts.tag(parse_tag(tag))
    for name in list(parts.rules):
        parts.rules[name] = without_captures(parts.rules[name])
    return Capture("text", without_captures(said))


def _json(schema: Schema, parts: Parts, heads: tuple[str, ...]) -> Expression:
    """Translate a schema. What begins like a call is left out while the text is read; only the
    shortest instance, with which a text is completed, must not begin so."""
    solver = Solver(parts.property_order, parts.limits, parts.numbers)
    root = frozenset([schema])
    if not solver.satisfiable(root):
        raise UnsatisfiableSchemaError("no JSON value matches the schema", pointer="")
    shortest = solver.shortest.of(root)
    assert shortest is not None
    if rendered(shortest, WHITESPACE[parts.whitespace], 0).startswith(heads):
        raise _conflict("the shortest instance of the schema")
    return parts.value(schema)


def _regex(pattern: str, parts: Parts, heads: tuple[str, ...]) -> Expression:
    language = full_match(pattern, parts.limits)
    if heads:
        language = intersection(language, complement(concat(words(heads), ANYTHING)))
    if not is_live(language, parts.limits.witness_search):
        raise _conflict("every text of the pattern")
    return Terminal(language)


def _conflict(what: str) -> InputError:
    return InputError(
        f"{what} begins like a call of a tool, so that an answer can't be distinguished from a "
        "call: use another tool format, or force a call or none",
        code="conflicting_constraints",
    )


@compiler
def compile_structural_tag(
    tag: Json,
    vocab: Vocabulary,
    *,
    whitespace: WhitespaceName = "flexible",
    property_order: PropertyOrder = "schema",
    integers: Integers = "any",
    escapes: Escapes = "any",
    additional_properties: AdditionalProperties = "allow",
    numbers: Numbers = "any",
    limits: Limits | None = None,
) -> Grammar:
    """Compile a structural tag (a dict, or JSON text); docs/tags-and-tools.md lists the formats.

    `whitespace`, `property_order`, `integers`, `numbers`, `escapes` and `additional_properties`
    apply to JSON values, as in `compile_json_schema`. Raises `StructuralTagError` with the JSON
    Pointer of an error in the tag, and the errors of the schemas, patterns and grammars in it.
    """
    parts = Parts(
        vocab,
        whitespace,
        property_order,
        integers,
        escapes,
        additional_properties,
        numbers,
        limits or DEFAULT_LIMITS,
    )
    with Work(parts.limits, Construct("the structural tag")):
        parts.rules[START] = parts.tag(parse_tag(tag))
        return parts.compiled()


_NEVER_CALLED: Final = "no object matches the parameters of this tool, which is never called"


@compiler
def compile_tools(
    tools: Sequence[Json] | Sequence[Tool],
    tool_choice: Json | ToolChoice,
    vocab: Vocabulary,
    *,
    format: str = "hermes",
    parallel: bool = True,
    reasoning: Reasoning = "none",
    reasoning_tokens: int | None = None,
    reasoning_marks: tuple[str, str] | None = None,
    reasoning_last: str = "",
    response_schema: Json = None,
    response: ResponseShape | None = None,
    stop: Sequence[str] = (),
    whitespace: WhitespaceName = "flexible",
    property_order: PropertyOrder = "schema",
    integers: Integers = "any",
    escapes: Escapes = "any",
    additional_properties: AdditionalProperties = "allow",
    numbers: Numbers = "any",
    unusable: UnusableTools = "refuse",
    limits: Limits | None = None,
) -> Grammar:
    """Compile an answer that may or must call tools.

    - `tools`, `tool_choice`: as in OpenAI's APIs. Arguments match their tool's schema under every
      choice.
    - `format`: how the model's family writes calls (see `tool_format_names`).
    - `parallel`: whether an answer may contain several calls.
    - `reasoning`: whether a reasoning section comes first ("section"), may come first
      ("optional"), or has been begun by the prompt ("begun"). It has at most `reasoning_tokens`
      tokens, and stands between `reasoning_marks`, strings or special tokens, or else between
      the format's marks. `reasoning_last`: what stands before the end of a section that has had
      all these tokens (at least one), unless a budget of the answer doesn't suffice for it.
    - `response_schema`, or `response` for any other shape: what an answer looks like that calls no
      tool; None for free text. An answer that begins like a call is one.
    - `stop`: strings that end free text.
    - `unusable`: what is done with a tool that can't be called because of its schema, where it need
      not be: "refuse" raises the error, "omit" leaves the tool out, which `report.warnings` tells.

    Raises `InputError`: for a tool whose schema is wrong, or has no instances while no other tool
    may be called, with its name and place; for a `response` if every text of it, or the shortest,
    begins like a call.
    """
    tools = listed(tools, "tools", "tools")
    offered = parse_tools([t for t in tools if not isinstance(t, Tool)]) or tuple(
        tool for tool in tools if isinstance(tool, Tool)
    )
    choice = (
        tool_choice
        if isinstance(tool_choice, ToolChoice)
        else parse_tool_choice(tool_choice, offered)
    )
    if reasoning not in get_args(Reasoning):
        raise InputError(f"reasoning is one of {', '.join(get_args(Reasoning))}", param="reasoning")
    if reasoning_tokens is not None and reasoning_tokens < 0:
        raise InputError("reasoning_tokens must be at least 0", param="reasoning_tokens")
    parts = Parts(
        vocab,
        whitespace,
        property_order,
        integers,
        escapes,
        additional_properties,
        numbers,
        limits or DEFAULT_LIMITS,
    )
    spelled = tool_format(format)
    rules = ToolRules(
        spelled,
        vocab.special_tokens,
        partial(parts.arguments, spelled),
        stop=_stops(stop),
        reasoning_tokens=reasoning_tokens,
        reasoning_marks=reasoning_marks,
        reasoning_last=reasoning_last,
    )
    if unusable not in get_args(UnusableTools):
        message = f"unusable is one of {', '.join(get_args(UnusableTools))}"
        raise InputError(message, param="unusable")
    if unusable == "omit":
        choice = _without_unusable(choice, parts, spelled)
    with Work(parts.limits, Construct("the tools")):
        answer = None
        if response_schema is not None:
            response = JsonResponse(response_schema)
        if response is not None and choice.mode in ("none", "auto"):
            heads = rules.first_calls(choice.tools) if choice.mode == "auto" else ()
            answer = response_expression(response, parts, heads)
        parts.rules[START] = rules.expression(
            choice, parallel=parallel, reasoning=reasoning, answer=answer
        )
        possible = {tool.name for tool in choice.tools} - {each.name for each in parts.impossible}
        if choice.mode != "none" and not possible:
            raise no_arguments(parts.impossible[0])
        parts.annotations += [
            ReportEntry("", each.name, _NEVER_CALLED, "impossible-tool")
            for each in parts.impossible
        ]
        return parts.compiled(check_values=answer is not None)


def _without_unusable(choice: ToolChoice, parts: Parts, format: ToolFormat) -> ToolChoice:
    """The choice without tools that can't be called because of their schemas; each of these gets
    an entry. Where a call is forced, the last tool has to be usable."""
    if choice.mode in ("none", "one"):
        return choice
    usable: list[Tool] = []
    noted: list[ReportEntry] = []
    first: InputError | None = None
    for tool in choice.tools:
        try:
            with Work(parts.limits, Construct("the tools")):
                parts.check_arguments(tool, format)
        except InputError as error:
            first = first or error
            noted.append(ReportEntry("", tool.name, f"left out: {error.message}", OMITTED_TOOL))
        else:
            usable.append(tool)
    if first is not None and not usable and choice.mode == "required":
        raise first
    parts.annotations += noted
    return ToolChoice(choice.mode if usable else "none", tuple(usable))


def _stops(stop: object) -> tuple[str, ...]:
    """The strings that end free text. Raises `InputError` for one string in place of a list, whose
    characters would each be one, for what is no text, and for an empty string."""
    strings = listed(stop, "stop", "strings")
    for at, each in enumerate(strings):
        check_text(each, f"stop[{at}]")
        if not each:
            raise InputError(f"stop[{at}] must not be empty", param=f"stop[{at}]")
    return strings
