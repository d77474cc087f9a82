"""Several answers to one request: each has its own end, whatever the others do."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from maskwright.engine import Delta, FinishReason, Generation
from maskwright.errors import LimitError
from maskwright.server import ServerConfig
from maskwright.server.answer.choices import Choices
from maskwright.server.answer.parts import TextPart
from maskwright.server.errors import HttpError
from tests.server.scripted import Client, Script, ScriptedEngine
from tests.server.test_tools import CALLS, TOOLS

CALLING = Script([CALLS["hermes"]], spelled=True)
CUT_OFF = Script([CALLS["hermes"]], spelled=True, end="length")
SPEAKING = Script(["It is ", "late"], spelled=True)
COMPLETE = Script(["It is late"], spelled=True, end="grammar_complete")
STOPPED = Script(["It is late"], spelled=True, end="stop_string")

ENDS: list[tuple[list[Script], list[str]]] = [
    ([SPEAKING, CALLING], ["stop", "tool_calls"]),
    ([CALLING, SPEAKING], ["tool_calls", "stop"]),
    ([SPEAKING, SPEAKING, CALLING], ["stop", "stop", "tool_calls"]),
    ([CALLING, CUT_OFF], ["tool_calls", "length"]),
    ([COMPLETE, STOPPED, CUT_OFF, CALLING], ["stop", "stop", "length", "tool_calls"]),
]


@pytest.fixture
def client(client: Client) -> Client:
    client.config = ServerConfig(tool_format="hermes")
    return client


@pytest.mark.parametrize(("scripts", "reasons"), ENDS)
def test_each_choice_ends_as_it_does(
    client: Client, engine: ScriptedEngine, scripts: list[Script], reasons: list[str]
) -> None:
    engine.scripts = scripts
    choices = client.chat(tools=TOOLS, n=len(scripts)).json()["choices"]
    assert [choice["finish_reason"] for choice in choices] == reasons
    called = [len(choice["message"].get("tool_calls", ())) for choice in choices]
    assert called == [2 if script in (CALLING, CUT_OFF) else 0 for script in scripts]


@pytest.mark.parametrize(("scripts", "reasons"), ENDS)
def test_each_choice_of_a_stream_ends_as_it_does(
    client: Client, engine: ScriptedEngine, scripts: list[Script], reasons: list[str]
) -> None:
    engine.scripts = scripts
    ended: dict[int, list[str]] = {}
    for event in client.events(tools=TOOLS, n=len(scripts))[:-1]:
        [choice] = event["choices"]
        if choice["finish_reason"] is not None:
            ended.setdefault(choice["index"], []).append(choice["finish_reason"])
    assert ended == {index: [reason] for index, reason in enumerate(reasons)}


@pytest.mark.parametrize("stream", [False, True])
def test_an_answer_whose_time_is_up_is_a_failure(
    client: Client, engine: ScriptedEngine, stream: bool
) -> None:
    """Of the whole request: a part of an answer is no answer."""
    engine.scripts = [SPEAKING, Script(["It"], spelled=True, end="timeout")]
    if stream:
        error: dict[str, Any] = client.events(n=2)[-1]["error"]
    else:
        response = client.chat(n=2)
        assert response.status_code == 504
        error = response.json()["error"]
    assert error["code"] == "timeout"
    assert not engine.running


def test_a_stream_whose_time_is_up_has_all_of_its_text() -> None:
    """Also what came together with the end."""

    texts: list[str] = []

    async def read() -> None:
        one = Generation(1, 0, 1, lambda _: None)
        one.publish(Delta("It is ", (1,)))
        one.publish(Delta("late", (2,), FinishReason.TIMEOUT))
        async for delta in Choices([one], [[1]]).deltas(60):
            assert delta is not None
            assert delta.finish_reason is None
            texts.extend(part.text for part in delta.parts if isinstance(part, TextPart))

    with pytest.raises(HttpError, match="not complete when its time was up"):
        asyncio.run(read())
    assert texts == ["It is late"]


SCHEMA = {"type": "json_schema", "json_schema": {"schema": {"type": "object"}}}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("shape", "param"),
    [
        ({"response_format": SCHEMA}, "response_format.json_schema.schema"),
        ({"guided_regex": "a"}, "guided_regex"),
        ({"tools": TOOLS}, "tools"),
    ],
)
def test_a_limit_met_within_an_answer_names_the_field_of_its_shape(
    client: Client, engine: ScriptedEngine, shape: dict[str, Any], param: str, stream: bool
) -> None:
    met = LimitError("too much", limit="work", value=7)
    engine.script = Script(texts=(), end="error", error=met)
    if stream:
        error: dict[str, Any] = client.events(**shape)[-1]["error"]
    else:
        response = client.chat(**shape)
        assert response.status_code == 400
        error = response.json()["error"]
    assert (error["code"], error["param"]) == ("limit_exceeded", param)
    assert error["message"] == met.message


@pytest.mark.parametrize("stop", ["\n", 7, None])
def test_what_stopped_an_answer(
    client: Client, engine: ScriptedEngine, stop: str | int | None
) -> None:
    engine.script = Script(["It"], end="stop_string", stop=stop)
    [choice] = client.chat().json()["choices"]
    assert choice["stop_reason"] == stop
    choices = [event["choices"][0] for event in client.events()[:-1]]
    assert [one.get("stop_reason", "absent") for one in choices] == ["absent", "absent", stop]
    asked = {"prompt": [1]}
    [choice] = client.call("POST", "/v1/completions", json=asked).json()["choices"]
    assert choice["stop_reason"] == stop
