"""Answers of every shape beside calls of tools: what belongs to which, and what is refused."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from maskwright import (
    ChoiceResponse,
    Grammar,
    GrammarResponse,
    JsonResponse,
    RegexResponse,
    ResponseShape,
    TagResponse,
    compile_choice,
    compile_grammar,
    compile_json_schema,
    compile_regex,
    compile_structural_tag,
    compile_tools,
)
from maskwright.errors import InputError, UnsatisfiableSchemaError
from maskwright.mask import CaptureBegun, CaptureEnded, CaptureText, StringText
from maskwright.vocab import Vocabulary
from tests.mask.compile.offered_tools import NOW, WEATHER, many_tools
from tests.matching import EVERY_BYTE, after, allowed, matches, vocabulary

TRUE: dict[str, Any] = {"type": "function", "function": {"name": "true"}}
ACCENTED: dict[str, Any] = {"type": "function", "function": {"name": "nowé/x.y:1"}}
VOCAB = vocabulary(
    '{"name": "',
    '"name"',
    "name",
    '", "arguments": ',
    '"arguments',
    ": {}",
    "{}}",
    "weather",
    "now",
    "nowhere",
    "true",
    "tru",
    "[true",
    "[n",
    "()]",
    "[]",
    "[{",
    "TOOL",
    "[TOOL_CALLS",
    '{"',
    '":',
    "arg",
    ', "',
    "é",
    b"w\xc3",
    b"\xa9/x",
    b'\xa9"',
)
TOOLS = [WEATHER, NOW, TRUE, ACCENTED]
PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "arguments": {"type": "integer"}},
    "required": ["name"],
    "additionalProperties": False,
}
LARK_JSON = """
start: value
value: object | array | ESCAPED | "true" | "null" | /[0-9]/
object: "{" [pair (", " pair)*] "}"
array: "[" [value (", " value)*] "]"
pair: ESCAPED ": " value
ESCAPED: /"[^"]*"/
"""
SPACED: dict[str, Any] = {"whitespace": "spaced"}
RESPONSES: dict[str, tuple[ResponseShape, Grammar]] = {
    "any": (JsonResponse({}), compile_json_schema({}, VOCAB, **SPACED)),
    "object": (
        JsonResponse({"type": "object"}),
        compile_json_schema({"type": "object"}, VOCAB, **SPACED),
    ),
    "person": (JsonResponse(PERSON), compile_json_schema(PERSON, VOCAB, **SPACED)),
    "list": (
        JsonResponse({"type": "array", "uniqueItems": True}),
        compile_json_schema({"type": "array", "uniqueItems": True}, VOCAB, **SPACED),
    ),
    "regex": (RegexResponse(r"\{.*\}"), compile_regex(r"\{.*\}", VOCAB)),
    "choice": (
        ChoiceResponse(("yes", '{"name": "now"')),
        compile_choice(("yes", '{"name": "now"'), VOCAB),
    ),
    "grammar": (GrammarResponse(LARK_JSON), compile_grammar(LARK_JSON, VOCAB)),
    "tag": (
        TagResponse({"format": {"type": "json_schema", "json_schema": PERSON}}),
        compile_structural_tag(
            {"format": {"type": "json_schema", "json_schema": PERSON}}, VOCAB, **SPACED
        ),
    ),
}
BEGINNINGS = {
    "json": '{"name": "%s", "arguments": ',
    "llama_pythonic": "[%s(",
    "mistral": '[TOOL_CALLS] [{"name": "%s", "arguments": ',
    "hermes": '<tool_call>\n{"name": "%s", "arguments": ',
}


class Oracle:
    """Calls and answers, each compiled alone: a text that begins like a call must be one."""

    def __init__(self, format: str, answers: Grammar) -> None:
        self._calls = compile_tools(TOOLS, "required", VOCAB, format=format, **SPACED)
        self._answers = answers
        names = [tool["function"]["name"] for tool in TOOLS]
        self._heads = tuple((BEGINNINGS[format] % name).encode() for name in names)

    def accepts(self, text: bytes) -> bool:
        return matches(self._calls if text.startswith(self._heads) else self._answers, text)

    def mask(self, text: bytes) -> set[int]:
        """The tokens that lead on to a call, or to an answer that doesn't begin like one."""
        call, answer = after(self._calls, text), after(self._answers, text)
        found = set[int]() if call is None else allowed(call)
        if answer is not None and not text.startswith(self._heads):
            found |= {
                token
                for token in allowed(answer)
                if not (text + VOCAB.tokens[token]).startswith(self._heads)
            }
        return found


def beside(format: str, response: ResponseShape, vocab: Vocabulary = VOCAB) -> Grammar:
    return compile_tools(TOOLS, "auto", vocab, format=format, response=response, **SPACED)


@pytest.mark.parametrize("format", BEGINNINGS)
@pytest.mark.parametrize("shape", RESPONSES)
def test_masks_of_calls_beside_answers(format: str, shape: str) -> None:
    response, answers = RESPONSES[shape]
    grammar = beside(format, response)
    oracle = Oracle(format, answers)
    random = Random(f"{format} {shape}")
    calls = [
        (BEGINNINGS[format] % "now" + {"llama_pythonic": ")]"}.get(format, "{}")).encode(),
        (BEGINNINGS[format] % "weather").replace("arg", "ari").encode(),
        b'{"name": "weather", "arguments": 5',
        b"[true, 5",
        (BEGINNINGS[format] % "nowé/x.y:1").encode(),
        (BEGINNINGS[format] % "nowè").encode(),
    ]
    for walk in range(10):
        matcher, text = grammar.matcher(), b""
        planned = calls[walk] if walk < len(calls) else b""
        for _ in range(12):
            mask = allowed(matcher)
            assert mask == oracle.mask(text), text
            fitting = [t for t in mask if VOCAB.tokens[t] and planned.startswith(VOCAB.tokens[t])]
            steps = sorted(fitting or mask - {VOCAB.eos[0]})
            if not steps:
                break
            token = random.choice(steps)
            assert matcher.accept(token)
            text += VOCAB.tokens[token]
            planned = planned[len(VOCAB.tokens[token]) :] if fitting else b""


@pytest.mark.parametrize("format", BEGINNINGS)
@pytest.mark.parametrize("shape", RESPONSES)
def test_answers_beside_calls_end_within_their_budget(format: str, shape: str) -> None:
    response, answers = RESPONSES[shape]
    grammar = beside(format, response)
    oracle = Oracle(format, answers)
    random = Random(f"{format} {shape}")
    for extra in range(8):
        matcher, text = grammar.matcher(), b""
        budget = matcher.min_tokens + 2 * extra
        while budget:
            mask = allowed(matcher, budget)
            assert mask <= allowed(matcher)
            token = random.choice(sorted(mask))
            if token == VOCAB.eos[0]:
                break
            assert matcher.accept(token)
            text += VOCAB.tokens[token]
            budget -= 1
        assert oracle.accepts(text), text


def structure(events: list[Any]) -> list[Any]:
    """The events of JSON, with the pieces of a string joined."""
    joined: list[Any] = []
    for event in events:
        match event:
            case CaptureBegun() | CaptureText() | CaptureEnded():
                pass
            case StringText(pointer=pointer, text=text):
                if joined and isinstance(joined[-1], StringText):
                    text = joined.pop().text + text
                joined.append(StringText(pointer, text))
            case _:
                joined.append(event)
    return joined


@pytest.mark.parametrize("cut", [1, 3, 100])
@pytest.mark.parametrize(
    "text",
    [
        '{"name": "weather", "arguments": [7]}',
        '{"name": "wea", "b": {"name": "weather"}}',
        '{"x": ["é", {"name": 1}]}',
    ],
)
def test_events_of_an_answer_are_those_without_tools(text: str, cut: int) -> None:
    def said(grammar: Grammar) -> list[Any]:
        matcher = grammar.matcher()
        events: list[Any] = []
        data = text.encode()
        for at in range(0, len(data), cut):
            assert matcher.accept_bytes(data[at : at + cut])
            events += matcher.events()
        return events + matcher.events(final=True)

    united = said(beside("llama3_json", JsonResponse({}), EVERY_BYTE))
    alone = said(compile_json_schema({}, EVERY_BYTE, **SPACED))
    assert structure(united) == structure(alone)
    assert "".join(e.text for e in united if isinstance(e, CaptureText)) == text


def test_an_answer_is_streamed_once_it_is_none_of_the_calls() -> None:
    matcher = beside("json", JsonResponse({}), EVERY_BYTE).matcher()
    assert matcher.accept_bytes(b'{"name": "no')
    assert matcher.events() == []
    assert matcher.accept_bytes(b"b")
    assert CaptureText("text", '{"name": "nob') in matcher.events()
    assert matcher.accept_bytes(b"o")
    assert CaptureText("text", "o") in matcher.events()
    matcher = beside("hermes", JsonResponse({}), EVERY_BYTE).matcher()
    assert matcher.accept_bytes(b"[1")
    assert CaptureText("text", "[1") in matcher.events()


def test_captures_of_an_answers_grammar_are_not_reported() -> None:
    response = GrammarResponse('start: "<" name ">"\nname[capture="call:x"]: /[a-z]+/')
    matcher = beside("hermes", response, EVERY_BYTE).matcher()
    assert matcher.accept_bytes(b"<abc>")
    events = matcher.events(final=True)
    assert {event.name for event in events if isinstance(event, CaptureBegun)} == {"text"}


NAMED = {
    "properties": {"name": {"const": "now"}, "arguments": {}},
    "required": ["name", "arguments"],
}


@pytest.mark.parametrize(
    "response",
    [
        JsonResponse({"type": "object", **NAMED}),
        RegexResponse(r'\{"name": "now", "arguments": .*'),
        ChoiceResponse(('{"name": "now", "arguments": 1',)),
    ],
)
def test_answers_that_all_begin_like_calls_are_refused(response: ResponseShape) -> None:
    with pytest.raises(InputError, match="begins like a call") as refused:
        beside("json", response)
    assert refused.value.code == "conflicting_constraints"
    assert matches(beside("hermes", response), '{"name": "now", "arguments": 1') or isinstance(
        response, JsonResponse
    )


def test_an_answer_without_instances_is_refused() -> None:
    with pytest.raises(UnsatisfiableSchemaError):
        beside("json", JsonResponse(False))


def test_two_hundred_tools_beside_an_answer() -> None:
    tools = many_tools(200)
    response = JsonResponse({"type": "object"})
    grammar = compile_tools(tools, "auto", EVERY_BYTE, format="json", response=response, **SPACED)
    call = '{"name": "drop_file_7", "arguments": %s}'
    assert matches(grammar, call % '{"id": "x", "limit": 107}')
    assert not matches(grammar, call % '{"id": "x", "limit": 108}')
    assert matches(grammar, '{"name": "drop_file_8", "arguments": {"limit": "x"}}')


MARKS = ("<|channel|>", "<|constrain|>", "<|message|>", "<|end|>", "<|start|>")
HARMONY = Vocabulary(
    (*VOCAB.tokens[:-1], *(mark.encode() for mark in MARKS), b"final", b"fi", b"comment", b""),
    special=[len(VOCAB.tokens) - 1 + at for at in range(len(MARKS))],
    eos=len(VOCAB.tokens) + len(MARKS) + 2,
)
CHANNEL, CONSTRAIN, MESSAGE = (HARMONY.special_tokens[mark] for mark in MARKS[:3])


def alone(response: ResponseShape) -> Grammar:
    """The grammar of an answer without tools."""
    match response:
        case JsonResponse(schema=schema):
            return compile_json_schema(schema, HARMONY, **SPACED)
        case RegexResponse(pattern=pattern):
            return compile_regex(pattern, HARMONY)
        case ChoiceResponse(strings=strings):
            return compile_choice(strings, HARMONY)
        case GrammarResponse(grammar=text):
            return compile_grammar(text, HARMONY)
        case TagResponse(tag=tag):
            return compile_structural_tag(tag, HARMONY, **SPACED)


def beginning_with(text: bytes) -> set[int]:
    """The tokens that are a beginning of the text."""
    return {at for at, token in enumerate(HARMONY.tokens) if token and text.startswith(token)}


@pytest.mark.parametrize("shape", RESPONSES)
def test_harmony_has_a_channel_for_each(shape: str) -> None:
    """Its marks are special tokens, so that no answer begins like a call."""
    response, _ = RESPONSES[shape]
    united, answers = beside("harmony", response, HARMONY), alone(response)
    calls = compile_tools(TOOLS, "required", HARMONY, format="harmony", **SPACED)
    matcher, call = united.matcher(), calls.matcher()
    assert allowed(matcher) == {CHANNEL} == allowed(call)
    assert matcher.accept(CHANNEL)
    assert call.accept(CHANNEL)
    assert allowed(matcher) == allowed(call) | beginning_with(b"final")
    called = matcher.copy()
    for token in b"final":
        assert matcher.accept(token)
    assert allowed(matcher) == {MESSAGE}
    assert matcher.accept(MESSAGE)
    random = Random(shape)
    for _ in range(8):
        here, there = matcher.copy(), answers.matcher()
        for _ in range(12):
            assert allowed(here) == allowed(there)
            steps = sorted(allowed(there) - {HARMONY.eos[0]})
            if not steps:
                break
            token = random.choice(steps)
            assert here.accept(token)
            assert there.accept(token)
    name = [*b"commentary to=functions.now ", CONSTRAIN, *b"json", MESSAGE, *b"{}"]
    for token in name:
        assert allowed(called) >= allowed(call)
        assert called.accept(token)
        assert call.accept(token)
        if token != name[0]:
            assert allowed(called) == allowed(call)
    assert called.accepting


@pytest.mark.parametrize("begun", [b"", b"fi"])
def test_events_of_harmony_say_which_it_became(begun: bytes) -> None:
    united = beside("harmony", JsonResponse(PERSON), HARMONY)
    answer = [CHANNEL, *begun, *b"final"[len(begun) :], MESSAGE, *b'{"name": "now"}']
    events = events_of(united, answer)
    assert [e for e in events if isinstance(e, CaptureEnded)] == [
        CaptureEnded("text", '{"name": "now"}')
    ]
    call = [CHANNEL, *b"commentary to=functions.now ", CONSTRAIN, *b"json", MESSAGE, *b"{}"]
    events = events_of(united, call)
    assert CaptureBegun("call:now") in events
    assert CaptureEnded("arguments", "{}") in events
    assert CaptureBegun("text") not in events


def events_of(grammar: Grammar, tokens: list[int]) -> list[Any]:
    matcher = grammar.matcher()
    assert all(map(matcher.accept, tokens))
    assert matcher.accepting
    return matcher.events(final=True)
