"""The input of POST /v1/responses as the messages of a conversation."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from maskwright.errors import InputError
from maskwright.server.request.fields import Fields, invalid, missing, shown
from maskwright.server.request.messages import Message, ToolCall, named_call, parse_content

ROLES = ("system", "developer", "user", "assistant")
ITEMS = (
    "message",
    "reasoning",
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "custom_tool_call_output",
)


def parse_input(body: Fields) -> tuple[Message, ...]:
    """Read the fields `instructions`, which becomes the first message, and `input`: a string, or an
    array of items; without it the user has said nothing. What an assistant wrote in one turn
    (reasoning, text, calls) is one message."""
    messages: list[Message] = []
    instructions = body.string("instructions")
    if instructions is not None:
        messages.append(Message("system", instructions))
    match body.get("input"):
        case None:
            messages.append(Message("user", ""))
        case str(text):
            messages.append(Message("user", text))
        case []:
            raise InputError("input must hold at least one item", param="input")
        case list(items):
            for at, item in enumerate(cast(list[object], items)):
                _append(messages, _item(Fields.of(item, f"input[{at}]")))
        case other:
            raise invalid("input", "a string or an array of items", other)
    return tuple(messages)


def _item(item: Fields) -> Message:
    match item.string("type"):
        case None | "message":
            return _message(item)
        case "reasoning":
            return Message("assistant", "", reasoning=_reasoning(item))
        case "function_call":
            return _called(named_call(item, item.string("call_id")))
        case "custom_tool_call":
            call = named_call(
                Fields({"name": item.get("name")}, item.place), item.string("call_id")
            )
            return _called(replace(call, arguments={"input": item.string("input") or ""}))
        case "function_call_output" | "custom_tool_call_output":
            call_id = item.string("call_id")
            if call_id is None:
                raise missing(item.at("call_id"))
            output = parse_content(item, "output", "tool")
            return Message("tool", output.text, tool_call_id=call_id)
        case other:
            raise InputError(
                f"{item.at('type')} {shown(other)} is not supported; this server reads items of "
                f"the types {', '.join(ITEMS)}",
                param=item.at("type"),
                code="unsupported_content",
            )


def _message(item: Fields) -> Message:
    role = item.choice("role", ROLES)
    if role is None:
        raise missing(item.at("role"))
    content = parse_content(item, "content", role)
    return Message(role, content.text, reasoning=content.reasoning)


def _called(call: ToolCall) -> Message:
    return Message("assistant", "", tool_calls=(call,))


def _reasoning(item: Fields) -> str:
    """Return the text of a reasoning item, or else its summary."""
    for name in ("content", "summary"):
        parts = [Fields.of(part, place) for part, place in item.items(name) or ()]
        if parts:
            return "".join(part.string("text") or "" for part in parts)
    return ""


def _append(messages: list[Message], new: Message) -> None:
    """Append a message, or join it with the last one if both belong to one assistant's turn: only
    calls follow calls, and only one of the two has text."""
    last = messages[-1] if messages else None
    joins = (
        last is not None
        and last.role == new.role == "assistant"
        and not (new.content and (last.content or last.tool_calls))
        and not (new.reasoning and (last.content or last.tool_calls or last.reasoning))
    )
    if last is None or not joins:
        messages.append(new)
        return
    messages[-1] = replace(
        last,
        content=last.content + new.content,
        tool_calls=last.tool_calls + new.tool_calls,
        reasoning=last.reasoning + new.reasoning,
    )
