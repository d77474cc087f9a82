"""Which checks an answer gets."""

from __future__ import annotations

import json
from typing import Any

from maskwright.processes.validation import Check, JsonCheck, ReadingCheck, checked
from maskwright.server.answer.parts import ArgumentsText, CallBegun, TextPart, WholeAnswer
from maskwright.server.guarantees.reporter import checks_of
from maskwright.server.recipes import ReasoningSection, Recipes
from maskwright.server.request.completion_requests import ChatCompletionRequest
from maskwright.vocab import Vocabulary
from tests.server.scripted import BYTES, HELLO

RECIPES = Recipes("spaced", "hermes")
LOOK = {"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]}
TOOLS: list[Any] = [
    {"type": "function", "function": {"name": "look", "parameters": LOOK}},
    {
        "type": "custom",
        "custom": {
            "name": "ask",
            "format": {"type": "grammar", "grammar": {"syntax": "regex", "definition": "[a-z]+"}},
        },
    },
    {"type": "custom", "custom": {"name": "say"}},
]


def checks(message: WholeAnswer, tokens: tuple[int, ...] = (), **fields: Any) -> list[Check]:
    request = ChatCompletionRequest.parse({**HELLO, **fields})
    return checks_of(request, RECIPES, message, tokens, BYTES)


def words(text: str) -> WholeAnswer:
    message = WholeAnswer()
    message.add(TextPart(text))
    return message


def call(message: WholeAnswer, name: str, text: str, *, custom: bool = False) -> WholeAnswer:
    message.add(CallBegun(len(message.calls), "call_1", name, custom))
    message.add(ArgumentsText(len(message.calls) - 1, text, custom))
    return message


def test_json_is_held_against_the_schema_as_it_was_sent() -> None:
    schema = {"properties": {"b": {"type": "integer"}, "a": {}}, "title": "T"}
    [check] = checks(words('{"b": 1}'), guided_json=schema)
    assert check == JsonCheck("answer", '{"b": 1}', json.dumps(schema, separators=(",", ":")))


def test_other_shapes_are_read_again() -> None:
    for fields in ({"guided_regex": "ab"}, {"guided_choice": ["ab"]}, {"ebnf": 'root ::= "ab"'}):
        for text, valid in (("ab", True), ("ac", False)):
            [check] = checks(words(text), tuple(text.encode()), **fields)
            assert isinstance(check, ReadingCheck)
            assert check.tokens is None
            [verdict] = checked([check], BYTES)
            assert verdict["valid"] is valid


def test_control_tokens_are_read_as_tokens() -> None:
    vocabulary = Vocabulary(
        [*(bytes([byte]) for byte in range(256)), b"", b"<x>"], special=[257], eos=256
    )
    request = ChatCompletionRequest.parse({**HELLO, "guided_grammar": 'start: <x> "a"'})
    made = checks_of(request, RECIPES, words("a"), (257, 97, 256), vocabulary)
    [verdict] = checked(made, vocabulary)
    assert verdict["valid"]


def test_each_call_is_held_against_its_tool() -> None:
    message = call(WholeAnswer(), "look", '{"at": "x"}')
    message = call(message, "look", '{"at": 3}')
    message = call(message, "ask", "abc", custom=True)
    message = call(message, "ask", "ABC", custom=True)
    message = call(message, "say", "anything", custom=True)
    verdicts = checked(checks(message, tools=TOOLS), BYTES)
    assert [(verdict["subject"], verdict["valid"]) for verdict in verdicts] == [
        ("call 0 of look", True),
        ("call 1 of look", False),
        ("call 2 of ask", True),
        ("call 3 of ask", False),
    ]


def test_an_answer_beside_tools_is_held_against_the_shape() -> None:
    [check] = checks(words("1"), tools=TOOLS, guided_json={"type": "integer"})
    assert isinstance(check, JsonCheck)
    assert not checks(words("1"), tools=TOOLS)
    message = call(WholeAnswer(), "look", '{"at": "x"}')
    [check] = checks(message, tools=TOOLS, guided_json={"type": "integer"})
    assert check.subject == "call 0 of look"


def test_reasoning_is_no_part_of_what_is_checked() -> None:
    request = ChatCompletionRequest.parse({**HELLO, "guided_json": {"type": "integer"}})

    def text(message: WholeAnswer, *, begun: bool = False) -> str:
        section = ReasoningSection(("<think>", "</think>"), begun)
        [check] = checks_of(request, RECIPES, message, (1,), BYTES, section)
        return check.text

    assert text(words("<think>3?</think>\n\n4")) == "4"
    assert text(words("3?</think>4"), begun=True) == "4"
    assert text(words("4")) == "4"
    assert text(words("<think>and on")) == "<think>and on"
    split = words("4")
    split.reasoning = "3?"
    assert text(split, begun=True) == "4"
