"""The checks of mixed requests find what is wrong; their requests are of every kind."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.server.answers import streamed_answer, whole_answer
from benchmarks.server.mixed_cases import (
    CHAT,
    CHOICES,
    COMPLETIONS,
    GRAMMARS,
    KINDS,
    PATHS,
    PATTERNS,
    RESPONSES,
    Answer,
    MixedCase,
    mixed_case,
)

CASES = [mixed_case(seed) for seed in range(400)]


def text(text: str) -> Answer:
    return Answer(text, [], "stop")


def calls(*calls: tuple[str, str]) -> Answer:
    return Answer("", [*calls], "tool_calls")


def some(kind: str, **fields: object) -> MixedCase:
    """The first case of a kind whose body has these fields."""
    return next(
        case
        for case in CASES
        if case.kind == kind and all(case.body.get(name) == value for name, value in fields.items())
    )


def test_every_kind_comes_to_every_endpoint_that_has_it() -> None:
    found = {(case.kind, case.path) for case in CASES}
    textual = {(kind, path) for kind in KINDS for path in PATHS}
    assert found == textual - {("tools", COMPLETIONS), ("union", COMPLETIONS)}
    assert {case.body["stream"] for case in CASES} == {False, True}
    small = [case for case in CASES if case.body.get("max_tokens", 99) <= 12]
    assert 0.03 * len(CASES) < len(small) < 0.15 * len(CASES)
    assert mixed_case(7).body == mixed_case(7).body


CALL = ("add_item", '{"product": "lamp", "count": 3}')


@pytest.mark.parametrize(
    ("kind", "fields", "right", "wrong"),
    [
        ("tools", {"tool_choice": "auto"}, text("Hello"), calls(("add_item", "{}"))),
        ("tools", {"tool_choice": "required"}, calls(CALL), text("Hello")),
        ("tools", {"tool_choice": "required"}, calls(CALL), calls(("other", "{}"))),
        ("union", {}, text('{"name": "a", "warm": true}'), text('{"name": "a"}')),
        ("union", {}, calls(CALL), calls(("add_item", '{"product": 3}'))),
        ("tags", {}, text("so <f=stop>{}</f>."), text("so <f=stop>{")),
        ("tags", {}, text('<f=add_item>{"product": "a"}</f>'), text("no tag")),
    ],
)
def test_a_wrong_answer_is_found(
    kind: str, fields: dict[str, object], right: Answer, wrong: Answer
) -> None:
    case = some(kind, **fields)
    assert case.fault(right) is None
    assert case.fault(wrong)


RIGHT = {
    **dict(zip(PATTERNS, ("AB-1234", "05/2026", "so it is.", "yes, because so"), strict=True)),
    **dict(zip(GRAMMARS, ("1+(2+3)", "BEGIN a, b END", "a=1;b=none;"), strict=True)),
    **{str(choice): choice[1] for choice in CHOICES},
}


def test_a_wrong_text_is_found() -> None:
    for case in CASES:
        if case.kind not in ("regex", "grammar", "choice"):
            continue
        fields = str(case.body)
        [key] = [key for key in RIGHT if key in fields or repr(key)[1:-1] in fields]
        assert case.fault(text(RIGHT[key])) is None
        assert case.fault(text(RIGHT[key][:-1] + "!"))


def test_a_schema_is_checked() -> None:
    person = next(c for c in CASES if c.kind == "schema" and "'radius'" not in str(c.body))
    assert person.fault(text("{"))


def chat(delta: dict[str, object], end: str | None = None) -> dict[str, object]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": end}]}


def test_a_stream_adds_up() -> None:
    head = {"index": 0, "id": "c", "type": "function", "function": {"name": "f", "arguments": ""}}
    events = [
        chat({"role": "assistant", "content": ""}),
        chat({"tool_calls": [head]}),
        chat({"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]}),
        chat({}, "tool_calls"),
        {"choices": [], "usage": {}},
    ]
    assert streamed_answer(CHAT, events) == Answer("", [("f", "{}")], "tool_calls")


def test_a_response_whose_pieces_are_not_its_text_is_found() -> None:
    item = {"type": "message", "content": [{"type": "output_text", "text": "abc"}]}
    last: Any = {
        "type": "response.completed",
        "response": {"output": [item], "status": "completed"},
    }
    piece = {"type": "response.output_text.delta", "delta": "ab"}
    assert whole_answer(RESPONSES, last["response"]).text == "abc"
    with pytest.raises(RuntimeError, match="not its text"):
        streamed_answer(RESPONSES, [piece, last])
