"""Words, reasoning and calls out of an answer's text, however it comes in pieces."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from maskwright import Vocabulary, compile_tools
from maskwright.server.answer.parts import (
    ArgumentsText,
    Part,
    ToolReader,
    WholeAnswer,
    WordReader,
)
from maskwright.server.continuation import Naming
from tests.server.test_tools import TOOLS

VOCABULARY = Vocabulary([*(bytes([byte]) for byte in range(256)), b"<eos>"], eos=256)

WEATHER = {"city": "Bern", "days": 2}
LATER = {"city": "Köln", "days": 10}
ANSWERS: dict[str, str] = {
    "hermes": '<tool_call>\n{"name": "weather", "arguments": {"city": "Bern", "days": 2}}\n'
    '</tool_call>\n<tool_call>\n{"name": "now", "arguments": {}}\n</tool_call>\n<tool_call>\n'
    '{"name": "weather", "arguments": {"city": "Köln", "days": 10}}\n</tool_call>',
    "llama_pythonic": "[weather(city='Bern', days=2), now(), weather(city=\"Köln\", days=10)]",
    "qwen_coder": "<tool_call>\n<function=weather>\n<parameter=city>\nBern\n</parameter>\n"
    "<parameter=days>\n2\n</parameter>\n</function>\n</tool_call>\n"
    "<tool_call>\n<function=now>\n</function>\n</tool_call>\n"
    "<tool_call>\n<function=weather>\n<parameter=city>\nKöln\n</parameter>\n"
    "<parameter=days>\n10\n</parameter>\n</function>\n</tool_call>",
    "glm": "<tool_call>weather\n<arg_key>city</arg_key>\n<arg_value>Bern</arg_value>\n"
    "<arg_key>days</arg_key>\n<arg_value>2</arg_value>\n</tool_call>\n<tool_call>now\n</tool_call>\n"
    "<tool_call>weather\n<arg_key>city</arg_key>\n<arg_value>Köln</arg_value>\n"
    "<arg_key>days</arg_key>\n<arg_value>10</arg_value>\n</tool_call>",
}


def read(text: str, format: str, size: int, *, tools: Any = TOOLS, **options: Any) -> list[Part]:
    """The parts of a whole answer that comes `size` bytes at a time."""
    grammar = compile_tools(tools, "auto", VOCABULARY, format=format, **options)
    return asyncio.run(read_pieces(ToolReader(grammar.events(), Naming().call_ids(0)), text, size))


async def read_pieces(reader: ToolReader, text: str, size: int) -> list[Part]:
    data = text.encode()
    parts: list[Part] = []
    for at in range(0, len(data), size):
        piece = data[at : at + size]
        parts += await reader.read(piece.decode(errors="replace"), list(piece), final=False)
    return parts + await reader.read("", [256], final=True)


UNTYPED: dict[str, Any] = {"properties": {"a": {}}}
MIXED: dict[str, Any] = {
    "properties": {"a": {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/list"}]}},
    "$defs": {
        "list": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"x": {"type": "string"}, "y": {"type": "integer"}},
                "additionalProperties": False,
            },
        }
    },
}
WRITTEN = {
    "qwen_coder": "<tool_call>\n<function=f>\n<parameter=a>\n%s\n</parameter>\n</function>\n"
    "</tool_call>",
    "glm": "<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>%s</arg_value>\n</tool_call>",
    "minimax": '<minimax:tool_call>\n<invoke name="f">\n<parameter name="a">%s</parameter>\n'
    "</invoke>\n</minimax:tool_call>",
}
VALUES: list[tuple[dict[str, Any], str, Any]] = [
    (UNTYPED, '["x"]', ["x"]),
    (UNTYPED, '{"x":{"y" : [null]}}', {"x": {"y": [None]}}),
    (UNTYPED, "[]", []),
    (UNTYPED, "5", 5),
    (UNTYPED, "five", "five"),
    (UNTYPED, "[INFO] x", "[INFO] x"),
    (UNTYPED, "{a}", "{a}"),
    (MIXED, '[{"x": "é", "y": 1}]', [{"x": "é", "y": 1}]),
    (MIXED, '[\n {"y":1,"x":"\\u00e9"} ]', [{"y": 1, "x": "é"}]),
    (MIXED, '[{"x": 1}]', '[{"x": 1}]'),
    (MIXED, '{"x": "a"}', '{"x": "a"}'),
    (MIXED, "x [1]", "x [1]"),
    (MIXED, "5", "5"),
]


@pytest.mark.parametrize("size", [1, 9, 1000])
@pytest.mark.parametrize("format", WRITTEN)
@pytest.mark.parametrize(("schema", "said", "value"), VALUES, ids=[row[1] for row in VALUES])
def test_containers_among_strings_are_json(
    schema: dict[str, Any], said: str, value: Any, format: str, size: int
) -> None:
    tool = {"type": "function", "function": {"name": "f", "parameters": schema}}
    parts = read(WRITTEN[format] % said, format, size, tools=[tool])
    [(_, name, arguments)] = message_of(parts).calls
    assert (name, json.loads(arguments)) == ("f", {"a": value})


def message_of(parts: list[Part]) -> WholeAnswer:
    message = WholeAnswer()
    for part in parts:
        message.add(part)
    return message


@pytest.mark.parametrize("size", [1, 5, 1000])
@pytest.mark.parametrize("format", ANSWERS)
def test_every_call_has_its_own_arguments(format: str, size: int) -> None:
    """JSON from the first character of each to its last, in every format."""
    message = message_of(read(ANSWERS[format], format, size))
    assert message.words == ""
    assert [name for _, name, _ in message.calls] == ["weather", "now", "weather"]
    assert [json.loads(text) for _, _, text in message.calls] == [WEATHER, {}, LATER]
    assert [text for _, _, text in message.calls] == [
        '{"city": "Bern", "days": 2}',
        "{}",
        '{"city": "Köln", "days": 10}',
    ]
    assert len({id for id, _, _ in message.calls}) == 3


@pytest.mark.parametrize("format", ANSWERS)
def test_pieces_of_arguments_name_their_call(format: str) -> None:
    parts = read(ANSWERS[format], format, 1)
    texts = dict.fromkeys(range(3), "")
    for part in parts:
        if isinstance(part, ArgumentsText):
            texts[part.index] += part.text
    assert [json.loads(text) for text in texts.values()] == [WEATHER, {}, LATER]


@pytest.mark.parametrize("size", [1, 1000])
def test_reasoning_and_words_stand_apart(size: int) -> None:
    text = "<think>\nHm, é.\n</think>\n\nIt is late.\n" + ANSWERS["hermes"]
    message = message_of(read(text, "hermes", size, reasoning="section"))
    assert message.reasoning == "\nHm, é.\n"
    assert message.words == "It is late.\n"
    assert len(message.calls) == 3


def test_without_tools_everything_is_words() -> None:
    reader = WordReader()
    text = ANSWERS["hermes"]
    parts = asyncio.run(reader.read(text, list(text.encode()), final=True))
    assert message_of(parts).words == text
    assert asyncio.run(reader.read("", [256], final=True)) == []
