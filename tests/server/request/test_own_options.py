"""The field `maskwright` of a request."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright.errors import InputError
from maskwright.server.request.answer_request import OwnOptions
from maskwright.server.request.completion_requests import ChatCompletionRequest
from tests.server.scripted import HELLO


def parsed(own: Any, **beside: Any) -> OwnOptions:
    return ChatCompletionRequest.parse({**HELLO, "maskwright": own, **beside}).options.own


READ: list[tuple[Any, dict[str, Any], OwnOptions]] = [
    (None, {}, OwnOptions()),
    ({}, {}, OwnOptions(logprobs="raw", trace=False, service=None, timeout=None)),
    ({"logprobs": "masked"}, {"logprobs": True}, OwnOptions(logprobs="masked")),
    ({"logprobs": "raw"}, {"logprobs": True}, OwnOptions()),
    ({"logprobs": None}, {}, OwnOptions()),
    ({"trace": True}, {}, OwnOptions(trace=True)),
    ({"trace": False}, {}, OwnOptions()),
    ({"trace": None}, {}, OwnOptions()),
    ({"trace": "tokens"}, {}, OwnOptions(trace="tokens")),
    ({"service": "batch"}, {}, OwnOptions(service="batch")),
    ({"additional_properties": "allow"}, {}, OwnOptions(additional_properties="allow")),
    ({"numbers": "any"}, {}, OwnOptions(numbers="any")),
    ({"numbers": "plain"}, {}, OwnOptions(numbers="plain")),
    ({"unusable_tools": "omit"}, {}, OwnOptions(unusable_tools="omit")),
    ({"unusable_tools": "refuse"}, {}, OwnOptions()),
    ({"unusable_tools": None}, {}, OwnOptions()),
    ({"timeout": 2}, {}, OwnOptions(timeout=2.0)),
    ({"timeout": 0.5, "service": None}, {}, OwnOptions(timeout=0.5)),
]


@pytest.mark.parametrize(("own", "beside", "options"), READ, ids=str)
def test_options(own: Any, beside: dict[str, Any], options: OwnOptions) -> None:
    assert parsed(own, **beside) == options


REFUSED: list[tuple[Any, dict[str, Any], str]] = [
    ("trace", {}, "maskwright"),
    ([], {}, "maskwright"),
    ({"tracing": True}, {}, "maskwright.tracing"),
    ({"logprobs": "log"}, {"logprobs": True}, "maskwright.logprobs"),
    ({"logprobs": "raw"}, {}, "maskwright.logprobs"),  # none are returned
    ({"logprobs": "masked"}, {"logprobs": False}, "maskwright.logprobs"),
    ({"trace": "token"}, {}, "maskwright.trace"),
    ({"trace": 1}, {}, "maskwright.trace"),
    ({"service": 1}, {}, "maskwright.service"),
    ({"additional_properties": True}, {}, "maskwright.additional_properties"),
    ({"numbers": "short"}, {}, "maskwright.numbers"),
    ({"unusable_tools": True}, {}, "maskwright.unusable_tools"),
    ({"timeout": 0}, {}, "maskwright.timeout"),
    ({"timeout": -1}, {}, "maskwright.timeout"),
    ({"timeout": "1"}, {}, "maskwright.timeout"),
    ({"timeout": True}, {}, "maskwright.timeout"),
    ({"timeout": 10**400}, {}, "maskwright.timeout"),
    ({"timeout": float("nan")}, {}, "maskwright.timeout"),
]


@pytest.mark.parametrize(("own", "beside", "param"), REFUSED, ids=lambda each: str(each)[:40])
def test_refusals(own: Any, beside: dict[str, Any], param: str) -> None:
    with pytest.raises(InputError) as raised:
        parsed(own, **beside)
    assert raised.value.param == param


def test_without_the_field_there_are_the_defaults() -> None:
    assert ChatCompletionRequest.parse(HELLO).options.own == OwnOptions()
