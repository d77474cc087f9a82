"""The body of POST /v1/messages, Anthropic's protocol, as the request of every endpoint.

What this protocol has of its own is here: `system`, content blocks, `input_schema`, the forms of
`tool_choice`, `thinking`, `stop_sequences` and `output_config`. The fields that every endpoint has
are obeyed here too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Final, Literal, Self, TypeAlias

from msgspec.structs import replace
from pydantic import WithJsonSchema
from typing_extensions import TypeAliasType

from maskwright.errors import InputError
from maskwright.server.json import Json
from maskwright.server.request.answer_request import AnswerRequest
from maskwright.server.request.messages import ChatPrompt, Message, TemplateFields, ToolCall
from maskwright.server.request.model import (
    Array,
    ByField,
    ByType,
    ClosedModel,
    RawObject,
    RequestModel,
    Strings,
    described,
    missing,
    shown,
)
from maskwright.server.request.sampling_fields import Limit, ReasoningFields, first_limit
from maskwright.server.request.shape import FormattedShapeFields, ResponseFormat, Shape
from maskwright.server.request.tool_use import ToolUse, read_tools

MOST_STOPS: Final = 32
"""Most strings of `stop_sequences`."""

_REFUSED: Final[Mapping[str, tuple[object, ...]]] = {
    "add_generation_prompt": (True,),
    "container": (),
    "context_management": ({"edits": []}, {}),
    "continue_final_message": (False,),
    "function_call": ("none", "auto"),
    "functions": ([],),
    "input": (),
    "instructions": (),
    "logprobs": (False,),
    "max_completion_tokens": (),
    "max_output_tokens": (),
    "mcp_servers": ([],),
    "n": (1,),
    "parallel_tool_calls": (True,),
    "prompt": (),
    "prompt_logprobs": (),
    "reasoning_effort": (),
    "return_token_ids": (False,),
    "return_tokens_as_token_ids": (False,),
    "stop": (),
    "stream_options": (),
    "top_logprobs": (0,),
    "user": (),
}
"""Fields that are refused here, with the values without an effect."""

_WAYS_OUT: Final[Mapping[str, str]] = {
    "container": "there is none here",
    "context_management": "send the messages that the model shall read",
    "input": "send messages",
    "instructions": "this endpoint calls it system",
    "max_completion_tokens": "this endpoint calls it max_tokens",
    "max_output_tokens": "this endpoint calls it max_tokens",
    "mcp_servers": "send the tools themselves",
    "parallel_tool_calls": "send tool_choice.disable_parallel_tool_use",
    "json": "send output_config.format",
    "prompt": "send messages",
    "reasoning_effort": "send output_config.effort",
    "stop": "this endpoint calls it stop_sequences",
    "stop_strings": "this endpoint calls it stop_sequences",
    "stop_words": "this endpoint calls it stop_sequences",
    "system_instruction": "this endpoint calls it system",
    "system_prompt": "this endpoint calls it system",
    "stream_options": "a stream tells its usage in any case",
    "user": "send metadata.user_id",
}
"""What to do instead."""

KEPT_THINKING: Final = {"type": "clear_thinking_20251015", "keep": "all"}
"""An edit of the context that changes nothing, which some clients always send."""

_SUPPORTED: Final = ByField(
    "type", " {shown} is not supported; this server reads {values} here", code="unsupported_content"
)


# The conversation


class AnthropicText(RequestModel):
    """A text."""

    type: Literal["text"]
    text: str

    def words(self) -> str:
        return self.text


class TextSource(RequestModel):
    """A plain text."""

    type: Literal["text"]
    data: str
    media_type: str | None = described(None, "Without effect: it is plain text.")


class TextDocument(RequestModel):
    """A document, which counts as a text after its title."""

    type: Literal["document"]
    source: Annotated[TextSource, _SUPPORTED]
    title: str = ""
    context: str = ""

    def words(self) -> str:
        return "\n".join([*(each for each in (self.title, self.context) if each), self.source.data])


TextBlock: TypeAlias = Annotated[AnthropicText | TextDocument, _SUPPORTED]
_TEXTS: Final = ByType("a string or an array of text blocks")
_BLOCKS: Final = ByType("a string or an array of blocks")
Texts: TypeAlias = Annotated[str | Annotated[tuple[TextBlock, ...], Array()], _BLOCKS]


class ToolResult(RequestModel):
    """What a tool has returned; without content if it has nothing to say."""

    type: Literal["tool_result"]
    tool_use_id: str
    content: Texts = ""
    is_error: bool = described(False, "Without effect: the content says it.")


class ThinkingBlock(RequestModel):
    """What the assistant thought."""

    type: Literal["thinking"]
    thinking: str = ""
    signature: Any = None


class ToolUseBlock(RequestModel):
    """A call."""

    type: Literal["tool_use"]
    name: str
    input: RawObject
    id: str | None = None


UserBlock: TypeAlias = Annotated[AnthropicText | TextDocument | ToolResult, _SUPPORTED]
AssistantBlock: TypeAlias = Annotated[
    AnthropicText | TextDocument | ThinkingBlock | ToolUseBlock, _SUPPORTED
]


class UserTurn(RequestModel):
    """A turn of the user."""

    role: Literal["user"]
    content: Annotated[str | Annotated[tuple[UserBlock, ...], Array()], _BLOCKS]

    def messages(self) -> Iterator[Message]:
        """Yield the messages of the turn: the results of tools are messages of their own, in the
        order of the blocks."""
        texts: list[str] = []
        blocks = (self.content,) if isinstance(self.content, str) else self.content
        for block in blocks:
            if not isinstance(block, ToolResult):
                texts.append(block if isinstance(block, str) else block.words())
                continue
            if texts:
                yield Message(self.role, "".join(texts))
                texts = []
            yield Message("tool", _joined(block.content), tool_call_id=block.tool_use_id)
        if texts or not blocks:
            yield Message(self.role, "".join(texts))


class AssistantTurn(RequestModel):
    """A turn of the assistant: its thoughts, its text and its calls."""

    role: Literal["assistant"]
    content: Annotated[str | Annotated[tuple[AssistantBlock, ...], Array()], _BLOCKS]

    def messages(self) -> Iterator[Message]:
        texts: list[str] = []
        thoughts: list[str] = []
        calls: list[ToolCall] = []
        for block in (self.content,) if isinstance(self.content, str) else self.content:
            match block:
                case ThinkingBlock():
                    thoughts.append(block.thinking)
                case ToolUseBlock():
                    calls.append(ToolCall(block.id, block.name, block.input))
                case str():
                    texts.append(block)
                case _:
                    texts.append(block.words())
        yield Message(
            self.role, "".join(texts), tool_calls=tuple(calls), reasoning="".join(thoughts)
        )


class SystemTurn(RequestModel):
    """What the system says in between."""

    role: Literal["system"]
    content: Texts

    def messages(self) -> Iterator[Message]:
        yield Message(self.role, _joined(self.content))


AnthropicMessage = TypeAliasType(
    "AnthropicMessage", Annotated[UserTurn | AssistantTurn | SystemTurn, ByField("role")]
)


def _joined(texts: str | Sequence[AnthropicText | TextDocument]) -> str:
    return texts if isinstance(texts, str) else "".join(block.words() for block in texts)


# Tools and settings


class AnthropicTool(ClosedModel):
    """A tool, whose arguments have a JSON Schema."""

    name: str
    description: str | None = None
    input_schema: RawObject
    type: Literal["custom"] | None = None
    strict: Any = None
    cache_control: Any = None
    input_examples: Any = None
    eager_input_streaming: Any = None
    defer_loading: Annotated[bool, WithJsonSchema({"const": False})] = False
    allowed_callers: Annotated[Any, WithJsonSchema({"const": ["direct"]})] = None

    def function(self, place: str) -> Json:
        """Return the tool in the form of chat completions."""
        if self.defer_loading:
            raise InputError(
                f"{place}.defer_loading: this server has no search for tools; send the tools that "
                "the model shall know",
                param=f"{place}.defer_loading",
                code="unsupported_parameter",
            )
        if self.allowed_callers not in (None, ["direct"]):
            raise InputError(
                f"{place}.allowed_callers: only the model itself calls tools here; leave it out",
                param=f"{place}.allowed_callers",
                code="unsupported_parameter",
            )
        function = {
            "name": self.name,
            "description": self.description,
            "parameters": self.input_schema,
            "input_examples": self.input_examples,
            "strict": self.strict,
        }
        return {
            "type": "function",
            "function": {name: value for name, value in function.items() if value is not None},
        }


SentTool: TypeAlias = Annotated[
    AnthropicTool,
    ByField(
        "type",
        " {shown} is not supported: this server has no tools of its own; send one with a name and "
        "an input_schema",
        code="unsupported_value",
        default="custom",
    ),
]


class AnyChoice(ClosedModel):
    """Whether there may or must be calls."""

    type: Literal["auto", "any", "none"]
    disable_parallel_tool_use: bool = described(False, "At most one call.")

    def choice(self) -> object:
        """Return the choice in the form of chat completions."""
        return "required" if self.type == "any" else self.type


class ToolNamed(ClosedModel):
    """The tool that has to be called."""

    type: Literal["tool"]
    name: str
    disable_parallel_tool_use: bool = described(False, "At most one call.")

    def choice(self) -> object:
        return {"type": "function", "function": {"name": self.name}}


class Thinking(ClosedModel):
    """Whether the model thinks, and for how long."""

    type: Literal["enabled", "disabled", "adaptive"] | None = None
    budget_tokens: Limit | None = described(None, "The most tokens of a reasoning section.")
    display: Any = None

    def budget(self) -> int | None:
        """Return the most tokens of a reasoning section; None for no bound."""
        if self.budget_tokens is not None and self.type is None:
            raise missing("thinking.type")
        if self.budget_tokens is not None and self.type != "enabled":
            raise InputError(
                "thinking.budget_tokens needs thinking of the type 'enabled', not "
                f"{shown(self.type)}",
                param="thinking.budget_tokens",
            )
        return self.budget_tokens

    def variables(self) -> Json:
        """Return the variables that say whether a model thinks, for templates."""
        if self.type is None:
            return {}
        thinks = self.type != "disabled"
        return {"enable_thinking": thinks, "thinking": thinks}


class OutputConfig(ClosedModel):
    """How much the model thinks, and the shape of the answer."""

    effort: Literal["low", "medium", "high", "xhigh", "max"] | None = described(
        None, "How much the model shall think."
    )
    format: ResponseFormat | None = None


class AnthropicMetadata(RequestModel):
    """About the request."""

    user_id: str = described("", "The user whose fair share counts.")


class AnthropicRequest(ReasoningFields, FormattedShapeFields, TemplateFields):
    """A conversation in Anthropic's protocol."""

    PLACE: ClassVar = "messages"
    REFUSED: ClassVar = _REFUSED
    WAYS_OUT: ClassVar = _WAYS_OUT

    output_config: OutputConfig = OutputConfig()
    output_format: ResponseFormat | None = described(
        None, "The older place of `output_config.format`."
    )
    thinking: Thinking = Thinking()
    stop_sequences: Annotated[tuple[str, ...], Strings(MOST_STOPS, single=True)] = described(
        (), "Strings that end the answer."
    )
    metadata: AnthropicMetadata = AnthropicMetadata()
    system: Annotated[str | Annotated[tuple[TextBlock, ...], Array()], _TEXTS] | None = described(
        None, "The first message."
    )
    messages: Annotated[tuple[AnthropicMessage, ...], Array("must hold at least one message")]
    tools: Annotated[tuple[SentTool, ...], Array()] = ()
    tool_choice: Annotated[AnyChoice | ToolNamed, ByField("type")] | None = None
    max_tokens: Limit | None = described(None, "The most tokens of the answer.")

    @classmethod
    def read(cls, tree: Json) -> Self:
        """Leave out the edits of the context that change nothing, which some clients always
        send."""
        if tree.get("context_management") == {"edits": [KEPT_THINKING]}:
            tree = {**tree, "context_management": None}
        return super().read(tree)

    def answer(self) -> AnswerRequest:
        options = self.options(None, stop=self.stop_sequences, user=self.metadata.user_id)
        budget = self.thinking.budget()
        if budget is not None:
            options = replace(options, thinking_tokens=budget, thinking_optional=True)
        return AnswerRequest(
            model=self.model,
            prompts=(self._prompt(),),
            place=self.PLACE,
            shape=self._shape(),
            tool_use=self._tools(),
            limit=first_limit(max_tokens=self.max_tokens),
            options=options,
            reply=self.reply(),
            first_place=None if self.system is None else "system",
        )

    def _shape(self) -> Shape:
        """Return the shape of the answer. The fields of other endpoints are read as there."""
        named = {
            "output_config.format": self.output_config.format,
            "output_format": self.output_format,
            "response_format": self.response_format,
        }
        given = [(place, format) for place, format in named.items() if format is not None]
        if not given:
            return self.shape_of(None, "")
        (first, expected), *others = given
        for place, format in others:
            if place == "response_format":
                raise InputError(
                    f"{first} and response_format exclude each other; send one",
                    param="response_format",
                    code="conflicting_constraints",
                )
            if format != expected:
                raise InputError(
                    f"{first} and {place} ask for different shapes; send one",
                    param=place,
                    code="conflicting_constraints",
                )
        return self.shape_of(expected, first)

    def _prompt(self) -> ChatPrompt:
        """Return the conversation. An answer continues an assistant's text at its end."""
        system = [] if self.system is None else [Message("system", _joined(self.system))]
        turns = [message for turn in self.messages for message in turn.messages()]
        last = turns[-1]
        continues = last.role == "assistant" and not last.tool_calls
        variables = {**self.thinking.variables(), **self.variables(self.output_config.effort)}
        messages = (*system, *turns)
        return ChatPrompt(messages, variables, begins_answer=not continues, continues=continues)

    def _tools(self) -> ToolUse | None:
        """Read the tools by means of the forms of chat completions. Errors, those that come later
        too, name the places of this protocol."""
        choice = self.tool_choice
        sent = [tool.function(f"tools[{at}]") for at, tool in enumerate(self.tools)]
        parallel = choice is None or not choice.disable_parallel_tool_use
        try:
            use = read_tools(sent, None if choice is None else choice.choice(), parallel=parallel)
        except InputError as error:
            error.message = _place(error.message)
            if error.param is not None:
                error.param = _place(error.param)
            raise
        return None if use is None else use.with_places(_place)


def _place(text: str) -> str:
    """Return a text with places in tools as this protocol names them."""
    return text.replace(".function.parameters", ".input_schema").replace(".function.", ".")
