"""Output items and the events that tell them."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright.server.answer.parts import ArgumentsText, CallBegun, Part, Reasoning, TextPart
from maskwright.server.answer.response_writer import OutputItems, Status

CALL = [CallBegun(0, "call_1", "f"), ArgumentsText(0, "{"), ArgumentsText(0, "}")]


def written(parts: list[Part], status: Status = "completed") -> tuple[list[Any], list[Any]]:
    """The events and the items of an answer."""
    items = OutputItems(str)
    events = [event for part in parts for event in items.add(part)]
    return [*events, *items.end(status)], items.bodies


def rebuilt(events: list[Any]) -> list[Any]:
    """The items as a client joins them that reads nothing but the increments."""
    items: list[Any] = []
    for event in events:
        kind, index = event["type"].removeprefix("response."), event.get("output_index")
        if kind == "output_item.added":
            assert index == len(items)
            assert event["item"]["status"] == "in_progress"
            items.append(event["item"])
            continue
        item = items[index]
        assert event.get("item_id", item["id"]) == item["id"]
        if kind == "content_part.added":
            item["content"].append(dict(event["part"]))
        elif kind.endswith(".delta"):
            where = item["content"][event["content_index"]] if "content" in item else item
            name = "text" if "content" in item else "arguments"
            where[name] += event["delta"]
        elif kind == "output_item.done":
            assert {**item, "status": event["item"]["status"]} == event["item"]
            items[index] = event["item"]
    return items


@pytest.mark.parametrize(
    ("parts", "kinds"),
    [
        ([], ["message"]),
        ([TextPart("a"), TextPart("b")], ["message"]),
        ([Reasoning("r"), TextPart("a")], ["reasoning", "message"]),
        (CALL, ["function_call"]),
        ([TextPart("a"), *CALL], ["message", "function_call"]),
        ([*CALL, CallBegun(1, "call_2", "g")], ["function_call", "function_call"]),
        ([*CALL, CallBegun(1, "call_2", "g", custom=True)], ["function_call", "custom_tool_call"]),
        ([*CALL, TextPart("a"), *CALL], ["function_call", "message", "function_call"]),
        ([Reasoning("r"), *CALL], ["reasoning", "function_call"]),
    ],
)
def test_the_increments_are_the_items(parts: list[Part], kinds: list[str]) -> None:
    events, items = written(parts)
    assert [item["type"] for item in items] == kinds
    assert rebuilt(events) == items
    assert len({item["id"] for item in items}) == len(items)


def test_the_items_hold_what_was_said() -> None:
    _, [reasoning, message, call] = written([Reasoning("r"), TextPart("a"), TextPart("b"), *CALL])
    assert (reasoning["summary"], reasoning["content"]) == (
        [],
        [{"type": "reasoning_text", "text": "r"}],
    )
    part = {"type": "output_text", "text": "ab", "annotations": [], "logprobs": []}
    assert (message["role"], message["content"]) == ("assistant", [part])
    assert (call["call_id"], call["name"], call["arguments"]) == ("call_1", "f", "{}")


def test_a_custom_tool_has_an_input() -> None:
    called = [CallBegun(0, "call_1", "f", custom=True), ArgumentsText(0, "x = 1", custom=True)]
    events, [item] = written([*called])
    assert [event["type"].removeprefix("response.") for event in events] == [
        "output_item.added",
        "custom_tool_call_input.delta",
        "custom_tool_call_input.done",
        "output_item.done",
    ]
    assert (item["type"], item["call_id"], item["name"], item["input"]) == (
        *("custom_tool_call", "call_1", "f", "x = 1"),
    )
    assert "arguments" not in item
    assert events[2]["input"] == "x = 1"


def test_only_the_last_item_is_incomplete() -> None:
    _, items = written([*CALL, TextPart("a")], "incomplete")
    assert [item["status"] for item in items] == ["completed", "incomplete"]


def test_log_probabilities_come_with_their_text() -> None:
    items = OutputItems(str)
    [*_, first] = items.add(TextPart("a", logprobs=[{"token": "a"}]))
    [second] = items.add(TextPart("b", logprobs=[{"token": "b"}]))
    [done, *_] = items.end("completed")
    assert (first["logprobs"], second["logprobs"]) == ([{"token": "a"}], [{"token": "b"}])
    assert done["logprobs"] == [{"token": "a"}, {"token": "b"}]
    assert items.bodies[0]["content"] == [
        {"type": "output_text", "text": "ab", "annotations": [], "logprobs": done["logprobs"]}
    ]
