"""The body of a request for an explanation."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright.errors import InputError
from maskwright.server.guarantees.explain_route import (
    SHOWN,
    AnswerToExplain,
    TextToExplain,
    parse_explain_request,
)
from maskwright.server.request.shape import FreeText, JsonShape, RegexShape

TOOL = {"type": "function", "function": {"name": "look"}}


def test_a_shape_and_a_text() -> None:
    read = parse_explain_request({"guided_json": {"type": "null"}, "text": "nu", "model": "m"})
    assert read == TextToExplain(
        JsonShape('{"type":"null"}', "guided_json"), None, "nu", None, SHOWN, None
    )


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
    assert (read.tokens, read.shown, read.additional_properties) == ((1, 2), 0, "allow")


def test_an_empty_text_is_a_text() -> None:
    read = parse_explain_request({"guided_regex": "a", "text": ""})
    assert read == TextToExplain(RegexShape("a", "guided_regex"), None, "", None, SHOWN, None)


def test_an_answer() -> None:
    assert parse_explain_request({"id": "x"}) == AnswerToExplain("x", 0)
    assert parse_explain_request({"id": "x", "choice": 3}) == AnswerToExplain("x", 3)


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
    assert not read.why
