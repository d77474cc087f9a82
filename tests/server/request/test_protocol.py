from __future__ import annotations

from typing import Any

import pytest

from maskwright.errors import InputError
from maskwright.server.request.answer_request import ReplyOptions, TokenLimit
from maskwright.server.request.completion_requests import ChatCompletionRequest
from maskwright.server.request.messages import ChatPrompt
from tests.server.scripted import HELLO, Client

USER = {"role": "user", "content": "hi"}

# Fields beside a good request -> the param of the error.
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"messages": None}, "messages"),
    ({"messages": []}, "messages"),
    ({"messages": "hi"}, "messages"),
    ({"messages": ["hi"]}, "messages[0]"),
    ({"messages": [USER, {"role": "user"}]}, "messages[1].content"),
    ({"messages": [{"content": "hi"}]}, "messages[0].role"),
    ({"messages": [{"role": "king", "content": "hi"}]}, "messages[0].role"),
    ({"messages": [{"role": 5, "content": "hi"}]}, "messages[0].role"),
    ({"messages": [{"role": "user", "content": 5}]}, "messages[0].content"),
    ({"messages": [{"role": "user", "content": {"text": "hi"}}]}, "messages[0].content"),
    ({"messages": [{"role": "user", "content": [5]}]}, "messages[0].content[0]"),
    (
        {"messages": [{"role": "user", "content": [{"type": "text"}]}]},
        "messages[0].content[0].text",
    ),
    (
        {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}]},
        "messages[0].content[0].type",
    ),
    (
        {"messages": [{"role": "user", "content": [{"type": "refusal", "refusal": "no"}]}]},
        "messages[0].content[0].type",
    ),
    (
        {"messages": [{"role": "assistant", "tool_calls": [{"id": "1"}]}]},
        "messages[0].tool_calls[0].function",
    ),
    (
        {
            "messages": [
                {
                    "role": "assistant",
                    "tool_calls": [{"function": {"name": "f", "arguments": "[1]"}}],
                }
            ]
        },
        "messages[0].tool_calls[0].function.arguments",
    ),
    ({"model": 5}, "model"),
    ({"temperature": -0.1}, "temperature"),
    ({"temperature": 100.1}, "temperature"),
    ({"temperature": "1"}, "temperature"),
    ({"temperature": True}, "temperature"),
    ({"temperature": 10**400}, "temperature"),
    ({"top_p": 1.5}, "top_p"),
    ({"top_k": 1.5}, "top_k"),
    ({"top_k": -2}, "top_k"),
    ({"min_p": 2}, "min_p"),
    ({"repetition_penalty": -1}, "repetition_penalty"),
    ({"presence_penalty": 3}, "presence_penalty"),
    ({"frequency_penalty": -3}, "frequency_penalty"),
    ({"max_tokens": 0}, "max_tokens"),
    ({"max_tokens": -1}, "max_tokens"),
    ({"max_tokens": "5"}, "max_tokens"),
    ({"max_tokens": 2.5}, "max_tokens"),
    ({"max_completion_tokens": 0}, "max_completion_tokens"),
    ({"max_completion_tokens": 5, "max_tokens": []}, "max_tokens"),
    ({"n": 0}, "n"),
    ({"n": 129}, "n"),
    ({"seed": 2**64}, "seed"),
    ({"seed": "1"}, "seed"),
    ({"stop": ""}, "stop"),
    ({"stop": ["a", ""]}, "stop"),
    ({"stop": ["a", "b", "c", "d", "e"]}, "stop"),
    ({"stop": ["a", 1]}, "stop[1]"),
    ({"stop": 7}, "stop"),
    ({"stream": "yes"}, "stream"),
    ({"stream_options": True}, "stream_options"),
    ({"stream_options": {"include_usage": 1}}, "stream_options.include_usage"),
    ({"logit_bias": {"foo": 0}}, "logit_bias"),
    ({"logit_bias": {"-1": 0}}, "logit_bias"),
    ({"logit_bias": {"5": 101}}, "logit_bias.5"),
    ({"logit_bias": {"5": None}}, "logit_bias.5"),
    ({"logit_bias": [5]}, "logit_bias"),
    ({"response_format": "json"}, "response_format"),
    ({"response_format": {}}, "response_format.type"),
    ({"response_format": {"type": "sound"}}, "response_format.type"),
    ({"response_format": {"type": "text", "schema": {}}}, "response_format.schema"),
    ({"response_format": {"type": "json_schema"}}, "response_format.json_schema"),
    ({"response_format": {"type": "json_schema", "json_schema": 5}}, "response_format.json_schema"),
    (
        {"response_format": {"type": "json_schema", "json_schema": {"shema": {}}}},
        "response_format.json_schema.shema",
    ),
    (
        {"response_format": {"type": "json_schema", "json_schema": {"schema": "{"}}},
        "response_format.json_schema.schema",
    ),
    (
        {"response_format": {"type": "json_schema", "json_schema": {"schema": {}, "strict": 1}}},
        "response_format.json_schema.strict",
    ),
    (
        {"response_format": {"type": "json_schema", "json_schema": {"schema": {}, "name": "a b"}}},
        "response_format.json_schema.name",
    ),
    (
        {"response_format": {"type": "json_schema", "json_schema": {"name": "a"}, "schema": {}}},
        "response_format.schema",
    ),
    # what would change the answer and isn't served
    ({"tool_choice": "required"}, "tool_choice"),
    ({"tool_choice": {"type": "function", "function": {"name": "f"}}}, "tool_choice.function.name"),
    ({"tools": [{"type": "function", "function": {}}]}, "tools[0].function.name"),
    ({"tools": "f"}, "tools"),
    ({"parallel_tool_calls": "yes"}, "parallel_tool_calls"),
    ({"guided_whitespace_pattern": " "}, "guided_whitespace_pattern"),
    ({"functions": [{"name": "f g"}]}, "functions[0].name"),
    ({"function_call": {"name": "f"}}, "function_call"),
    ({"logprobs": 3}, "logprobs"),
    ({"logprobs": True, "top_logprobs": 21}, "top_logprobs"),
    ({"maskwright": 1}, "maskwright"),
    ({"maskwright": {"logprob": "raw"}}, "maskwright.logprob"),
    ({"logprobs": True, "maskwright": {"logprobs": "own"}}, "maskwright.logprobs"),
    ({"maskwright": {"logprobs": "raw"}}, "maskwright.logprobs"),
    ({"top_logprobs": 2}, "top_logprobs"),
    ({"modalities": ["text", "audio"]}, "modalities"),
    # names nobody knows that look like a constraint
    ({"guided_jsn": {}}, "guided_jsn"),
    ({"responseFormat": {"type": "json_object"}}, "responseFormat"),
    ({"response_schema": {}}, "response_schema"),
    ({"format": "json"}, "format"),
    ({"json_mode": True}, "json_mode"),
]

ACCEPTED: list[dict[str, Any]] = [
    {},
    {"model": None},
    {"messages": [USER, USER]},
    {"messages": [{"role": role, "content": "x"} for role in ("system", "developer", "user")]},
    {"messages": [{"role": "user", "content": [{"type": "text", "text": "a"}], "extra": 1}]},
    {"messages": [USER, {"role": "assistant", "content": None, "refusal": "no"}, USER]},
    {
        "messages": [
            USER,
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {"id": "1", "type": "function", "function": {"name": "f", "arguments": ""}}
                ],
            },
            {"role": "tool", "tool_call_id": "1", "content": [{"type": "text", "text": "5"}]},
            {"role": "tool", "tool_call_id": "2", "content": "6"},
        ]
    },
    {"temperature": 0, "top_p": 0, "top_k": -1, "seed": -1, "n": 2},
    {"seed": 2**64 - 1},
    {"temperature": None, "top_p": None, "max_tokens": None, "stop": None, "stream": None},
    {"stop": "a"},
    {"stop": ["a", "b", "c", "d"]},
    {"stream_options": {"include_usage": True}},
    {"logit_bias": {"5": 3, "7": -100}},
    {"tools": [], "tool_choice": None, "functions": None},
    {"tools": [{"type": "function", "name": "f"}], "tool_choice": "none"},
    {"tools": []},
    {"guided_choice": ["a", "b"]},
    {"logprobs": True, "top_logprobs": 20, "maskwright": {"logprobs": "masked"}},
    {"maskwright": {}, "top_logprobs": 0},
    {"logprobs": False, "modalities": ["text"], "top_logprobs": None},
    {"user": "u", "metadata": {"a": "b"}, "store": True, "service_tier": "auto"},
    {
        "reasoning_effort": "low",
        "verbosity": "low",
        "prediction": None,
        "parallel_tool_calls": True,
    },
    {"something_new": 5},
    {"response_format": None},
    {"response_format": {"type": "text"}},
]


@pytest.mark.parametrize(("fields", "param"), REFUSED, ids=str)
def test_refused(fields: dict[str, Any], param: str) -> None:
    with pytest.raises(InputError) as caught:
        ChatCompletionRequest.parse({**HELLO, **fields})
    assert caught.value.param == param
    assert param.rpartition(".")[2].partition("[")[0] in caught.value.message
    assert caught.value.code


@pytest.mark.parametrize("fields", ACCEPTED, ids=str)
def test_accepted(fields: dict[str, Any]) -> None:
    ChatCompletionRequest.parse({**HELLO, **fields})


def test_defaults() -> None:
    request = ChatCompletionRequest.parse(HELLO)
    assert request.options.n == 1
    assert request.reply == ReplyOptions()
    assert (request.limit, request.options.stop) == (None, ())
    params = request.options.params
    assert (params.temperature, params.top_p) == (1.0, 1.0)
    assert params.seed is None


def test_max_completion_tokens_wins() -> None:
    both = ChatCompletionRequest.parse({**HELLO, "max_tokens": 5, "max_completion_tokens": 7})
    assert both.limit == TokenLimit(7, "max_completion_tokens")
    old = ChatCompletionRequest.parse({**HELLO, "max_tokens": 5})
    assert old.limit == TokenLimit(5, "max_tokens")


def test_every_field_of_sampling_is_handed_on() -> None:
    sent = {
        "temperature": 0.5,
        "top_k": 7,
        "top_p": 0.25,
        "min_p": 0.125,
        "repetition_penalty": 1.5,
        "presence_penalty": -0.5,
        "frequency_penalty": 0.75,
        "seed": 11,
    }
    params = ChatCompletionRequest.parse({**HELLO, **sent, "logit_bias": {"5": 3}}).options.params
    assert {name: getattr(params, name) for name in sent} == sent
    assert dict(params.logit_bias) == {5: 3.0}


def test_messages_reach_the_template_as_it_reads_them() -> None:
    request = ChatCompletionRequest.parse(
        {
            "messages": [
                {"role": "developer", "content": [{"type": "text", "text": t} for t in "ab"]},
                {"role": "assistant", "content": None, "tool_calls": [
                    {"id": "1", "type": "function",
                     "function": {"name": "f", "arguments": '{"x": 1}'}}
                ]},
                {"role": "tool", "tool_call_id": "1", "content": "5", "name": "f"},
            ]
        }
    )  # fmt: skip
    [prompt] = request.prompts
    assert isinstance(prompt, ChatPrompt)
    assert [message.for_template() for message in prompt.messages] == [
        {"role": "system", "content": "ab"},
        {"role": "assistant", "content": "", "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "f", "arguments": {"x": 1}}}
        ]},
        {"role": "tool", "content": "5", "tool_call_id": "1", "name": "f"},
    ]  # fmt: skip


def test_a_refusal_travels_in_openais_shape(client: Client) -> None:
    response = client.chat(temperature="hot")
    assert response.status_code == 400
    assert response.json() == {
        "error": {
            "message": 'temperature must be a number from 0 to 100, not "hot"',
            "type": "invalid_request_error",
            "param": "temperature",
            "code": "invalid_value",
        }
    }


@pytest.mark.parametrize(
    "fields",
    [
        {"temperature": "x" * 100_000},
        {"y" * 50_000 + "schema": 1},
        {"response_format": {"type": "z" * 100_000}},
        {"logit_bias": {"w" * 100_000: 1}},
    ],
    ids=lambda fields: next(iter(fields))[:10],
)
def test_errors_are_small_whatever_came(client: Client, fields: dict[str, Any]) -> None:
    response = client.chat(**fields)
    assert response.status_code == 400
    assert len(response.content) < 3000
