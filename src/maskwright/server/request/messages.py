"""The conversation of a chat request, as a typed tree and in the form for chat templates."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, cast

from maskwright.errors import InputError
from maskwright.server.request.fields import Fields, invalid, missing

ROLES = ("system", "developer", "user", "assistant", "tool")


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call in an earlier assistant message; `arguments` is the parsed JSON object."""

    id: str | None
    name: str
    arguments: dict[str, object]


@dataclass(frozen=True, slots=True)
class Message:
    """One message. `content` is "" if the client sent none (an assistant that called tools)."""

    role: str
    content: str
    name: str | None = None
    tool_call_id: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()

    def for_template(self) -> dict[str, Any]:
        """Return the message in the form for chat templates; `developer` is a newer name of
        `system`."""
        role = "system" if self.role == "developer" else self.role
        turn: dict[str, Any] = {"role": role, "content": self.content}
        if self.name is not None:
            turn["name"] = self.name
        if self.tool_call_id is not None:
            turn["tool_call_id"] = self.tool_call_id
        if self.tool_calls:
            turn["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": call.arguments},
                }
                for call in self.tool_calls
            ]
        return turn


def parse_messages(body: Fields) -> tuple[Message, ...]:
    """Read the field `messages`: at least one message, with roles in any order."""
    items = body.items("messages")
    if items is None:
        raise missing(body.at("messages"))
    if not items:
        raise InputError("messages must hold at least one message", param="messages")
    return tuple(_message(Fields.of(item, place)) for item, place in items)


def _message(fields: Fields) -> Message:
    role = fields.choice("role", ROLES)
    if role is None:
        raise missing(fields.at("role"))
    return Message(
        role=role,
        content=_content(fields, role),
        name=fields.string("name"),
        tool_call_id=fields.string("tool_call_id"),
        tool_calls=_tool_calls(fields) if role == "assistant" else (),
    )


def _content(fields: Fields, role: str) -> str:
    match fields.get("content"):
        case str(text):
            return text
        case list(parts):
            place = fields.at("content")
            return "".join(
                _part(Fields.of(part, f"{place}[{i}]"), role)
                for i, part in enumerate(cast(list[object], parts))
            )
        case None:
            if role == "assistant":
                return fields.string("refusal") or ""
            raise missing(fields.at("content"))
        case other:
            raise invalid(fields.at("content"), "a string or an array of text parts", other)


def _part(part: Fields, role: str) -> str:
    kind = part.string("type")
    name = "refusal" if kind == "refusal" and role == "assistant" else "text"
    if kind != name:
        raise InputError(
            f"{part.at('type')}: this server reads parts of type 'text' alone",
            param=part.at("type"),
            code="unsupported_content",
        )
    text = part.string(name)
    if text is None:
        raise missing(part.at(name))
    return text


def _tool_calls(fields: Fields) -> tuple[ToolCall, ...]:
    return tuple(
        _tool_call(Fields.of(item, place)) for item, place in fields.items("tool_calls") or ()
    )


def _tool_call(call: Fields) -> ToolCall:
    call.choice("type", ("function",))
    function = call.object("function")
    if function is None:
        raise missing(call.at("function"))
    name = function.string("name")
    if name is None:
        raise missing(function.at("name"))
    return ToolCall(id=call.string("id"), name=name, arguments=_arguments(function))


def _arguments(function: Fields) -> dict[str, object]:
    """Read a JSON object in a string; clients send "" for an empty one."""
    text = function.string("arguments")
    try:
        value: object = json.loads(text) if text else {}
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise InputError(
            f"{function.at('arguments')} must be a JSON object in a string",
            param=function.at("arguments"),
        )
    return cast(dict[str, object], value)
