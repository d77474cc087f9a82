"""The input of POST /v1/responses as the messages of a conversation."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Final, Literal

from typing_extensions import TypeAliasType

from maskwright.server.request.messages import (
    Content,
    CustomCall,
    Message,
    NamedCall,
    SaidContent,
    ToolCall,
    text_of,
    thoughts_of,
)
from maskwright.server.request.model import Array, ByField, RequestModel

ITEMS: Final = (
    "message",
    "reasoning",
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "custom_tool_call_output",
)


class InputMessage(RequestModel):
    """A message of anybody but the assistant."""

    type: Literal["message"] | None = None
    role: Literal["system", "developer", "user"]
    content: Content

    def message(self, place: str) -> Message:
        return Message(self.role, text_of(self.content))


class AssistantInput(RequestModel):
    """What the assistant said."""

    type: Literal["message"] | None = None
    role: Literal["assistant"]
    content: SaidContent | None = None
    refusal: str = ""

    def message(self, place: str) -> Message:
        said = text_of(self.content, self.refusal)
        return Message(self.role, said, reasoning=thoughts_of(self.content))


class ReasoningText(RequestModel):
    text: str = ""


class ReasoningItem(RequestModel):
    """What the assistant thought: its content, or else its summary."""

    type: Literal["reasoning"]
    content: Annotated[tuple[ReasoningText, ...], Array()] = ()
    summary: Annotated[tuple[ReasoningText, ...], Array()] = ()

    def message(self, place: str) -> Message:
        texts = (part.text for part in self.content or self.summary)
        return Message("assistant", "", reasoning="".join(texts))


class CallItem(NamedCall):
    """A call of a function."""

    type: Literal["function_call"]
    call_id: str | None = None

    def message(self, place: str) -> Message:
        return _called(self.call(self.call_id, place))


class CustomCallItem(CustomCall):
    """A call of a custom tool."""

    type: Literal["custom_tool_call"]
    call_id: str | None = None

    def message(self, place: str) -> Message:
        return _called(self.call(self.call_id))


class CallOutput(RequestModel):
    """What a tool has returned."""

    type: Literal["function_call_output", "custom_tool_call_output"]
    call_id: str
    output: Content

    def message(self, place: str) -> Message:
        return Message("tool", text_of(self.output), tool_call_id=self.call_id)


InputItem = TypeAliasType(
    "InputItem",
    Annotated[
        Annotated[InputMessage | AssistantInput, ByField("role")]
        | ReasoningItem
        | CallItem
        | CustomCallItem
        | CallOutput,
        ByField(
            "type",
            " {shown} is not supported; this server reads items of the types " + ", ".join(ITEMS),
            code="unsupported_content",
            default="message",
        ),
    ],
)


def conversation(
    instructions: str | None, sent: str | tuple[InputItem, ...] | None
) -> tuple[Message, ...]:
    """Return the messages of a request: `instructions` is the first one, and without `input` the
    user has said nothing. What an assistant wrote in one turn (reasoning, text, calls) is one
    message."""
    messages = [] if instructions is None else [Message("system", instructions)]
    if sent is None or isinstance(sent, str):
        return (*messages, Message("user", sent or ""))
    for at, item in enumerate(sent):
        _append(messages, item.message(f"input[{at}]"))
    return tuple(messages)


def _called(call: ToolCall) -> Message:
    return Message("assistant", "", tool_calls=(call,))


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
