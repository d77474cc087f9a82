"""Tools over HTTP, with an engine that says what a model might."""

from __future__ import annotations

import json
from typing import Any

import pytest

from maskwright.server import ServerConfig
from maskwright.server.recipes import tool_format_of
from tests.server.scripted import Client, Script, ScriptedEngine

WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "The weather.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city"],
        },
    },
}
NOW = {"type": "function", "function": {"name": "now"}}
TOOLS = [WEATHER, NOW]

CALLS = {
    "json": '{"name": "weather", "arguments": {"city": "Bern", "days": 2}}\n'
    '{"name": "now", "arguments": {}}',
    "hermes": "Let me see.\n<tool_call>\n"
    '{"name": "weather", "arguments": {"city": "Bern", "days": 2}}\n</tool_call>\n'
    '<tool_call>\n{"name": "now", "arguments": {}}\n</tool_call>',
    "llama_pythonic": "[weather(city='Bern', days=2), now()]",
    "qwen_coder": "Let me see.\n<tool_call>\n<function=weather>\n<parameter=city>\nBern\n"
    "</parameter>\n<parameter=days>\n2\n</parameter>\n</function>\n</tool_call>\n"
    "<tool_call>\n<function=now>\n</function>\n</tool_call>",
}


ALONE = ("json", "llama_pythonic")
"""Formats whose calls stand here without words before them."""


def says(engine: ScriptedEngine, text: str, size: int = 3) -> None:
    """Let the model say `text`, `size` characters at a time."""
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    engine.script = Script(pieces, spelled=True)


@pytest.mark.parametrize("format", CALLS)
def test_calls_are_told_apart(client: Client, engine: ScriptedEngine, format: str) -> None:
    client.config = ServerConfig(tool_format=format)
    says(engine, CALLS[format])
    body = client.chat(tools=TOOLS).json()
    [choice] = body["choices"]
    assert choice["finish_reason"] == "tool_calls"
    message = choice["message"]
    first, second = message["tool_calls"]
    assert message["content"] == (None if format in ALONE else "Let me see.\n")
    assert first["type"] == second["type"] == "function"
    assert first["id"] != second["id"]
    assert first["function"]["name"] == "weather"
    assert json.loads(first["function"]["arguments"]) == {"city": "Bern", "days": 2}
    assert second["function"] == {"name": "now", "arguments": "{}"}


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
@pytest.mark.parametrize("format", CALLS)
def test_calls_are_streamed(client: Client, engine: ScriptedEngine, format: str, size: int) -> None:
    client.config = ServerConfig(tool_format=format)
    says(engine, CALLS[format], size)
    calls: list[dict[str, Any]] = []
    words = ""
    finished = []
    for event in client.events(tools=TOOLS)[:-1]:
        [choice] = event["choices"]
        words += choice["delta"].get("content") or ""
        for call in choice["delta"].get("tool_calls", ()):
            if call["index"] == len(calls):
                assert call["type"] == "function"
                assert call["id"].startswith("call_")
                calls.append({"name": call["function"]["name"], "arguments": ""})
            else:
                assert set(call) == {"index", "function"}
                assert set(call["function"]) == {"arguments"}
            calls[call["index"]]["arguments"] += call["function"]["arguments"]
        finished.append(choice["finish_reason"])
    assert finished[-1] == "tool_calls"
    assert set(finished[:-1]) == {None}
    assert words == ("" if format in ALONE else "Let me see.\n")
    assert [call["name"] for call in calls] == ["weather", "now"]
    assert json.loads(calls[0]["arguments"]) == {"city": "Bern", "days": 2}
    assert json.loads(calls[1]["arguments"]) == {}


def test_arguments_are_streamed_as_they_come(client: Client, engine: ScriptedEngine) -> None:
    client.config = ServerConfig(tool_format="hermes")
    says(engine, CALLS["hermes"], 1)
    pieces = [
        call["function"]["arguments"]
        for event in client.events(tools=TOOLS)[:-1]
        for call in event["choices"][0]["delta"].get("tool_calls", ())
    ]
    assert len(pieces) > 20


def test_an_answer_in_words_has_no_calls(client: Client, engine: ScriptedEngine) -> None:
    client.config = ServerConfig(tool_format="hermes")
    says(engine, "It is late <tool")
    [choice] = client.chat(tools=TOOLS).json()["choices"]
    assert choice["finish_reason"] == "stop"
    assert choice["message"]["content"] == "It is late <tool"
    assert "tool_calls" not in choice["message"]


def test_a_schema_beside_tools_is_the_shape_of_words(
    client: Client, engine: ScriptedEngine
) -> None:
    client.config = ServerConfig(tool_format="hermes")
    shape = {"type": "json_schema", "json_schema": {"schema": {"type": "array"}}}
    says(engine, "[1]")
    [choice] = client.chat(tools=TOOLS, response_format=shape).json()["choices"]
    assert choice["message"]["content"] == "[1]"
    grammar = engine.requests[-1].grammar
    assert grammar is not None
    assert grammar.matcher().accept_bytes(b"It") == 0
    assert grammar.matcher().accept_bytes(CALLS["hermes"][12:].encode()) > 50


@pytest.mark.parametrize("stream", [False, True])
def test_harmony_says_in_its_channel_whether_it_is_a_call(
    client: Client, engine: ScriptedEngine, stream: bool
) -> None:
    client.config = ServerConfig(tool_format="harmony")
    shape = {"type": "json_schema", "json_schema": {"schema": {"type": "array"}}}

    def answered(text: str) -> tuple[str, str, list[Any], str]:
        says(engine, text)
        if not stream:
            [choice] = client.chat(tools=TOOLS, response_format=shape).json()["choices"]
            message, reason = choice["message"], choice["finish_reason"]
            calls = [call["function"] for call in message.get("tool_calls", ())]
        else:
            events = client.events(tools=TOOLS, response_format=shape)[:-1]
            deltas = [event["choices"][0]["delta"] for event in events]
            parts = [c["function"] for delta in deltas for c in delta.get("tool_calls", ())]
            message = {"content": "".join(delta.get("content") or "" for delta in deltas)}
            calls = [
                {"name": part["name"], "arguments": "".join(p["arguments"] for p in parts)}
                for part in parts[:1]
            ]
            reason = events[-1]["choices"][0]["finish_reason"]
        names = ",".join(call["name"] for call in calls)
        return message["content"] or "", names, [json.loads(c["arguments"]) for c in calls], reason

    assert answered("<|channel|>final<|message|>[1]") == ("[1]", "", [], "stop")
    call = "<|channel|>commentary to=functions.weather <|constrain|>json<|message|>"
    arguments = {"city": "Bern"}
    said = answered(call + json.dumps(arguments))
    assert said == ("", "weather", [arguments], "tool_calls")
    grammar = engine.requests[-1].grammar
    assert grammar is not None
    final = b"<|channel|>final<|message|>"
    assert grammar.matcher().accept_bytes(final + b"It is late") == len(final)
    assert grammar.matcher().accept_bytes(b"[1]") == 0


def test_a_stop_string_ends_words_alone(client: Client, engine: ScriptedEngine) -> None:
    client.config = ServerConfig(tool_format="hermes")
    says(engine, "It is lateBern")
    [choice] = client.chat(tools=TOOLS, stop=["Bern"]).json()["choices"]
    assert choice["message"]["content"] == "It is late"
    says(engine, CALLS["hermes"])
    [choice] = client.chat(tools=TOOLS, stop=["Bern"]).json()["choices"]
    assert len(choice["message"]["tool_calls"]) == 2


def test_the_template_sees_the_tools(client: Client, engine: ScriptedEngine) -> None:
    says(engine, "It is late")
    client.chat(tools=TOOLS)
    assert list(engine.loaded.rendered.tools) == TOOLS
    client.chat(tools=TOOLS, tool_choice="none")
    assert list(engine.loaded.rendered.tools) == TOOLS
    assert engine.requests[-1].grammar is None


def test_a_null_in_a_tool_is_an_absent_field(client: Client, engine: ScriptedEngine) -> None:
    """Templates print what is there: the demo's own one fails on a tool whose function is null."""
    nothing = {"parameters": None, "description": None, "strict": None}
    says(engine, "It is late")
    for sent in (
        {"name": "f", "function": None, **nothing},
        {"type": "function", "name": "f", "function": None, **nothing},
        {"type": None, "function": {"name": "f", **nothing}},
    ):
        assert client.chat(tools=[sent]).status_code == 200
        assert list(engine.loaded.rendered.tools) == [
            {"type": "function", "function": {"name": "f"}}
        ]


IMPOSSIBLE = {
    "type": "function",
    "function": {"name": "never", "parameters": {"properties": {"a": False}, "required": ["a"]}},
}
REFUSED: list[tuple[dict[str, Any], str, str]] = [
    (
        {
            "tools": [
                WEATHER,
                {"type": "function", "function": {"name": "f", "parameters": {"type": 5}}},
            ]
        },
        "tools[1].function.parameters",
        "tool 'f'",
    ),
    (
        {"tools": TOOLS, "guided_choice": ['{"name": "now", "arguments": 1']},
        "guided_choice",
        "begins like a call",
    ),
    (
        {"tools": [IMPOSSIBLE], "tool_choice": "required"},
        "tools[0].function.parameters",
        "tool 'never'",
    ),
    (
        {
            "tools": TOOLS,
            "response_format": {"type": "json_schema", "json_schema": {"schema": {"type": 5}}},
        },
        "response_format.json_schema.schema",
        "type",
    ),
    (
        {"tools": TOOLS, "tool_choice": {"type": "function", "function": {"name": "g"}}},
        "tool_choice.function.name",
        "weather, now",
    ),
]


@pytest.mark.parametrize(("fields", "param", "message"), REFUSED)
def test_faults_name_their_place(
    client: Client, engine: ScriptedEngine, fields: dict[str, Any], param: str, message: str
) -> None:
    response = client.chat(**fields)
    assert response.status_code == 400
    error = response.json()["error"]
    assert error["param"] == param
    assert message in error["message"]
    assert not engine.requests


SHAPES: list[tuple[dict[str, Any], str, str]] = [
    ({"guided_regex": "[ab]+"}, "ab", "c"),
    ({"guided_choice": ["yes", "no"]}, "no", "maybe"),
    ({"structured_outputs": {"json": {"type": "integer"}}}, "12", "a"),
    ({"structural_tag": {"format": {"type": "const_string", "value": "x"}}}, "x", "y"),
    ({"grammar": 'root ::= "a" | "b" root'}, "bba", "c"),
    (
        {"response_format": {"type": "grammar", "grammar": 'start: "a"+', "syntax": "lark"}},
        "aa",
        "b",
    ),
]


@pytest.mark.parametrize(("fields", "accepted", "rejected"), SHAPES)
def test_every_shape_constrains(
    client: Client,
    engine: ScriptedEngine,
    fields: dict[str, Any],
    accepted: str,
    rejected: str,
) -> None:
    assert client.chat(**fields).status_code == 200
    grammar = engine.requests[-1].grammar
    assert grammar is not None
    matcher = grammar.matcher()
    assert matcher.accept_bytes(accepted.encode()) == len(accepted)
    assert matcher.accepting
    assert grammar.matcher().accept_bytes(rejected.encode()) == 0


BROKEN: list[tuple[dict[str, Any], str]] = [
    ({"guided_regex": "("}, "guided_regex"),
    ({"structural_tag": "{"}, "structural_tag"),
    ({"grammar": "root ::= ("}, "grammar"),
    ({"guided_json": {"type": 5}}, "guided_json"),
]


@pytest.mark.parametrize(("fields", "param"), BROKEN)
def test_broken_shapes_are_refused(client: Client, fields: dict[str, Any], param: str) -> None:
    response = client.chat(**fields)
    assert response.status_code == 400
    assert response.json()["error"]["param"] == param


@pytest.mark.parametrize(
    ("template", "format"),
    [
        ("<tool_call>\n{{ name }} <function=", "qwen_coder"),
        ("<tool_call>\n{{ name }}", "hermes"),
        ("[TOOL_CALLS] [", "mistral"),
        ("[func_name1(params_name1=params_value1)]", "llama_pythonic"),
        ("", "json"),
    ],
)
def test_the_format_is_recognised_from_the_template(template: str, format: str) -> None:
    assert tool_format_of(template) == format


# Custom tools -------------------------------------------------------------------------------------

SQL: dict[str, Any] = {
    "type": "custom",
    "custom": {
        "name": "sql",
        "description": "Asks a database.",
        "format": {
            "type": "grammar",
            "grammar": {"syntax": "lark", "definition": 'start: "SELECT " /[a-z \\n"]+/'},
        },
    },
}
QUERY = 'SELECT a\n"b"'


@pytest.mark.parametrize("size", [1, 5, 1000])
def test_calls_of_custom_tools(client: Client, engine: ScriptedEngine, size: int) -> None:
    client.config = ServerConfig(tool_format="hermes")
    call = json.dumps({"name": "sql", "arguments": {"input": QUERY}})
    said = f"<tool_call>\n{call}\n</tool_call>" + CALLS["hermes"][11:]
    says(engine, said, size)
    tools = [SQL, *TOOLS]
    choice = client.chat(tools=tools).json()["choices"][0]
    custom, weather, _ = choice["message"]["tool_calls"]
    assert custom == {
        "id": custom["id"],
        "type": "custom",
        "custom": {"name": "sql", "input": QUERY},
    }
    assert weather["type"] == "function"
    assert choice["finish_reason"] == "tool_calls"
    says(engine, said, size)
    deltas = [
        piece
        for event in client.events(tools=tools)[:-1]
        for piece in event["choices"][0]["delta"].get("tool_calls", ())
        if piece["index"] == 0
    ]
    first, *others = deltas
    assert first["type"] == "custom"
    assert first["custom"] == {"name": "sql", "input": ""}
    assert "".join(each["custom"]["input"] for each in others) == QUERY
    assert all(set(each) == {"index", "custom"} for each in others)


def test_a_template_sees_a_custom_tool_as_a_function(
    client: Client, engine: ScriptedEngine
) -> None:
    says(engine, "It is late")
    earlier = {
        "role": "assistant",
        "tool_calls": [
            {"id": "call_1", "type": "custom", "custom": {"name": "sql", "input": "SELECT a"}}
        ],
    }
    answered = {"role": "tool", "tool_call_id": "call_1", "content": "1"}
    user = {"role": "user", "content": "How many?"}
    assert client.chat(tools=[SQL], messages=[user, earlier, answered]).status_code == 200
    [shown] = engine.loaded.rendered.tools
    assert shown["function"]["name"] == "sql"
    assert shown["function"]["description"] == "Asks a database."
    assert "SELECT" in shown["function"]["parameters"]["properties"]["input"]["description"]


def test_tools_with_alternatives_at_the_top_and_equal_names_of_definitions(
    client: Client, engine: ScriptedEngine
) -> None:
    def tool(name: str, kind: str) -> dict[str, Any]:
        schema = {
            "$defs": {"x": {"type": kind}},
            "anyOf": [
                {"properties": {"a": {"$ref": "#/$defs/x"}}, "required": ["a"]},
                {"properties": {"b": {"type": "null"}}, "required": ["b"]},
            ],
        }
        return {"type": "function", "function": {"name": name, "parameters": schema}}

    client.config = ServerConfig(tool_format="hermes")
    says(engine, "It is late")
    client.chat(tools=[tool("f", "integer"), tool("g", "string")])
    grammar = engine.requests[-1].grammar
    assert grammar is not None
    call = '<tool_call>\n{"name": "%s", "arguments": %s}\n</tool_call>'
    for name, right, wrong in (("f", "1", '"x"'), ("g", '"x"', "1")):
        for text in (f'{{"a": {right}}}', '{"b": null}'):
            assert grammar.matcher().accept_bytes((call % (name, text)).encode()) > 50
        for text in (f'{{"a": {wrong}}}', "{}", "[]", '{"c": 1}', '"x"'):
            data = (call % (name, text)).encode()
            assert grammar.matcher().accept_bytes(data) < len(data)


# Reasoning ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("tools", [None, TOOLS])
def test_reasoning_is_returned_apart(
    client: Client, engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch, tools: Any
) -> None:
    monkeypatch.setattr(type(engine.loaded), "chat_template", "<think></think> <tool_call>")
    client.config = ServerConfig(tool_format="hermes")  # which makes a server with this template
    said = "<think>\nLet me see.\n</think>\n\nIt is late"
    says(engine, said)
    message = client.chat(tools=tools).json()["choices"][0]["message"]
    assert message["content"] == "It is late"
    assert message["reasoning_content"] == message["reasoning"] == "Let me see."
    says(engine, said)
    deltas = [e["choices"][0]["delta"] for e in client.events(tools=tools)[:-1] if e["choices"]]
    assert "".join(each.get("reasoning_content", "") for each in deltas) == "Let me see."
    assert "".join(each.get("content") or "" for each in deltas) == "It is late"
    says(engine, said)
    message = client.chat(tools=tools, separate_reasoning=False).json()["choices"][0]["message"]
    assert message["content"] == said
    assert "reasoning_content" not in message


BAD = {"type": "function", "function": {"name": "bad", "parameters": {"type": "objekt"}}}


@pytest.mark.parametrize("stream", [False, True])
def test_a_tool_that_is_unusable_may_be_left_out(
    client: Client, engine: ScriptedEngine, stream: bool
) -> None:
    """Neither the grammar nor the prompt has it then, and a header says so."""
    client.config = ServerConfig(tool_format="hermes")
    refused = client.chat(tools=[*TOOLS, BAD], stream=stream)
    assert refused.status_code == 400
    assert refused.json()["error"]["param"] == "tools[2].function.parameters"
    omit = {"maskwright": {"unusable_tools": "omit"}, "stream": stream}
    says(engine, "Hello")
    response = client.chat(tools=[*TOOLS, BAD], **omit)
    assert response.status_code == 200
    (warning,) = json.loads(response.headers["x-maskwright-warnings"])
    assert warning.startswith("/bad: left out: ")
    assert "unknown type 'objekt'" in warning
    assert list(engine.loaded.rendered.tools) == TOOLS
    says(engine, CALLS["hermes"].partition("see.\n")[2])
    assert client.chat(tools=[*TOOLS, BAD], tool_choice="required", **omit).status_code == 200
    chosen = {"type": "function", "function": {"name": "bad"}}
    assert client.chat(tools=[*TOOLS, BAD], tool_choice=chosen, **omit).status_code == 400
    says(engine, "Hello")
    alone = client.chat(tools=[BAD], **omit)
    assert alone.status_code == 200
    assert client.chat(tools=[BAD], tool_choice="required", **omit).status_code == 400
    says(engine, "Hello")
    usable = client.chat(tools=TOOLS, **omit)
    assert "x-maskwright-warnings" not in usable.headers
