"""What the official `openai` package gets from POST /v1/responses and the shipped model."""

from __future__ import annotations

import json
from typing import Any, Literal

import httpx
import openai
import pytest
from pydantic import BaseModel, ConfigDict, Field

from tests.api.test_openai_client import MESSAGES, PERSON, check
from tests.pages.demo_server import Served

TEXT = "Anna Berg, 34, lives in Oslo."
FORMAT: Any = {"format": {"type": "json_schema", "name": "person", "schema": PERSON}}
WEATHER: Any = {
    "type": "function",
    "name": "get_weather",
    "description": "Returns the weather of a city.",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string", "maxLength": 20}},
        "required": ["city"],
        "additionalProperties": False,
    },
    "strict": True,
}


class Line(BaseModel):
    model_config = ConfigDict(extra="forbid")
    product: str = Field(max_length=20)
    status: Literal["open", "paid"]


def events_of(url: str, **fields: Any) -> list[dict[str, Any]]:
    """The events of a stream as they are sent, whose names must be those in their data."""
    with httpx.Client(timeout=60) as client:
        response = client.post(f"{url}/v1/responses", json={"stream": True, **fields})
    assert response.status_code == 200, response.text
    events: list[dict[str, Any]] = []
    for block in response.text.strip().split("\n\n"):
        name, data = block.split("\n")
        events.append(json.loads(data.removeprefix("data: ")))
        assert name == f"event: {events[-1]['type']}"
    return events


@pytest.mark.parametrize("temperature", [0, 1])
def test_a_schema_is_satisfied(client: openai.OpenAI, temperature: float) -> None:
    answer = client.responses.create(
        model="demo", input=TEXT, temperature=temperature, text=FORMAT, metadata={"a": "b"}
    )
    check(answer.output_text, PERSON)
    assert (answer.status, answer.incomplete_details, answer.error) == ("completed", None, None)
    assert (answer.model, answer.metadata, answer.temperature) == ("demo", {"a": "b"}, temperature)
    assert answer.usage is not None
    assert answer.usage.total_tokens == answer.usage.input_tokens + answer.usage.output_tokens


def test_both_endpoints_give_one_answer(client: openai.OpenAI) -> None:
    """The request reaches the model in one form, whichever endpoint was used."""
    asked: dict[str, Any] = {"model": "demo", "temperature": 1, "extra_body": {"seed": 5}}
    response = client.responses.create(input=TEXT, text=FORMAT, **asked)
    shape: Any = {"type": "json_schema", "json_schema": {"name": "person", "schema": PERSON}}
    chat = client.chat.completions.create(messages=MESSAGES, response_format=shape, **asked)
    assert response.output_text == chat.choices[0].message.content
    assert response.usage is not None
    assert chat.usage is not None
    assert response.usage.input_tokens == chat.usage.prompt_tokens
    assert response.usage.output_tokens == chat.usage.completion_tokens


def test_parse_with_a_pydantic_class(client: openai.OpenAI) -> None:
    answer = client.responses.parse(model="demo", input="Ines paid for a lamp.", text_format=Line)
    assert isinstance(answer.output_parsed, Line)


def test_the_clients_own_stream_helper(client: openai.OpenAI) -> None:
    with client.responses.stream(model="demo", input="A lamp, paid.", text_format=Line) as stream:
        kinds = [event.type for event in stream]
        final = stream.get_final_response()
    assert isinstance(final.output_parsed, Line)
    assert kinds[0] == "response.created"
    assert kinds[-1] == "response.completed"


def test_a_stream_has_all_its_events_in_order(served: Served) -> None:
    asked: dict[str, Any] = {"input": TEXT, "text": FORMAT, "seed": 3}
    events = events_of(served.url, **asked)
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    kinds = [event["type"].removeprefix("response.") for event in events]
    deltas = kinds.count("output_text.delta")
    assert deltas > 1
    assert kinds == [
        *("created", "in_progress", "output_item.added", "content_part.added"),
        *(["output_text.delta"] * deltas),
        *("output_text.done", "content_part.done", "output_item.done", "completed"),
    ]
    text = "".join(e["delta"] for e in events if e["type"] == "response.output_text.delta")
    check(text, PERSON)
    last = events[-1]["response"]
    assert last["output"] == [events[-2]["item"]]
    assert last["output"][0]["content"][0]["text"] == events[-4]["text"] == text
    whole = httpx.post(f"{served.url}/v1/responses", json=asked, timeout=60).json()
    for body in (last, whole):
        for volatile in ("id", "created_at"):
            body.pop(volatile)
        body["output"][0].pop("id")
        body["usage"].pop("input_tokens_details")
    assert last == whole


def test_a_forced_function(client: openai.OpenAI) -> None:
    choices: list[Any] = ["required", {"type": "function", "name": "get_weather"}]
    for choice in choices:
        answer = client.responses.create(
            model="demo", input="Weather in Oslo?", tools=[WEATHER], tool_choice=choice, text=FORMAT
        )
        call = answer.output[0]
        assert call.type == "function_call"
        assert call.name == "get_weather"
        assert call.call_id.startswith("call_")
        check(call.arguments, WEATHER["parameters"])
        assert answer.output_text == ""


def test_a_streamed_function(served: Served, client: openai.OpenAI) -> None:
    asked: dict[str, Any] = {
        "input": "Weather in Oslo?",
        "tools": [WEATHER],
        "tool_choice": "required",
        "parallel_tool_calls": False,
    }
    events = events_of(served.url, **asked)
    kinds = [event["type"].removeprefix("response.") for event in events]
    deltas = kinds.count("function_call_arguments.delta")
    assert kinds == [
        *("created", "in_progress", "output_item.added"),
        *(["function_call_arguments.delta"] * deltas),
        *("function_call_arguments.done", "output_item.done", "completed"),
    ]
    arguments = "".join(event.get("delta", "") for event in events)
    check(arguments, WEATHER["parameters"])
    item = events[-2]["item"]
    assert (item["arguments"], item["status"]) == (arguments, "completed")
    assert events[-1]["response"]["output"] == [item]


@pytest.mark.parametrize("stream", [False, True])
def test_a_custom_tool(served: Served, stream: bool) -> None:
    grammar = {"type": "grammar", "syntax": "regex", "definition": "[a-c]{2,5}"}
    fields: dict[str, Any] = {
        "input": "Write letters.",
        "tools": [{"type": "custom", "name": "letters", "format": grammar}],
        "tool_choice": "required",
        "parallel_tool_calls": False,
    }
    if stream:
        body = events_of(served.url, **fields)[-1]["response"]
    else:
        body = httpx.post(f"{served.url}/v1/responses", json=fields, timeout=60).json()
    [item] = body["output"]
    assert (item["type"], item["name"]) == ("custom_tool_call", "letters")
    assert 2 <= len(item["input"]) <= 5
    assert set(item["input"]) <= set("abc")
    assert body["tools"] == fields["tools"]


def test_a_conversation_with_calls_and_reasoning_goes_on(client: openai.OpenAI) -> None:
    answer = client.responses.create(
        model="demo",
        instructions="Answer in JSON.",
        input=[
            {"role": "user", "content": [{"type": "input_text", "text": "Weather in Oslo?"}]},
            {"type": "reasoning", "id": "rs_1", "summary": []},
            {
                "type": "function_call",
                "call_id": "call_1",
                "name": "get_weather",
                "arguments": '{"city": "Oslo"}',
            },
            {"type": "function_call_output", "call_id": "call_1", "output": "rain"},
        ],
        tools=[WEATHER],
        tool_choice="none",
        text=FORMAT,
        include=["reasoning.encrypted_content"],
        store=False,
    )
    check(answer.output_text, PERSON)
    assert answer.instructions == "Answer in JSON."


@pytest.mark.parametrize("stream", [False, True])
def test_too_few_tokens_are_an_incomplete_response(served: Served, stream: bool) -> None:
    fields: dict[str, Any] = {"input": "Tell me a long story.", "max_output_tokens": 2}
    if stream:
        *_, done, last = events_of(served.url, **fields)
        assert last["type"] == "response.incomplete"
        assert done["item"]["status"] == "incomplete"
        body = last["response"]
    else:
        body = httpx.post(f"{served.url}/v1/responses", json=fields, timeout=60).json()
    if body["usage"]["output_tokens"] == 2:
        assert body["status"] == "incomplete"
        assert body["incomplete_details"] == {"reason": "max_output_tokens"}
        assert body["output"][0]["status"] == "incomplete"


def test_log_probabilities(client: openai.OpenAI) -> None:
    answer = client.responses.create(
        model="demo",
        input=TEXT,
        text=FORMAT,
        include=["message.output_text.logprobs"],
        top_logprobs=2,
    )
    [item] = answer.output
    assert item.type == "message"
    [part] = item.content
    assert part.type == "output_text"
    assert part.logprobs is not None
    assert bytes(b for entry in part.logprobs for b in entry.bytes) == part.text.encode()
    assert {len(entry.top_logprobs) for entry in part.logprobs} == {2}


REFUSED: list[tuple[dict[str, Any], str, str]] = [
    ({"previous_response_id": "resp_1"}, "previous_response_id", "nothing is stored"),
    ({"conversation": "conv_1"}, "conversation", "nothing is stored"),
    ({"background": True}, "background", "wait for the answer"),
    ({"input": []}, "input", "at least one"),
    ({"input": 5}, "input", "array"),
    ({"input": [{"type": "item_reference", "id": "x"}]}, "input[0].type", "item_reference"),
    ({"text": {"format": {"type": "sound"}}}, "text.format.type", "sound"),
    (
        {"text": {"format": {"type": "json_schema", "name": "a", "schema": {"type": "str"}}}},
        "text.format.schema",
        "/type",
    ),
    ({"text": {"formats": {}}}, "text.formats", "unknown"),
    ({"tools": [{"type": "web_search"}]}, "tools[0].type", "web_search"),
    ({"max_tokens": 5}, "max_tokens", "max_output_tokens"),
    ({"response_format": {"type": "json_object"}}, "response_format", "text.format"),
    ({"n": 2}, "n", "not supported"),
    ({"temperature": 101}, "temperature", "from 0 to 100"),
    ({"input": "x" * 40_000}, "input", "context"),
]


@pytest.mark.parametrize(("fields", "param", "message"), REFUSED, ids=lambda value: str(value)[:40])
@pytest.mark.parametrize("stream", [False, True])
def test_refusals_name_the_place(
    client: openai.OpenAI, fields: dict[str, Any], param: str, message: str, stream: bool
) -> None:
    asked: dict[str, Any] = {"model": "demo", "input": TEXT, "stream": stream}
    with pytest.raises(openai.BadRequestError) as caught:
        client.responses.create(**asked, extra_body=fields)
    assert caught.value.param == param
    assert message in str(caught.value.message)
