"""What a client of each endpoint gets: an answer sent whole, or put together from a stream."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable
from typing import Any

import httpx

from benchmarks.server.mixed_cases import CHAT, RESPONSES, Answer


async def events_of(response: httpx.Response) -> AsyncIterator[dict[str, Any]]:
    """The events of a stream. One that says that the answer failed raises `RuntimeError`."""
    async for line in response.aiter_lines():
        if line.startswith("data: ") and line != "data: [DONE]":
            event = json.loads(line[6:])
            if event.get("error"):
                raise RuntimeError(f"the stream failed: {event['error']}")
            yield event


def whole_answer(path: str, body: dict[str, Any]) -> Answer:
    """The answer in a body that was sent whole."""
    if path == RESPONSES:
        items = body["output"]
        parts = [part["text"] for item in items for part in item.get("content") or []]
        calls = [(item["name"], item["arguments"]) for item in items if "call_id" in item]
        return Answer("".join(parts), calls, body["status"])
    [choice] = body["choices"]
    if path == CHAT:
        message = choice["message"]
        calls = [
            (call["function"]["name"], call["function"]["arguments"])
            for call in message.get("tool_calls") or []
        ]
        return Answer(message["content"] or "", calls, choice["finish_reason"])
    return Answer(choice["text"], [], choice["finish_reason"])


def streamed_answer(path: str, events: Iterable[dict[str, Any]]) -> Answer:
    """The answer that the pieces of a stream add up to, as clients add them."""
    if path == RESPONSES:
        return _streamed_response(list(events))
    text, end = "", None
    calls: dict[int, list[str]] = {}
    for event in events:
        for choice in event["choices"]:
            delta = choice["delta"] if path == CHAT else {"content": choice["text"]}
            text += delta.get("content") or ""
            end = choice["finish_reason"] or end
            for part in delta.get("tool_calls") or []:
                name, arguments = calls.setdefault(part["index"], ["", ""])
                function = part["function"]
                calls[part["index"]] = [
                    name + function.get("name", ""),
                    arguments + function.get("arguments", ""),
                ]
    return Answer(text, [(name, arguments) for name, arguments in calls.values()], end)


def _streamed_response(events: list[dict[str, Any]]) -> Answer:
    """Its pieces must add up to the whole response that ends the stream."""
    whole = whole_answer(RESPONSES, events[-1]["response"])
    text = "".join(e["delta"] for e in events if e["type"] == "response.output_text.delta")
    if text != whole.text:
        raise RuntimeError("the stream's pieces are not its text")
    given: dict[int, str] = {}
    for event in events:
        if event["type"] == "response.function_call_arguments.delta":
            place = event["output_index"]
            given[place] = given.get(place, "") + event["delta"]
    if [given[place] for place in sorted(given)] != [arguments for _, arguments in whole.calls]:
        raise RuntimeError("the stream's pieces are not its arguments")
    return whole
