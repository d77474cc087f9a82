"""The conversation of a chat request, as clients send it, as a typed tree and in the form for chat
templates; and the variables of its template."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, TypeAlias

from msgspec import field
from pydantic import Field, WithJsonSchema
from typing_extensions import TypeAliasType

from maskwright.errors import InputError
from maskwright.immutable import Immutable
from maskwright.json_faults import object_in
from maskwright.server.json import Json
from maskwright.server.request.model import (
    Array,
    ByField,
    ByType,
    RawObject,
    RequestModel,
    described,
)


class ToolCall(Immutable):
    """A tool call in an earlier assistant message; `arguments` is the parsed JSON object."""

    id: str | None
    name: str
    arguments: dict[str, object]


class Message(Immutable):
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


# What a request sends


class TextContent(RequestModel):
    """A part of a message; two of its types belong to the responses protocol."""

    type: Literal["text", "input_text", "output_text"]
    text: str


class RefusalPart(RequestModel):
    type: Literal["refusal"]
    refusal: str


OF_PARTS: Final = ByField(
    "type",
    ": this server reads parts of type 'text' alone",
    code="unsupported_content",
    says_of_none=True,
)
Part: TypeAlias = Annotated[str | Annotated[TextContent, OF_PARTS], ByType("an object")]
_CONTENT: Final = ByType("a string or an array of text parts")
Content: TypeAlias = Annotated[str | Annotated[tuple[Part, ...], Array()], _CONTENT]


class ThinkingPart(RequestModel):
    """What an assistant thought."""

    type: Literal["thinking"]
    thinking: Content


SaidPart: TypeAlias = Annotated[
    str | Annotated[TextContent | RefusalPart | ThinkingPart, OF_PARTS], ByType("an object")
]
SaidContent: TypeAlias = Annotated[str | Annotated[tuple[SaidPart, ...], Array()], _CONTENT]
Arguments: TypeAlias = Annotated[
    str | RawObject, ByType("a string"), Field(description="A JSON object, or its text.")
]


class NamedCall(RequestModel):
    """A call of a function, with its arguments as JSON in a string, or as an object."""

    name: str
    arguments: Arguments = ""

    def call(self, id: str | None, place: str) -> ToolCall:
        return ToolCall(id, self.name, read_arguments(self.arguments, place))


class CustomCall(RequestModel):
    """A call of a custom tool, which to a model is a function of one string."""

    name: str
    input: str = ""

    def call(self, id: str | None) -> ToolCall:
        return ToolCall(id, self.name, {"input": self.input})


class FunctionCallBefore(RequestModel):
    """A call of a function in an earlier turn."""

    type: Literal["function"] | None = None
    function: NamedCall
    id: str | None = None

    def call(self, place: str) -> ToolCall:
        return self.function.call(self.id, f"{place}.function")


class CustomCallBefore(RequestModel):
    """A call of a custom tool in an earlier turn."""

    type: Literal["custom"]
    custom: CustomCall
    id: str | None = None

    def call(self, place: str) -> ToolCall:
        return self.custom.call(self.id)


CallBefore = TypeAliasType(
    "CallBefore",
    Annotated[FunctionCallBefore | CustomCallBefore, ByField("type", default="function")],
)


class PlainMessage(RequestModel):
    """A message of anybody but the assistant."""

    role: Literal["system", "developer", "user", "tool", "function"]
    content: Content
    name: str | None = None
    tool_call_id: str | None = None

    def message(self, place: str) -> Message:
        return Message(self.role, text_of(self.content), self.name, self.tool_call_id)


_ANY_TEXT: Final = WithJsonSchema({"description": "Reasoning, if it is a string."})


class AssistantMessage(RequestModel):
    """What an assistant said, thought and called in one turn."""

    role: Literal["assistant"]
    content: SaidContent | None = None
    refusal: str = ""
    name: str | None = None
    tool_call_id: str | None = None
    tool_calls: Annotated[tuple[CallBefore, ...], Array()] = ()
    function_call: NamedCall | None = described(None, "An older form for one call.")
    reasoning_content: Annotated[Any, _ANY_TEXT] = None
    reasoning: Annotated[Any, _ANY_TEXT] = None

    def message(self, place: str) -> Message:
        calls = [each.call(f"{place}.tool_calls[{at}]") for at, each in enumerate(self.tool_calls)]
        if self.function_call is not None:
            calls.append(self.function_call.call(None, f"{place}.function_call"))
        given = (self.reasoning_content, self.reasoning)
        thought = next((text for text in given if isinstance(text, str)), "")
        return Message(
            self.role,
            text_of(self.content, self.refusal),
            self.name,
            self.tool_call_id,
            tuple(calls),
            thought or thoughts_of(self.content),
        )


RequestMessage = TypeAliasType(
    "RequestMessage", Annotated[PlainMessage | AssistantMessage, ByField("role")]
)


def text_of(content: str | tuple[object, ...] | None, default: str = "") -> str:
    """Return what a message says. `default`: what it says without any content."""
    if content is None or isinstance(content, str):
        return default if content is None else content
    return "".join(map(_text, content))


def _text(part: object) -> str:
    match part:
        case str(text) | TextContent(text=text) | RefusalPart(refusal=text):
            return text
        case _:
            return ""


def thoughts_of(content: str | tuple[object, ...] | None) -> str:
    """Return the parts of a message that are reasoning."""
    parts = content if isinstance(content, tuple) else ()
    return "".join(text_of(part.thinking) for part in parts if isinstance(part, ThinkingPart))


def read_arguments(given: str | Json, place: str) -> Json:
    """Read the arguments of a call at `place`: a JSON object in a string, or an object, as clients
    of other servers send it; "" is sent for an empty one."""
    if isinstance(given, dict):
        return given
    value = object_in(given) if given else {}
    if value is None:
        raise InputError(
            f"{place}.arguments must be a JSON object in a string", param=f"{place}.arguments"
        )
    return value


class ChatPrompt(Immutable):
    """A conversation, which the model's chat template turns into a prompt.

    - `variables`: additional variables of the template.
    - `begins_answer`: the prompt ends with the beginning of an assistant's message.
    - `continues`: the answer continues the last message instead.
    """

    messages: tuple[Message, ...]
    variables: Mapping[str, object] = field(default_factory=dict[str, object])
    begins_answer: bool = True
    continues: bool = False


EFFORT_VARIABLES: Final = frozenset({"enable_thinking", "reasoning_effort", "thinking"})
"""Variables that say how much a model thinks before it answers, for templates."""
ABOUT_EFFORT: Final = (
    "Variables of the chat template, where it has them: `reasoning_effort`, `enable_thinking` and "
    "`thinking`, which `none` makes false."
)


class TemplateFields(RequestModel):
    """The fields with variables of the chat template."""

    chat_template_kwargs: RawObject = Field(
        default_factory=dict[str, Any], description="Variables of the chat template."
    )
    documents: Annotated[tuple[RawObject, ...], Array()] = described(
        (), "Documents for the chat template."
    )

    def variables(self, effort: str | None) -> Json:
        """Return the variables. `effort`: how much the client wants the model to think, which
        `chat_template_kwargs` say more exactly."""
        variables = {**_effort(effort), **self.chat_template_kwargs}
        if self.documents:
            variables["documents"] = list(self.documents)
        return variables


class PromptFields(TemplateFields):
    """The fields that make the prompt of a chat."""

    messages: Annotated[tuple[RequestMessage, ...], Array("must hold at least one message")]
    add_generation_prompt: bool = described(
        True, "The prompt ends with the beginning of an assistant's message."
    )
    continue_final_message: bool = described(False, "The answer continues the last message.")
    reasoning_effort: str | None = described(None, ABOUT_EFFORT)

    def prompt(self) -> ChatPrompt:
        """Return the prompt. Raises InputError with the dotted path of the wrong field."""
        begins = "add_generation_prompt" in self.model_fields_set and self.add_generation_prompt
        if self.continue_final_message and begins:
            raise InputError(
                "continue_final_message and add_generation_prompt exclude each other",
                param="continue_final_message",
            )
        return ChatPrompt(
            tuple(each.message(f"messages[{at}]") for at, each in enumerate(self.messages)),
            self.variables(self.reasoning_effort),
            begins_answer=self.add_generation_prompt,
            continues=self.continue_final_message,
        )


def _effort(effort: str | None) -> Json:
    """Return `EFFORT_VARIABLES`. Templates that only know whether a model thinks have one of two
    names for that."""
    if effort is None:
        return {}
    thinks = effort != "none"
    return {"reasoning_effort": effort, "enable_thinking": thinks, "thinking": thinks}
