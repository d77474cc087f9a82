"""Tools: which requests are refused, and what each family's format accepts and captures."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from maskwright.errors import InputError, UnsupportedSchemaError
from maskwright.grammar.rules.tree import Expression, JsonValue
from maskwright.grammar.schema.parse import ParseOptions, parse_schema
from maskwright.grammar.schema.tree import Schema
from maskwright.grammar.shape.shapes import Shapes
from maskwright.grammar.tools.arguments import Parameters
from maskwright.grammar.tools.formats import (
    ParameterStyle,
    parameter_style,
    tool_format,
    tool_format_names,
)
from maskwright.grammar.tools.members import DeclaredMembers, object_schema
from maskwright.grammar.tools.python_arguments import PythonArguments
from maskwright.grammar.tools.rules import Reasoning, ToolRules
from maskwright.grammar.tools.tools import Tool, ToolChoice, parse_tool_choice, parse_tools
from tests.grammar.spelling import SPECIAL, Captured, Reader

WEATHER: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "weather",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string", "minLength": 1},
                "days": {"type": "integer", "minimum": 1},
            },
            "required": ["city"],
            "additionalProperties": False,
        },
    },
}
NOW: dict[str, Any] = {"type": "function", "function": {"name": "now"}}
NOWHERE: dict[str, Any] = {"type": "function", "name": "nowhere", "parameters": {}}
TOOLS = parse_tools([WEATHER, NOW, NOWHERE])


class Answers:
    """Reads answers in one format."""

    def __init__(
        self,
        format: str,
        choice: ToolChoice,
        special: dict[str, int] | None = None,
        *,
        parallel: bool = True,
        reasoning: Reasoning = "none",
        stop: tuple[str, ...] = (),
    ) -> None:
        self._schemas: dict[str, Any] = {}
        self._rules: dict[str, Expression] = {}
        self._format = tool_format(format)
        self._special = special or {}
        rules = ToolRules(self._format, self._special, self._arguments, stop)
        self._expression = rules.expression(choice, parallel=parallel, reasoning=reasoning)

    def _arguments(self, tool: Tool) -> Expression:
        root = parse_schema(tool.parameters, ParseOptions()).root
        if self._format.literals == "python":
            return PythonArguments(
                DeclaredMembers(Shapes(), "as Python"), tool.name, self._rules
            ).expression(root)
        if self._format.parameter:
            parameters = Parameters(
                ParameterStyle(self._format.parameter),
                self._special,
                DeclaredMembers(Shapes(), "one by one"),
                JsonValue,
            )
            return parameters.expression(root)
        found = JsonValue(object_schema(root))
        self._schemas[repr(found.schema.number)] = tool.parameters
        return found

    def readings(self, text: str) -> set[Captured]:
        def judge(schema: Schema, value: Any) -> bool:
            parameters = self._schemas.get(repr(schema.number))
            if parameters is None:
                return isinstance(value, list | dict)
            valid = jsonschema.Draft202012Validator(parameters).is_valid(value)
            return isinstance(value, dict) and valid

        for name, number in self._special.items():
            text = text.replace(name, chr(SPECIAL + number))
        return Reader(text, judge, self._rules).readings(self._expression)


def auto() -> ToolChoice:
    return parse_tool_choice(None, TOOLS)


FORMATS: dict[str, tuple[str, str]] = {
    # One call as the family's chat template writes it, and two.
    "json": (
        '{"name": "weather", "arguments": {"city": "Bern", "days": 2}}',
        '{"name": "weather", "arguments": {"city": "Bern", "days": 2}}\n'
        '{"name": "now", "arguments": {}}',
    ),
    "hermes": (
        '<tool_call>\n{"name": "weather", "arguments": {"city": "Bern", "days": 2}}\n</tool_call>',
        '<tool_call>\n{"name": "weather", "arguments": {"city": "Bern", "days": 2}}\n</tool_call>\n'
        '<tool_call>\n{"name": "now", "arguments": {}}\n</tool_call>',
    ),
    "llama3_json": (
        '{"name": "weather", "parameters": {"city": "Bern", "days": 2}}',
        '{"name": "weather", "parameters": {"city": "Bern", "days": 2}}; '
        '{"name": "now", "parameters": {}}',
    ),
    "llama_pythonic": (
        '[weather(city="Bern", days=2)]',
        '[weather(city="Bern", days=2), now()]',
    ),
    "mistral": (
        '[TOOL_CALLS] [{"name": "weather", "arguments": {"city": "Bern", "days": 2}}]',
        '[TOOL_CALLS] [{"name": "weather", "arguments": {"city": "Bern", "days": 2}}, '
        '{"name": "now", "arguments": {}}]',
    ),
    "mistral_v11": (
        '[TOOL_CALLS]weather[ARGS]{"city": "Bern", "days": 2}',
        '[TOOL_CALLS]weather[ARGS]{"city": "Bern", "days": 2}[TOOL_CALLS]now[ARGS]{}',
    ),
    "qwen_coder": (
        "<tool_call>\n<function=weather>\n<parameter=city>\nBern\n</parameter>\n"
        "<parameter=days>\n2\n</parameter>\n</function>\n</tool_call>",
        "<tool_call>\n<function=weather>\n<parameter=city>\nBern\n</parameter>\n"
        "<parameter=days>\n2\n</parameter>\n</function>\n</tool_call>\n"
        "<tool_call>\n<function=now>\n</function>\n</tool_call>",
    ),
    "glm": (
        "<tool_call>weather\n<arg_key>city</arg_key>\n<arg_value>Bern</arg_value>\n"
        "<arg_key>days</arg_key>\n<arg_value>2</arg_value>\n</tool_call>",
        "<tool_call>weather\n<arg_key>city</arg_key>\n<arg_value>Bern</arg_value>\n"
        "<arg_key>days</arg_key>\n<arg_value>2</arg_value>\n</tool_call>\n"
        "<tool_call>now\n</tool_call>",
    ),
    "deepseek_v3": (
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>weather\n```json\n"
        '{"city": "Bern", "days": 2}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>weather\n```json\n"
        '{"city": "Bern", "days": 2}\n```<｜tool▁call▁end｜>\n'
        "<｜tool▁call▁begin｜>function<｜tool▁sep｜>now\n```json\n{}\n```<｜tool▁call▁end｜>"
        "<｜tool▁calls▁end｜>",
    ),
    "deepseek_v31": (
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>weather<｜tool▁sep｜>"
        '{"city": "Bern", "days": 2}'
        "<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>weather<｜tool▁sep｜>"
        '{"city": "Bern", "days": 2}'
        "<｜tool▁call▁end｜><｜tool▁call▁begin｜>now<｜tool▁sep｜>{}<｜tool▁call▁end｜>"
        "<｜tool▁calls▁end｜>",
    ),
    "harmony": (
        "<|channel|>commentary to=functions.weather <|constrain|>json<|message|>"
        '{"city": "Bern", "days": 2}',
        "",
    ),
    "kimi_k2": (
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.weather:0"
        '<|tool_call_argument_begin|>{"city": "Bern", "days": 2}<|tool_call_end|>'
        "<|tool_calls_section_end|>",
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.weather:0"
        '<|tool_call_argument_begin|>{"city": "Bern", "days": 2}<|tool_call_end|>'
        "<|tool_call_begin|>functions.now:1<|tool_call_argument_begin|>{}<|tool_call_end|>"
        "<|tool_calls_section_end|>",
    ),
    "granite": (
        '<|tool_call|>[{"name": "weather", "arguments": {"city": "Bern", "days": 2}}]',
        '<|tool_call|>[{"name": "weather", "arguments": {"city": "Bern", "days": 2}}, '
        '{"name": "now", "arguments": {}}]',
    ),
    "phi4_mini": (
        '<|tool_call|>[{"name": "weather", "arguments": {"city": "Bern", "days": 2}}]'
        "<|/tool_call|>",
        '<|tool_call|>[{"name": "weather", "arguments": {"city": "Bern", "days": 2}}, '
        '{"name": "now", "arguments": {}}]<|/tool_call|>',
    ),
    "minimax": (
        '<minimax:tool_call>\n<invoke name="weather">\n<parameter name="city">Bern</parameter>\n'
        '<parameter name="days">2</parameter>\n</invoke>\n</minimax:tool_call>',
        '<minimax:tool_call>\n<invoke name="weather">\n<parameter name="city">Bern</parameter>\n'
        '<parameter name="days">2</parameter>\n</invoke>\n<invoke name="now">\n</invoke>\n'
        "</minimax:tool_call>",
    ),
}

SPECIALS = {
    "hermes": ["<tool_call>", "</tool_call>"],
    "mistral": ["[TOOL_CALLS]"],
    "mistral_v11": ["[TOOL_CALLS]", "[ARGS]"],
    "qwen_coder": ["<tool_call>", "</tool_call>"],
    "glm": [
        *("<tool_call>", "</tool_call>", "<arg_key>", "</arg_key>"),
        *("<arg_value>", "</arg_value>"),
    ],
    "deepseek_v31": [
        *("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>", "<｜tool▁sep｜>"),
        *("<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>"),
    ],
    "harmony": ["<|channel|>", "<|constrain|>", "<|message|>", "<|end|>", "<|start|>"],
}


def test_every_format_has_its_row() -> None:
    assert set(FORMATS) == set(tool_format_names())


def vocabularies(format: str) -> list[dict[str, int]]:
    """A vocabulary to which marks are text, and one that has them as special tokens."""
    names = SPECIALS.get(format)
    return [{}] if names is None else [{}, {name: at for at, name in enumerate(names)}]


@pytest.mark.parametrize("format", FORMATS)
def test_calls_as_the_family_writes_them(format: str) -> None:
    one, two = FORMATS[format]
    for special in vocabularies(format):
        answers = Answers(format, auto(), special)
        [captured] = answers.readings(one)
        names = [name for name, _ in captured]
        assert names.count("call:weather") == 1
        if tool_format(format).literals == "python":
            assert ("python:city", '"Bern"') in captured
            assert ("python:days", "2") in captured
        elif tool_format(format).parameter:
            assert ("string:city", "Bern") in captured
            assert ("json:days", "2") in captured
        else:
            assert ("arguments", '{"city": "Bern", "days": 2}') in captured
        if two:
            [captured] = answers.readings(two)
            assert {"call:weather", "call:now"} < {name for name, _ in captured}
        else:
            assert not tool_format(format).parallel
        one_call = Answers(format, auto(), special, parallel=False)
        assert one_call.readings(one)
        assert not (two and one_call.readings(two))


@pytest.mark.parametrize("format", FORMATS)
def test_arguments_obey_the_schema_under_auto(format: str) -> None:
    one, _ = FORMATS[format]
    for special in vocabularies(format):
        answers = Answers(format, auto(), special)
        if not tool_format(format).alone:
            assert not answers.readings(one.replace("weather", "wether"))
        if format in ("json", "llama3_json"):
            continue  # there a call that is none is an answer in words
        assert not answers.readings(one.replace("2", "0"))
        assert not answers.readings(one.replace("Bern", ""))


@pytest.mark.parametrize("format", FORMATS)
def test_words_and_calls_under_each_choice(format: str) -> None:
    one, _ = FORMATS[format]
    words = "".join(tool_format(format).text).replace("$text", "It is late.")
    required = parse_tool_choice("required", TOOLS)
    named = parse_tool_choice({"type": "function", "function": {"name": "now"}}, TOOLS)
    for special in vocabularies(format):
        assert Answers(format, auto(), special).readings(words)
        assert Answers(format, parse_tool_choice("none", TOOLS), special).readings(words)
        assert not Answers(format, parse_tool_choice("none", TOOLS), special).readings(one)
        assert not Answers(format, required, special).readings(words)
        assert Answers(format, required, special).readings(one)
        assert not Answers(format, named, special).readings(one)
        if tool_format(format).alone:
            [captured] = Answers(format, auto(), special).readings(words + one)
            assert captured == (("text", words + one),)
        elif tool_format(format).text == ("$text",):
            [captured] = Answers(format, auto(), special).readings(words + one)
            assert captured[0] == ("text", words)


def test_stop_strings_end_words_and_may_stand_in_arguments() -> None:
    one, _ = FORMATS["hermes"]
    for special in ({}, {"<tool_call>": 0, "</tool_call>": 1}):
        answers = Answers("hermes", auto(), special, stop=("Bern", "!"))
        assert answers.readings(f"so{one}")
        assert answers.readings("so!") == {(("text", "so"),)}
        assert answers.readings("so") == {(("text", "so"),)}
        assert not answers.readings("so! so")
        assert not answers.readings(f"so!{one}")


def test_string_parameters_stand_as_they_are() -> None:
    call = "<tool_call>\n<function=weather>\n<parameter=city>\n{}\n</parameter>\n</function>\n"
    call += "</tool_call>"
    answers = Answers("qwen_coder", auto())
    assert answers.readings(call.format('a "b" \\ <c>\n2'))
    assert not answers.readings(call.format("a\n</parameter>\nb"))


def test_parameters_that_cant_be_said_one_by_one_are_refused() -> None:
    schema = parse_schema({"minProperties": 3, "properties": {"a": {}, "b": {}}}, ParseOptions())
    style = parameter_style("qwen_xml")
    members = DeclaredMembers(Shapes(), "one by one")
    with pytest.raises(UnsupportedSchemaError, match="minProperties"):
        Parameters(style, {}, members, JsonValue).expression(schema.root)


@pytest.mark.parametrize(
    ("schema", "text", "kind"),
    [
        ({"type": "string"}, "5", "string"),
        ({"type": "integer"}, "5", "json"),
        ({"type": ["string", "integer"]}, "5", "json"),
        ({"type": ["string", "integer"]}, "five", "string"),
        ({"type": ["string", "null"]}, "null", "json"),
        ({"enum": ["a", ["a"]]}, '["a"]', "json"),
        ({"enum": ["a", ["a"]]}, "a", "string"),
        ({}, "[a]", "string"),
        ({}, "true", "json"),
    ],
)
def test_what_a_parameters_text_says(schema: Any, text: str, kind: str) -> None:
    tool = {"name": "f", "parameters": {"properties": {"k": schema}, "required": ["k"]}}
    answers = Answers("minimax", parse_tool_choice("required", parse_tools([tool])))
    call = f'<invoke name="f">\n<parameter name="k">{text}</parameter>\n</invoke>'
    [captured] = answers.readings(f"<minimax:tool_call>\n{call}\n</minimax:tool_call>")
    assert captured[0] == (f"{kind}:k", text)


def named(name: str) -> Any:
    return {"type": "function", "function": {"name": name}}


CHOICES: list[tuple[Any, str, list[str]]] = [
    (None, "auto", ["weather", "now", "nowhere"]),
    ("auto", "auto", ["weather", "now", "nowhere"]),
    ("none", "none", ["weather", "now", "nowhere"]),
    ("required", "required", ["weather", "now", "nowhere"]),
    (named("now"), "one", ["now"]),
    ({"type": "function", "name": "now"}, "one", ["now"]),
    (
        {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [named("now")]}},
        "required",
        ["now"],
    ),
    ({"type": "allowed_tools", "mode": "auto", "tools": [{"name": "now"}]}, "auto", ["now"]),
    ({"type": "custom", "custom": {"name": "now"}}, "one", ["now"]),
    ({"type": "custom", "name": "now"}, "one", ["now"]),
]


@pytest.mark.parametrize(("choice", "mode", "tools"), CHOICES)
def test_tool_choices(choice: Any, mode: str, tools: list[str]) -> None:
    found = parse_tool_choice(choice, TOOLS)
    assert (found.mode, [tool.name for tool in found.tools]) == (mode, tools)


def test_without_tools_none_is_called() -> None:
    assert parse_tool_choice(None, ()) == ToolChoice("none", ())


NO_GRAMMAR = {"type": "grammar"}
GRAMMAR_WITHOUT_TEXT = {"type": "grammar", "grammar": {"syntax": "lark"}}


@pytest.mark.parametrize(
    ("tools", "param"),
    [
        ([1], "tools[0]"),
        ([{"type": "web_search"}], "tools[0].type"),
        ([{"type": "custom"}], "tools[0].name"),
        ([{"type": "custom", "custom": {}}], "tools[0].custom.name"),
        ([{"type": "custom", "name": "a", "format": {"type": "json"}}], "tools[0].format.type"),
        (
            [{"type": "custom", "name": "a", "format": {"type": "grammar"}}],
            "tools[0].format.syntax",
        ),
        (
            [{"type": "custom", "custom": {"name": "a", "format": GRAMMAR_WITHOUT_TEXT}}],
            "tools[0].custom.format.grammar.definition",
        ),
        ([{"type": "function", "function": {}}], "tools[0].function.name"),
        ([{"name": "a b"}], "tools[0].name"),
        ([{"name": ""}], "tools[0].name"),
        ([{"name": "a" * 129}], "tools[0].name"),
        ([{"name": 'a"'}], "tools[0].name"),
        ([{"name": "a<b"}], "tools[0].name"),
        ([{"name": "a\n"}], "tools[0].name"),
        ([{"name": "\ue000"}], "tools[0].name"),
        ([{"name": "\ud800"}], "tools[0].name"),
        ([{"type": "custom", "name": "a b"}], "tools[0].name"),
        ([{"name": "a", "parameters": [1]}], "tools[0].parameters"),
        ([{"name": "a", "parameters": []}], "tools[0].parameters"),
        ([{"name": "a", "parameters": 0}], "tools[0].parameters"),
        ([{"name": "a", "parameters": ""}], "tools[0].parameters"),
        ([NOW, NOW], "tools[1].function.name"),
        ([{"name": "a"}, {"name": "b"}, {"name": "a"}], "tools[2].name"),
        ([{"name": "a"}, {"type": "custom", "name": "a"}], "tools[1].name"),
        ([NOW, {"type": "custom", "custom": {"name": "now"}}], "tools[1].custom.name"),
    ],
)
def test_faults_of_tools_are_named(tools: Any, param: str) -> None:
    with pytest.raises(InputError) as refused:
        parse_tools(tools)
    assert refused.value.param == param


@pytest.mark.parametrize(
    "choice",
    ["any", {}, {"type": "tool"}, named("nobody"), {"type": "allowed_tools", "tools": []}, 5],
)
def test_faulty_choices_are_refused(choice: Any) -> None:
    with pytest.raises(InputError, match="tool_choice"):
        parse_tool_choice(choice, TOOLS)


def test_required_needs_tools() -> None:
    with pytest.raises(InputError, match="tool_choice demands a call, and there are no tools"):
        parse_tool_choice("required", ())


def test_unknown_formats_are_listed() -> None:
    with pytest.raises(InputError, match="hermes"):
        tool_format("../hermes")


PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}}


def function(**fields: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": "f", **fields}}


def custom(**fields: Any) -> dict[str, Any]:
    return {"type": "custom", "custom": {"name": "c", **fields}}


MISPLACED: list[tuple[dict[str, Any], str, str]] = [
    # a tool; the field that the error names, and what it should be
    (function(input_schema=PARAMETERS), "tools[0].function.input_schema", "'parameters'"),
    (function(inputSchema=PARAMETERS), "tools[0].function.inputSchema", "'parameters'"),
    (function(paramters=PARAMETERS), "tools[0].function.paramters", "'parameters'"),
    (function(parameter=PARAMETERS), "tools[0].function.parameter", "'parameters'"),
    (function(Parameters=PARAMETERS), "tools[0].function.Parameters", "'parameters'"),
    (function(params=PARAMETERS), "tools[0].function.params", "'parameters'"),
    (function(schema=PARAMETERS), "tools[0].function.schema", "'parameters'"),
    (function(properties={}), "tools[0].function.properties", "'parameters'"),
    (function(descripton="x"), "tools[0].function.descripton", "'description'"),
    (function(parameters=PARAMETERS, schema=True), "tools[0].function.schema", "'parameters'"),
    ({"name": "f", "input_schema": PARAMETERS}, "tools[0].input_schema", "'parameters'"),
    ({"type": "function", "name": "f", "arguments": {}}, "tools[0].arguments", "'parameters'"),
    (
        {**function(), "parameters": PARAMETERS},
        "tools[0].parameters",
        "tools[0].function.parameters",
    ),
    ({**function(), "params": PARAMETERS}, "tools[0].params", "tools[0].function.parameters"),
    (custom(grammar="start: A"), "tools[0].custom.grammar", "'format'"),
    (custom(formats={"type": "text"}), "tools[0].custom.formats", "'format'"),
    ({"type": "custom", "name": "c", "regex": "a+"}, "tools[0].regex", "'format'"),
    ({**custom(), "format": {"type": "text"}}, "tools[0].format", "tools[0].custom.format"),
]


@pytest.mark.parametrize(("tool", "param", "right"), MISPLACED, ids=str)
def test_what_defines_a_tool_under_another_name_is_refused(
    tool: dict[str, Any], param: str, right: str
) -> None:
    """The arguments of the tool would be empty, or anything."""
    with pytest.raises(InputError) as caught:
        parse_tools([tool])
    assert (caught.value.param, caught.value.code) == (param, "unknown_field")
    assert right in caught.value.message


@pytest.mark.parametrize(
    ("field", "value"),
    [("defer_loading", True), ("allowed_callers", []), ("allowed_callers", ["code"])],
)
@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("tool", [function(), custom()], ids=["function", "custom"])
def test_what_tools_are_not_here_is_refused(
    tool: dict[str, Any], inside: bool, field: str, value: Any
) -> None:
    kind = tool["type"]
    place = f"tools[0].{kind}.{field}" if inside else f"tools[0].{field}"
    changed = {**tool, kind: {**tool[kind], field: value}} if inside else {**tool, field: value}
    with pytest.raises(InputError) as caught:
        parse_tools([changed])
    assert (caught.value.param, caught.value.code) == (place, "unsupported_parameter")


@pytest.mark.parametrize(
    "tool",
    [
        function(parameters=PARAMETERS, strict=True, description="x"),
        function(input_examples=[{}], output_schema={}, annotations={}, cache_control={}),
        function(input_schema=None, schema=None),
        {**function(), "id": "x", "cache_control": {"type": "ephemeral"}},
        {**function(), "parameters": None, "defer_loading": False, "allowed_callers": ["direct"]},
        {"name": "f", "title": "x", "version": 1},
        custom(title="x", format={"type": "text"}),
    ],
    ids=str,
)
def test_what_says_something_else_of_a_tool_is_left_to_the_model(tool: dict[str, Any]) -> None:
    [read] = parse_tools([tool])
    assert read.name in ("f", "c")


def test_parallel_use_is_forbidden_in_one_place() -> None:
    choice = {"type": "function", "name": "now", "disable_parallel_tool_use": True}
    with pytest.raises(InputError, match="send parallel_tool_calls: false") as caught:
        parse_tool_choice(choice, TOOLS)
    assert caught.value.param == "tool_choice.disable_parallel_tool_use"
    assert parse_tool_choice({**choice, "disable_parallel_tool_use": False}, TOOLS).mode == "one"
