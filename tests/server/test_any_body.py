"""Whatever JSON comes, the answer is a parsed request or an InputError that names a place."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from maskwright.errors import InputError
from maskwright.server.request.body import parse_object
from maskwright.server.request.completion_requests import ChatCompletionRequest
from maskwright.server.request.sampling_fields import NEUTRAL
from tests.server.scripted import ByteModel, Client, ScriptedEngine

WORDS = [
    *("role", "content", "type", "text", "user", "assistant", "tool", "tool_calls", "function"),
    *("arguments", "name", "json_schema", "json_object", "schema", "strict", "include_usage"),
    *("{}", "none", "auto", "0", "1", ""),
]
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(WORDS)
    | st.text(max_size=5)
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(WORDS) | st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=12,
)
MESSAGES = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["system", "user", "assistant", "tool"]) | VALUES},
        optional={"content": st.text(max_size=5) | VALUES, "tool_calls": VALUES},
    ),
    max_size=3,
)
FORMATS = st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "json_object", "json_schema"])},
    optional={"json_schema": VALUES, "schema": VALUES},
)
NAMES = sorted(ChatCompletionRequest.obeyed | NEUTRAL.keys())
BODIES = st.builds(
    lambda fields, messages, shape: {**fields, **messages, **shape},
    st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=3),
    st.fixed_dictionaries({}, optional={"messages": MESSAGES | VALUES}),
    st.fixed_dictionaries({}, optional={"response_format": FORMATS | VALUES}),
)


def refusal(read: Callable[[Any], object], sent: Any) -> InputError | None:
    """The error `read` ends with; any other kind of exception is a failure of the test."""
    try:
        read(sent)
    except InputError as error:
        return error
    return None


@given(BODIES)
@settings(max_examples=300, deadline=None)
def test_a_body_is_read_or_refused_with_its_place(body: dict[str, Any]) -> None:
    refused = refusal(ChatCompletionRequest.parse, parse_object(json.dumps(body).encode()))
    assert refused is None or (refused.param and refused.message)


@given(st.binary(max_size=60) | VALUES.map(lambda value: json.dumps(value).encode()))
@settings(max_examples=200, deadline=None)
def test_bytes_are_an_object_or_refused(data: bytes) -> None:
    refused = refusal(parse_object, data)
    assert refused is None or refused.code == "invalid_json"


@given(BODIES)
@settings(max_examples=60, deadline=None)
def test_no_body_makes_the_server_fail(body: dict[str, Any]) -> None:
    body.pop("n", None)
    response = Client(ScriptedEngine(ByteModel())).call("POST", "/v1/chat/completions", json=body)
    assert response.status_code in (200, 400)
    if response.status_code == 400:
        assert response.json()["error"].keys() == {"message", "type", "param", "code"}
        assert len(response.content) < 4000
