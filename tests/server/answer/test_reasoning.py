"""Reasoning sections before answers that have a shape, over a scripted engine."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright.server import ServerConfig
from tests.server.scripted import Client, ScriptedEngine
from tests.server.test_tools import CALLS, TOOLS, says

INTEGER = {"response_format": {"type": "json_object", "schema": {"type": "integer"}}}
BEGUN = {"messages": [{"role": "user", "content": "hello <think>\n"}]}
CLOSED = {"messages": [{"role": "user", "content": "hello <think>\n\n</think>\n\n"}]}
THOUGHT = "<think>\nIs it 7?\n</think>\n\n"


@pytest.fixture(autouse=True)
def template(engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch, client: Client) -> None:
    monkeypatch.setattr(type(engine.loaded), "chat_template", "<think></think> <tool_call>")
    client.config = ServerConfig(tool_format="hermes")


def allows(engine: ScriptedEngine, text: str) -> bool:
    grammar = engine.requests[-1].grammar
    assert grammar is not None
    matcher = grammar.matcher()
    return matcher.accept_bytes(text.encode()) == len(text.encode()) and matcher.accepting


@pytest.mark.parametrize(
    "shape",
    [
        INTEGER,
        {"regex": "[0-9]"},
        {"guided_choice": ["7", "8"]},
        {"grammar": 'start: "7" | "8"'},
        {"tools": TOOLS, **INTEGER},
    ],
)
def test_a_shaped_answer_may_have_one(client: Client, engine: ScriptedEngine, shape: Any) -> None:
    says(engine, THOUGHT + "7")
    body = client.chat(**shape).json()
    message = body["choices"][0]["message"]
    assert (message["content"], message["reasoning_content"]) == ("7", "Is it 7?")
    assert body["usage"]["completion_tokens_details"] == {"reasoning_tokens": len("Is it 7?")}
    for text in (THOUGHT + "7", "7", "<think></think>7"):
        assert allows(engine, text)
    for text in (THOUGHT, THOUGHT + "x", "Is it 7?\n</think>7", THOUGHT + THOUGHT + "7"):
        assert not allows(engine, text)


def test_in_a_stream(client: Client, engine: ScriptedEngine) -> None:
    says(engine, THOUGHT + "7")
    asked = {"stream_options": {"include_usage": True}, **INTEGER}
    *events, last = client.events(**asked)[:-1]
    deltas = [event["choices"][0]["delta"] for event in events]
    assert "".join(each.get("reasoning_content", "") for each in deltas) == "Is it 7?"
    assert "".join(each.get("content") or "" for each in deltas) == "7"
    assert last["usage"]["completion_tokens_details"] == {"reasoning_tokens": len("Is it 7?")}


def test_in_a_response(client: Client, engine: ScriptedEngine) -> None:
    says(engine, THOUGHT + "7")
    asked = {
        "input": "hello",
        "text": {"format": {"type": "json_schema", "name": "x", "schema": {}}},
    }
    body = client.call("POST", "/v1/responses", json=asked).json()
    assert [item["type"] for item in body["output"]] == ["reasoning", "message"]
    assert body["usage"]["output_tokens_details"] == {"reasoning_tokens": len("Is it 7?")}


def test_a_section_that_the_prompt_has_begun(client: Client, engine: ScriptedEngine) -> None:
    says(engine, "Is it 7?\n</think>\n7")
    message = client.chat(**INTEGER, **BEGUN).json()["choices"][0]["message"]
    assert (message["content"], message["reasoning_content"]) == ("7", "Is it 7?")
    assert allows(engine, "Is it 7?\n</think>\n7")
    assert not allows(engine, "7")


@pytest.mark.parametrize("fields", [CLOSED, {"separate_reasoning": False}])
def test_no_section(client: Client, engine: ScriptedEngine, fields: Any) -> None:
    """The prompt has ended it, or the client wants all in one text, which then has its shape."""
    says(engine, "7")
    message = client.chat(**INTEGER, **fields).json()["choices"][0]["message"]
    assert message["content"] == "7"
    assert "reasoning_content" not in message
    assert allows(engine, "7")
    assert not allows(engine, THOUGHT + "7")


@pytest.mark.parametrize(
    "shape",
    [
        {"grammar": 'start: "<think>" /[a-z]*/ "</think>" "7"'},
        {"regex": "(<think>[a-z]*</think>)?7"},
        {
            "structural_tag": {
                "format": {
                    "type": "sequence",
                    "elements": [
                        {"type": "const_string", "value": "<think>hm</think>"},
                        {"type": "const_string", "value": "7"},
                    ],
                }
            }
        },
    ],
)
def test_a_shape_with_reasoning_of_its_own(
    client: Client, engine: ScriptedEngine, shape: Any
) -> None:
    says(engine, "<think>hm</think>7")
    assert client.chat(**shape).json()["choices"][0]["message"]["content"] == "<think>hm</think>7"
    assert allows(engine, "<think>hm</think>7")
    assert not allows(engine, "<think>hm</think><think>hm</think>7")


def test_before_a_call_that_must_come(client: Client, engine: ScriptedEngine) -> None:
    calls = CALLS["hermes"]
    says(engine, THOUGHT + calls[calls.index("<tool_call>") :])
    body = client.chat(tools=TOOLS, tool_choice="required").json()
    [choice] = body["choices"]
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"]["reasoning_content"] == "Is it 7?"
    assert len(choice["message"]["tool_calls"]) == 2
    assert body["usage"]["completion_tokens_details"]["reasoning_tokens"] == len("Is it 7?")
    assert not allows(engine, THOUGHT + "7")


def test_free_answers_count_reasoning_too(client: Client, engine: ScriptedEngine) -> None:
    says(engine, THOUGHT + "7 é")
    body = client.chat().json()
    assert body["usage"]["completion_tokens_details"] == {"reasoning_tokens": len("Is it 7?")}
    says(engine, "7")
    assert client.chat().json()["usage"]["completion_tokens_details"] == {"reasoning_tokens": 0}


@pytest.mark.parametrize("shape", [INTEGER, {}, {"tools": TOOLS}])
def test_a_budget_for_reasoning(client: Client, engine: ScriptedEngine, shape: Any) -> None:
    says(engine, "<think>ab</think>7")
    message = client.chat(thinking_token_budget=2, **shape).json()["choices"][0]["message"]
    assert (message["content"], message["reasoning_content"]) == ("7", "ab")
    grammar = engine.requests[-1].grammar
    assert grammar is not None
    matcher = grammar.matcher()
    read = [matcher.accept(byte) for byte in b"<think>abc"]
    assert read == [True] * 9 + [False]


def test_no_bound_for_reasoning(client: Client, engine: ScriptedEngine) -> None:
    """-1, as vLLM's clients say it, also where there can be no reasoning."""
    says(engine, "<think>abc</think>7")
    message = client.chat(thinking_token_budget=-1, **INTEGER).json()["choices"][0]["message"]
    assert (message["content"], message["reasoning_content"]) == ("7", "abc")
    says(engine, "7")
    body = {"thinking_token_budget": -1, "prompt": [1]}
    assert client.call("POST", "/v1/completions", json=body).status_code == 200


@pytest.mark.parametrize("shape", [INTEGER, {}, {"tools": TOOLS}, {"tools": TOOLS, **INTEGER}])
@pytest.mark.parametrize("stream", [False, True])
def test_a_budget_of_nothing(
    client: Client, engine: ScriptedEngine, shape: Any, stream: bool
) -> None:
    """A section that the model begins ends at once; it need not begin one."""
    for said in ("<think></think>7", "<think></think>\n\n7", "7"):
        says(engine, said)
        assert asked(client, stream, thinking_token_budget=0, **shape) == ("7", "", 0)
        assert allows(engine, said)
    for said in ("<think>a</think>7", "<think> </think>7", "<think>\n</think>7", "<think>"):
        assert not allows(engine, said)


@pytest.mark.parametrize("shape", [INTEGER, {}, {"tools": TOOLS}])
@pytest.mark.parametrize("stream", [False, True])
def test_a_budget_of_nothing_ends_what_the_prompt_has_begun(
    client: Client, engine: ScriptedEngine, shape: Any, stream: bool
) -> None:
    says(engine, "</think>\n7")
    assert asked(client, stream, thinking_token_budget=0, **shape, **BEGUN) == ("7", "", 0)
    assert allows(engine, "</think>\n7")
    assert allows(engine, "</think>7")
    for said in ("a</think>7", "\n</think>7", "7"):
        assert not allows(engine, said)


def test_a_budget_of_nothing_in_a_response(client: Client, engine: ScriptedEngine) -> None:
    says(engine, "<think></think>7")
    body = {"input": "hello", "thinking_token_budget": 0}
    found = client.call("POST", "/v1/responses", json=body).json()
    assert [item["type"] for item in found["output"]] == ["message"]
    assert not allows(engine, "<think>a</think>7")


def test_a_budget_of_nothing_where_a_model_has_no_reasoning(
    client: Client, engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has what it asks for. Another budget is refused."""
    monkeypatch.setattr(type(engine.loaded), "chat_template", "")
    says(engine, "7")
    assert asked(client, False, thinking_token_budget=0, **INTEGER)[0] == "7"
    body = {"thinking_token_budget": 0, "prompt": [1]}
    assert client.call("POST", "/v1/completions", json=body).status_code == 200
    assert client.chat(thinking_token_budget=1).json()["error"]["code"] == "unsupported_parameter"


def asked(client: Client, stream: bool, **fields: Any) -> tuple[str, str, int]:
    """The text of an answer, its reasoning, and how many tokens of it are counted."""
    if not stream:
        body = client.chat(**fields).json()
        messages, usage = [body["choices"][0]["message"]], body["usage"]
    else:
        *events, last = client.events(stream_options={"include_usage": True}, **fields)[:-1]
        messages, usage = [each["choices"][0]["delta"] for each in events], last["usage"]
    return (
        "".join(each.get("content") or "" for each in messages),
        "".join(each.get("reasoning_content") or "" for each in messages),
        usage["completion_tokens_details"]["reasoning_tokens"],
    )


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("fields", "said"),
    [
        (INTEGER, THOUGHT + "7"),
        ({}, THOUGHT + "7"),
        ({"tools": TOOLS}, THOUGHT + "7"),
        (BEGUN, "\nIs it 7?\n</think>\n\n7"),
    ],
    ids=["shape", "text", "tools", "begun"],
)
def test_reasoning_may_be_left_out(
    client: Client, engine: ScriptedEngine, fields: Any, said: str, stream: bool
) -> None:
    """Its tokens count all the same, and the shape holds for what follows it."""
    tokens = len("Is it 7?")
    says(engine, said)
    assert asked(client, stream, **fields) == ("7", "Is it 7?", tokens)
    says(engine, said)
    assert asked(client, stream, include_reasoning=True, **fields) == ("7", "Is it 7?", tokens)
    says(engine, said)
    assert asked(client, stream, include_reasoning=False, **fields) == ("7", "", tokens)


def test_reasoning_before_a_call_may_be_left_out(client: Client, engine: ScriptedEngine) -> None:
    calls = CALLS["hermes"]
    said = THOUGHT + calls[calls.index("<tool_call>") :]
    asking: dict[str, Any] = {"tools": TOOLS, "tool_choice": "required", "include_reasoning": False}
    says(engine, said)
    message = client.chat(**asking).json()["choices"][0]["message"]
    assert len(message["tool_calls"]) == 2
    assert "reasoning_content" not in message
    assert "reasoning" not in message
    says(engine, said)
    events = client.events(**asking)[:-1]
    assert "Is it" not in str(events)
    assert "look" in str(events) or "weather" in str(events)


def test_reasoning_may_be_left_out_of_responses_and_messages(
    client: Client, engine: ScriptedEngine
) -> None:
    for path, body, kinds in (
        ("/v1/responses", {"input": "hello"}, ["reasoning", "message"]),
        (
            "/v1/messages",
            {"messages": [{"role": "user", "content": "hello"}], "max_tokens": 60},
            ["thinking", "text"],
        ),
    ):
        for left_out in (False, True):
            asking = {**body, "include_reasoning": not left_out}
            says(engine, THOUGHT + "7")
            found = client.call("POST", path, json=asking).json()
            output = found["output"] if "output" in found else found["content"]
            assert [item["type"] for item in output] == kinds[left_out:]
            says(engine, THOUGHT + "7")
            streamed = client.call("POST", path, json={**asking, "stream": True}).text
            assert (f"{kinds[0]}_" in streamed.replace("reasoning_tokens", "")) is not left_out


@pytest.mark.parametrize(
    ("path", "body", "code"),
    [
        ("/v1/completions", {"prompt": [1]}, "unsupported_parameter"),
        (
            "/v1/chat/completions",
            {"messages": CLOSED["messages"], "separate_reasoning": False},
            "conflicting_constraints",
        ),
    ],
)
def test_reasoning_within_the_text_is_not_left_out(
    client: Client, engine: ScriptedEngine, path: str, body: Any, code: str
) -> None:
    error = client.call("POST", path, json={"include_reasoning": False, **body}).json()["error"]
    assert (error["param"], error["code"]) == ("include_reasoning", code)
    says(engine, "7")
    assert client.call("POST", path, json={"include_reasoning": True, **body}).status_code == 200


@pytest.mark.parametrize("shape", [INTEGER, {}, {"tools": TOOLS}])
def test_what_a_section_says_when_its_tokens_are_used_up(
    client: Client, engine: ScriptedEngine, shape: Any
) -> None:
    fields = {"thinking_token_budget": 2, "reasoning_budget_message": "\nEnough.", **shape}
    for stream in (False, True):
        says(engine, "<think>ab\nEnough.</think>7")
        assert asked(client, stream, **fields) == ("7", "ab\nEnough.", len("ab\nEnough."))
    grammar = engine.requests[-1].grammar
    assert grammar is not None
    matcher = grammar.matcher()
    assert all(map(matcher.accept, b"<think>ab"))
    assert bytes(matcher.forced_tokens()) == b"\nEnough."
    says(engine, "<think>a</think>7")
    assert asked(client, False, **fields) == ("7", "a", 1)
    says(engine, "<think>ab</think>7")  # another grammar without a message
    assert asked(client, False, thinking_token_budget=2, **shape) == ("7", "ab", 2)


def test_what_a_section_says_last_in_responses_and_messages(
    client: Client, engine: ScriptedEngine
) -> None:
    last = {"reasoning_budget_message": "!"}
    for path, body in (
        ("responses", {"input": "hello", "thinking_token_budget": 1}),
        (
            "messages",
            {
                "messages": [{"role": "user", "content": "hello"}],
                "max_tokens": 90,
                "thinking": {"type": "enabled", "budget_tokens": 1},
            },
        ),
    ):
        says(engine, "<think>a!</think>7")
        assert client.call("POST", f"/v1/{path}", json={**body, **last}).status_code == 200
        grammar = engine.requests[-1].grammar
        assert grammar is not None
        matcher = grammar.matcher()
        assert [matcher.accept(byte) for byte in b"<think>a?"] == [True] * 8 + [False]
        assert matcher.accept(ord("!"))


@pytest.mark.parametrize("message", ["So </think> it is", 5, "x" * 1_001])
def test_a_message_that_can_not_be_said_is_refused(client: Client, message: Any) -> None:
    fields = {"thinking_token_budget": 2, "reasoning_budget_message": message}
    error = client.chat(**fields).json()["error"]
    assert error["param"] == "reasoning_budget_message"


@pytest.mark.parametrize("budget", [0, 2])
@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/completions", {"prompt": [1]}),
        ("/v1/chat/completions", {"messages": CLOSED["messages"], "separate_reasoning": False}),
        (
            "/v1/chat/completions",
            {"messages": BEGUN["messages"], "grammar": 'start: "<think>"'},
        ),
    ],
)
def test_a_budget_for_no_reasoning_is_refused(
    client: Client, path: str, body: Any, budget: int
) -> None:
    asking = {"thinking_token_budget": budget, **body}
    error = client.call("POST", path, json=asking).json()["error"]
    assert error["param"] == "thinking_token_budget"
    assert error["code"] == "unsupported_parameter"
