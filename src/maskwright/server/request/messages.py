"""The conversation of a chat request, as a typed tree and in the form for chat templates."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from maskwright.errors import InputError
from maskwright.server.request.fields import Fields, invalid, missing

ROLES = ("system", "developer", "user", "assistant", "tool", "function")
TEXT_PARTS = ("text", "input_text", "output_text")
"""Types of parts with a `text`; the last two are those of the responses protocol."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call in an earlier assistant message; `arguments` is the parsed JSON object."""

    id: str | None
    name: str
    arguments: dict[str, object]


@dataclass(frozen=True, slots=True)
class Message:
    """One message. `content` is "" if the client sent none (an assistant that called tools).
    `reasoning`: what an assistant thought before it answered."""

    role: str
    content: str
    name: str | None = None
    tool_call_id: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    reasoning: str = ""

    def for_template(self) -> dict[str, Any]:
        """Return the message in the form for chat templates; `developer` is a newer name of
        `system`, `function` an older one of `tool`."""
        role = {"developer": "system", "function": "tool"}.get(self.role, self.role)
        turn: dict[str, Any] = {"role": role, "content": self.content}
        if self.reasoning:
            turn["reasoning_content"] = self.reasoning
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
    content = parse_content(fields, "content", role)
    return Message(
        role=role,
        content=content.text,
        name=fields.string("name"),
        tool_call_id=fields.string("tool_call_id"),
        tool_calls=_tool_calls(fields) if role == "assistant" else (),
        reasoning=(_reasoning(fields) or content.reasoning) if role == "assistant" else "",
    )


class Content(NamedTuple):
    """What a message says, and the reasoning that stands beside it."""

    text: str
    reasoning: str = ""


def parse_content(fields: Fields, name: str, role: str) -> Content:
    """Read the field `name` of a message of `role`: a string, or an array of strings and text
    parts. A part of an assistant's message may be reasoning."""
    match fields.get(name):
        case str(text):
            return Content(text)
        case list(parts):
            place = fields.at(name)
            read = [
                _part(part, f"{place}[{i}]", role)
                for i, part in enumerate(cast(list[object], parts))
            ]
            return Content(
                "".join(part.text for part in read), "".join(part.reasoning for part in read)
            )
        case None:
            if role == "assistant":
                return Content(fields.string("refusal") or "")
            raise missing(fields.at(name))
        case other:
            raise invalid(fields.at(name), "a string or an array of text parts", other)


def _part(given: object, place: str, role: str) -> Content:
    if isinstance(given, str):
        return Content(given)
    part = Fields.of(given, place)
    kind = part.string("type")
    if kind == "thinking" and role == "assistant":
        return Content("", parse_content(part, "thinking", "user").text)
    name = "refusal" if kind == "refusal" and role == "assistant" else "text"
    if kind not in (*TEXT_PARTS, name):
        raise InputError(
            f"{part.at('type')}: this server reads parts of type 'text' alone",
            param=part.at("type"),
            code="unsupported_content",
        )
    text = part.string(name)
    if text is None:
        raise missing(part.at(name))
    return Content(text)


def _reasoning(fields: Fields) -> str:
    """Read the reasoning of an assistant's message, under either of its two names; other values
    than text are without effect."""
    given = (fields.get(name) for name in ("reasoning_content", "reasoning"))
    return next((text for text in given if isinstance(text, str)), "")


def _tool_calls(fields: Fields) -> tuple[ToolCall, ...]:
    """Read the calls of an assistant's message; `function_call` is an older form for one call."""
    calls = [_tool_call(Fields.of(item, place)) for item, place in fields.items("tool_calls") or ()]
    function = fields.object("function_call")
    if function is not None:
        calls.append(named_call(function, None))
    return tuple(calls)


def _tool_call(call: Fields) -> ToolCall:
    if call.choice("type", ("function", "custom")) == "custom":
        return _custom_call(call)
    function = call.object("function")
    if function is None:
        raise missing(call.at("function"))
    return named_call(function, call.string("id"))


def _custom_call(call: Fields) -> ToolCall:
    """Read a call of a custom tool, which to a model is a function of one string."""
    custom = call.object("custom")
    if custom is None:
        raise missing(call.at("custom"))
    name = custom.string("name")
    if name is None:
        raise missing(custom.at("name"))
    return ToolCall(call.string("id"), name, {"input": custom.string("input") or ""})


def named_call(function: Fields, id: str | None) -> ToolCall:
    """Read the fields `name` and `arguments` of a call."""
    name = function.string("name")
    if name is None:
        raise missing(function.at("name"))
    return ToolCall(id=id, name=name, arguments=_arguments(function))


def _arguments(function: Fields) -> dict[str, object]:
    """Read a JSON object in a string, or an object, as clients of other servers send it; "" is
    sent for an empty one."""
    given = function.get("arguments")
    if isinstance(given, dict):
        return cast(dict[str, object], given)
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
