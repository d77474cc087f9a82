"""The body of POST /v1/responses, and its input as the messages of a conversation, without what
needs a memory: each request holds its whole conversation.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final, Literal, cast

from msgspec.structs import replace
from pydantic import Field, WithJsonSchema
from typing_extensions import TypeAliasType

from maskwright.errors import InputError
from maskwright.server.json import Json
from maskwright.server.request.answer_request import AnswerRequest
from maskwright.server.request.messages import (
    ABOUT_EFFORT,
    ChatPrompt,
    Content,
    CustomCall,
    Message,
    NamedCall,
    SaidContent,
    TemplateFields,
    ToolCall,
    text_of,
    thoughts_of,
)
from maskwright.server.request.model import (
    Array,
    Between,
    ByField,
    ByType,
    ClosedModel,
    RawObject,
    RequestModel,
    Strings,
    Worded,
    described,
)
from maskwright.server.request.sampling_fields import (
    Alternatives,
    Limit,
    OpenAIRequest,
    ReasoningFields,
    first_limit,
)
from maskwright.server.request.shape import ResponseFormat
from maskwright.server.request.tool_use import ToolFields, present

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


LOGPROBS: Final = "message.output_text.logprobs"
"""The entry of `include` that asks for log-probabilities."""

_REFUSED: Final[Mapping[str, tuple[object, ...]]] = {
    "function_call": ("none", "auto"),
    "functions": ([],),
    "add_generation_prompt": (True,),
    "continue_final_message": (False,),
    "logprobs": (False,),
    "max_completion_tokens": (),
    "max_tokens": (),
    "messages": (),
    "n": (1,),
    "prompt": (),
    "prompt_logprobs": (),
    "reasoning_effort": (),
    "response_format": (),
    "return_token_ids": (False,),
    "return_tokens_as_token_ids": (False,),
}
"""Fields that are refused here, with the values without an effect."""

_WAYS_OUT: Final[Mapping[str, str]] = {
    "candidate_count": "send the request to /v1/chat/completions, with n",
    "context_management": "send the items that the model shall read",
    "generation_config": "send its settings in the body itself, and a schema as text.format",
    "json": "send text.format",
    "max_length": "send max_output_tokens",
    "n_predict": "send max_output_tokens",
    "num_predict": "send max_output_tokens",
    "num_return_sequences": "send the request to /v1/chat/completions, with n",
    "options": "send its settings in the body itself, and a schema as text.format",
    "output_config": "send text.format, and reasoning.effort",
    "system": "send instructions",
    "system_instruction": "send instructions",
    "system_prompt": "send instructions",
    "thinking": "send reasoning.effort, or chat_template_kwargs",
}
"""What to do instead, where it is something else than at other endpoints."""

ECHOED: Final[Mapping[str, object]] = {
    "instructions": None,
    "max_output_tokens": None,
    "max_tool_calls": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "temperature": 1.0,
    "tool_choice": "auto",
    "top_logprobs": 0,
    "top_p": 1.0,
    "truncation": "disabled",
}
"""Fields of the request that the response repeats, with their defaults."""


LABELS: Final = ("prompt_cache_key", "safety_identifier", "user")
"""Strings of the request that the response repeats where they are given."""

MOST_IDENTIFIER: Final = 64
"""Most characters of `safety_identifier`, as OpenAI bounds it."""

_UNNAMED: Final = "answer"
"""The name that the response gives to a schema without one: OpenAI's description demands one."""

_EFFORTS: Final = ("none", "minimal", "low", "medium", "high", "xhigh")
"""How much a model may be asked to think, as OpenAI's description allows it in a response, which
repeats it. A chat may ask for a level of the model's own, since no answer repeats it."""

Effort = Annotated[
    Literal["none", "minimal", "low", "medium", "high", "xhigh"],
    Worded(
        f"one of {', '.join(map(repr, _EFFORTS))}",
        "; a level that only the model's chat template has belongs into chat_template_kwargs",
    ),
]
Summary = Literal["auto", "concise", "detailed"]


class TextSettings(ClosedModel):
    """The form of the answer's text."""

    format: ResponseFormat | None = None
    verbosity: Literal["low", "medium", "high"] | None = described(None, "Without effect.")


class ReasoningSettings(RequestModel):
    """How the model thinks before it answers."""

    effort: Effort | None = described(None, ABOUT_EFFORT)
    summary: Summary | None = described(None, "Without effect.")
    generate_summary: Summary | None = described(None, "Without effect.")


class ResponseRequest(OpenAIRequest, ReasoningFields, TemplateFields, ToolFields):
    """A conversation in the responses protocol."""

    PLACE: ClassVar = "input"
    REFUSED: ClassVar = _REFUSED
    WAYS_OUT: ClassVar = _WAYS_OUT

    truncation: Literal["disabled", "auto"] | None = described(None, "Without effect.")
    text: TextSettings = TextSettings()
    max_tool_calls: Annotated[int, Between(0, sys.maxsize)] | None = described(
        None, "Without effect."
    )
    prompt_cache_key: str | None = described(None, "Without effect.")
    safety_identifier: str | None = described(None, "Without effect.", max_length=MOST_IDENTIFIER)
    reasoning: ReasoningSettings = ReasoningSettings()
    include: Annotated[tuple[str, ...], Strings(single=True)] = described(
        (), f"`{LOGPROBS}` asks for log-probabilities; others have no effect."
    )
    top_logprobs: Alternatives | None = described(
        None, "How many alternatives are listed for each token."
    )
    instructions: str | None = described(None, "The first message, with the role `system`.")
    input: (
        Annotated[
            str | Annotated[tuple[InputItem, ...], Array("must hold at least one item")],
            ByType("a string or an array of items"),
        ]
        | None
    ) = described(None, "A message of the user, or the whole conversation as items.")
    max_output_tokens: Limit | None = described(None, "The most tokens of the answer.")
    metadata: Annotated[
        RawObject, WithJsonSchema({"type": "object", "additionalProperties": {"type": "string"}})
    ] = Field(default_factory=dict[str, Any], description="Repeated in the response.")

    @classmethod
    def parse(cls, tree: Json) -> AnswerRequest:
        return replace(super().parse(tree), echoed=_echoed(tree))

    def answer(self) -> AnswerRequest:
        if not all(isinstance(value, str) for value in self.metadata.values()):
            raise InputError("metadata must be an object of strings", param="metadata")
        scored = LOGPROBS in self.include or self.top_logprobs
        alternatives = (self.top_logprobs or 0) if scored else None
        messages = conversation(self.instructions, self.input)
        return AnswerRequest(
            model=self.model,
            prompts=(ChatPrompt(messages, self.variables(self.reasoning.effort)),),
            place=self.PLACE,
            shape=self.shape_of(self.text.format, "text.format"),
            tool_use=self.tool_use(),
            limit=first_limit(max_output_tokens=self.max_output_tokens),
            options=self.options(alternatives, stop=self.stop, user=self.user),
            reply=self.reply(logprobs=alternatives is not None),
            first_place=None if self.instructions is None else "instructions",
        )


def _echoed(sent: Json) -> Json:
    """Return the settings that a response repeats, as they were sent."""
    settings: Json = {
        name: default if sent.get(name) is None else sent[name] for name, default in ECHOED.items()
    }
    text = present(sent.get("text"))
    settings["text"] = {**text, "format": _format(text.get("format"))}
    settings["tools"] = [_tool(present(tool)) for tool in cast(list[Json], sent.get("tools") or ())]
    settings["reasoning"] = {"effort": None, "summary": None, **present(sent.get("reasoning"))}
    for name in LABELS:
        if sent.get(name) is not None:
            settings[name] = sent[name]
    return settings


def _format(format: object) -> Json:
    """Return a format in OpenAI's spelling, in which a schema has a name."""
    if format is None:
        return {"type": "text"}
    sent = present(format)
    flat = _flat(sent, str(sent["type"]))
    return {"name": _UNNAMED, **flat} if flat["type"] == "json_schema" else flat


def _tool(tool: Json) -> Json:
    """Return a tool in OpenAI's spelling."""
    kind = str(tool.get("type", "function"))
    flat = _flat(tool, kind)
    if kind == "function":
        return {"parameters": None, "strict": False, **flat}
    format = present(flat.get("format"))
    return {**flat, "format": _flat(format, str(format["type"]))} if format else flat


def _flat(sent: Json, kind: str) -> Json:
    """Return a format or tool of this `kind`, which has been read already, in the spelling of
    responses: chat completions have an object under the name of the kind, whose fields are here
    beside the type."""
    inner = sent.get(kind)
    if not isinstance(inner, dict):
        return {**sent, "type": kind}
    rest = {name: value for name, value in sent.items() if name != kind}
    return {**rest, **present(inner), "type": kind}
