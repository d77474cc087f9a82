"""The body of a request for an explanation."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright.errors import InputError
from maskwright.mask import JsonResponse, RegexResponse
from maskwright.server.guarantees.explain_route import (
    SHOWN,
    ExplainAnswerRequest,
    TextToExplain,
    parse_explain_request,
)
from maskwright.server.request.shape import ConstrainedShape, FreeText

TOOL = {"type": "function", "function": {"name": "look"}}


def test_a_shape_and_a_text() -> None:
    read = parse_explain_request({"guided_json": {"type": "null"}, "text": "nu", "model": "m"})
    assert isinstance(read, TextToExplain)
    assert (read.shape, read.tool_use) == (
        ConstrainedShape(JsonResponse('{"type":"null"}'), "guided_json"),
        None,
    )
    asked = read.request
    assert (asked.text, asked.tokens, asked.shown, asked.why) == ("nu", None, SHOWN, True)


def test_tokens_tools_and_options() -> None:
    read = parse_explain_request(
        {
            "tools": [TOOL],
            "tokens": [1, 2],
            "shown": 0,
            "maskwright": {"additional_properties": "allow"},
        }
    )
    assert isinstance(read, TextToExplain)
    assert isinstance(read.shape, FreeText)
    assert read.tool_use is not None
    asked = read.request
    assert (asked.tokens, asked.shown) == ((1, 2), 0)
    assert asked.maskwright.additional_properties == "allow"


def test_an_empty_text_is_a_text() -> None:
    read = parse_explain_request({"guided_regex": "a", "text": ""})
    assert isinstance(read, TextToExplain)
    assert read.shape == ConstrainedShape(RegexResponse("a"), "guided_regex")
    assert (read.request.text, read.request.tokens) == ("", None)


def test_an_answer() -> None:
    for body, choice in (({"id": "x"}, 0), ({"id": "x", "choice": 3}, 3)):
        read = parse_explain_request(body)
        assert isinstance(read, ExplainAnswerRequest)
        assert (read.id, read.choice) == ("x", choice)


@pytest.mark.parametrize(
    ("body", "param", "code"),
    [
        ({"text": "x"}, "response_format", "missing_required_parameter"),
        ({"text": "", "tools": [TOOL], "tool_choice": "none"}, "response_format", None),
        ({"guided_regex": "a"}, "text", "missing_required_parameter"),
        ({"guided_regex": "a", "text": "a", "tokens": [1]}, "tokens", None),
        ({"guided_regex": "a", "text": 3}, "text", None),
        ({"guided_regex": "a", "tokens": [1, "b"]}, "tokens[1]", None),
        ({"guided_regex": "a", "text": "a", "shown": -1}, "shown", None),
        ({"guided_regex": "a", "text": "a", "max_tokens": 3}, "max_tokens", "unknown_field"),
        (
            {"guided_regex": "a", "text": "a", "maskwright": {"trace": True}},
            "maskwright.trace",
            None,
        ),
        ({"id": "x", "text": "a"}, "text", "unknown_field"),
        ({"guided_regex": "a", "guided_json": {}, "text": ""}, "guided_regex", None),
    ],
)
def test_what_is_wrong_is_named(body: dict[str, Any], param: str, code: str | None) -> None:
    with pytest.raises(InputError) as caught:
        parse_explain_request(body)
    assert caught.value.param == param
    if code is not None:
        assert caught.value.code == code


def test_reasons_can_be_left_out() -> None:
    read = parse_explain_request({"guided_regex": "a", "text": "b", "why": False})
    assert isinstance(read, TextToExplain)
    assert not read.request.why
