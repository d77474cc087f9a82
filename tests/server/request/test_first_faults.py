"""A body of megabytes that is wrong everywhere is refused at its first fault: each further one
would cost time under the interpreter's lock, and memory."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from maskwright.errors import InputError
from maskwright.server.request.model import RequestModel
from tests.server.openapi.test_request_schemas import REQUESTS, Parse


def models(model: type[RequestModel] = RequestModel) -> Iterator[type[RequestModel]]:
    for each in model.__subclasses__():
        if each.__module__.startswith("maskwright."):
            yield each
            yield from models(each)


def parts(schema: Any) -> Iterator[dict[str, Any]]:
    """All parts of what pydantic's core receives of a model."""
    if isinstance(schema, dict):
        if isinstance(schema.get("type"), str):
            yield schema
        for member in schema.values():
            yield from parts(member)
    if isinstance(schema, list | tuple):
        for item in schema:
            yield from parts(item)


@pytest.mark.parametrize("model", dict.fromkeys(models()), ids=lambda model: model.__name__)
def test_arrays_end_at_their_first_fault_and_objects_have_a_model(
    model: type[RequestModel],
) -> None:
    for part in parts(model.__pydantic_core_schema__):
        assert part["type"] not in ("dict", "list", "set")
        if part["type"] == "tuple":
            assert part["fail_fast"]


MANY = 300_000
WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("ChatCompletionRequest", {"logit_bias": {str(at): "a" for at in range(MANY)}}, "logit_bias.0"),
    ("ChatCompletionRequest", {"messages": [1] * MANY}, "messages[0]"),
    ("ChatCompletionRequest", {"stop_token_ids": ["a"] * MANY}, "stop_token_ids[0]"),
    ("ResponseRequest", {"metadata": {str(at): 1 for at in range(MANY)}}, "metadata"),
    ("ResponseRequest", {"input": [{"type": "message"}] * MANY}, "input[0].role"),
    ("CompletionRequest", {"prompt": [[None]] * MANY}, "prompt[0][0]"),
    ("AnthropicRequest", {"tools": [{}] * MANY}, "tools[0].name"),
]


@pytest.mark.parametrize(("name", "fields", "place"), WRONG, ids=lambda each: str(each)[:30])
def test_the_first_fault_is_named_at_once(name: str, fields: dict[str, Any], place: str) -> None:
    parse: Parse
    parse, least = REQUESTS[name]
    began = time.thread_time()
    with pytest.raises(InputError) as raised:
        parse({**least, **fields})
    assert raised.value.param == place
    assert time.thread_time() - began < 0.1
