"""Reads the body of POST /v1/messages, Anthropic's protocol, into the request of every endpoint.

What this protocol has of its own is read here: `system`, content blocks, `input_schema`, the forms
of `tool_choice`, `thinking`, `stop_sequences` and `output_config`. The fields that every endpoint
has are obeyed here too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from maskwright.errors import InputError
from maskwright.server.json import Json
from maskwright.server.request.answer_request import AnswerRequest, ChatPrompt
from maskwright.server.request.chat_prompt import template_variables
from maskwright.server.request.fields import Fields, invalid, missing, shown
from maskwright.server.request.messages import Message, ToolCall
from maskwright.server.request.refusals import refuse_unsupported
from maskwright.server.request.sampling_fields import (
    MAX_TOKENS,
    SAMPLING_FIELDS,
    read_limit,
    read_options,
    read_reply,
    read_stop,
)
from maskwright.server.request.shape import FIELDS, Shape, parse_shape
from maskwright.server.request.tool_use import ToolUse, parse_tool_use

ROLES: Final = ("user", "assistant", "system")
CHOICES: Final = ("auto", "any", "tool", "none")
THINKING: Final = ("enabled", "disabled", "adaptive")
EFFORTS: Final = ("low", "medium", "high", "xhigh", "max")
MOST_STOPS: Final = 32
"""Most strings of `stop_sequences`."""

TOOL_FIELDS: Final = (
    *("name", "description", "input_schema", "type", "strict", "cache_control"),
    *("input_examples", "eager_input_streaming", "defer_loading", "allowed_callers"),
)

OBEYED: Final = (FIELDS | SAMPLING_FIELDS - {"n", "stop", "user"}) | frozenset(
    {
        "chat_template_kwargs",
        "documents",
        "include_reasoning",
        "max_tokens",
        "messages",
        "metadata",
        "model",
        "output_config",
        "output_format",
        "separate_reasoning",
        "stop_sequences",
        "stream",
        "system",
        "thinking",
        "tool_choice",
        "tools",
    }
)

REFUSED: Final[Mapping[str, tuple[object, ...]]] = {
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

WAYS_OUT: Final[Mapping[str, str]] = {
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


def parse_anthropic_request(tree: dict[str, object]) -> AnswerRequest:
    """Read a body. Raises InputError, whose `param` is the dotted path of the first wrong field."""
    body = _without_idle_edits(Fields(tree))
    refuse_unsupported(body, OBEYED, REFUSED, WAYS_OUT)
    config = body.object("output_config") or Fields({}, "output_config")
    config.only("effort", "format")
    thinking = body.object("thinking") or Fields({}, "thinking")
    options = replace(
        read_options(body, None),
        stop=read_stop(body, "stop_sequences", MOST_STOPS),
        user=_user(body),
    )
    budget = _budget(thinking)
    if budget is not None:
        options = replace(options, thinking_tokens=budget, thinking_optional=True)
    return AnswerRequest(
        model=body.string("model"),
        prompts=(_prompt(body, thinking, config),),
        place="messages",
        shape=_shape(body, config),
        tool_use=_tools(body),
        limit=read_limit(body, "max_tokens"),
        options=options,
        reply=read_reply(body),
    )


def _without_idle_edits(body: Fields) -> Fields:
    """Leave out the edits of the context that change nothing."""
    if body.get("context_management") != {"edits": [KEPT_THINKING]}:
        return body
    return Fields({**body.values, "context_management": None})


def _user(body: Fields) -> str:
    metadata = body.object("metadata")
    return "" if metadata is None else metadata.string("user_id") or ""


def _budget(thinking: Fields) -> int | None:
    """Read the most tokens of a reasoning section; None for no bound."""
    thinking.only("type", "budget_tokens", "display")
    kind = thinking.choice("type", THINKING)
    if kind is None and thinking.has("budget_tokens"):
        raise missing(thinking.at("type"))
    budget = thinking.integer("budget_tokens", 1, MAX_TOKENS)
    if budget is not None and kind != "enabled":
        raise InputError(
            f"{thinking.at('budget_tokens')} needs thinking of the type 'enabled', not "
            f"{shown(kind)}",
            param=thinking.at("budget_tokens"),
        )
    return budget


def _shape(body: Fields, config: Fields) -> Shape:
    """Read the shape of the answer. `output_format` is the older place of `output_config.format`,
    and the fields of other endpoints are read as there."""
    formats = [config.object("format"), body.object("output_format")]
    given = [format for format in formats if format is not None]
    if body.has("response_format") and given:
        raise InputError(
            f"{given[0].place} and response_format exclude each other; send one",
            param="response_format",
            code="conflicting_constraints",
        )
    if len(given) > 1 and given[0].values != given[1].values:
        raise InputError(
            f"{given[0].place} and {given[1].place} ask for different shapes; send one",
            param=given[1].place,
            code="conflicting_constraints",
        )
    return parse_shape(body, given[0] if given else None)


# The conversation


def _prompt(body: Fields, thinking: Fields, config: Fields) -> ChatPrompt:
    """Read the conversation. An answer continues an assistant's text at its end."""
    messages = [*_system(body), *_messages(body)]
    last = messages[-1]
    continues = last.role == "assistant" and not last.tool_calls
    effort = config.choice("effort", EFFORTS)
    variables = {
        **_thinks(thinking.string("type")),
        **template_variables(body, effort),
    }
    return ChatPrompt(tuple(messages), variables, begins_answer=not continues, continues=continues)


def _thinks(kind: str | None) -> dict[str, object]:
    """Return the variables by which templates are told whether a model thinks."""
    if kind is None:
        return {}
    thinks = kind != "disabled"
    return {"enable_thinking": thinks, "thinking": thinks}


def _system(body: Fields) -> Iterator[Message]:
    match body.get("system"):
        case None:
            return
        case str(text):
            yield Message("system", text)
        case list():
            blocks = (Fields.of(item, place) for item, place in body.items("system") or ())
            yield Message("system", "".join(_text(block) for block in blocks))
        case other:
            raise invalid("system", "a string or an array of text blocks", other)


def _messages(body: Fields) -> Iterator[Message]:
    items = body.items("messages")
    if items is None:
        raise missing("messages")
    if not items:
        raise InputError("messages must hold at least one message", param="messages")
    for item, place in items:
        fields = Fields.of(item, place)
        role = fields.choice("role", ROLES)
        if role is None:
            raise missing(fields.at("role"))
        blocks = _blocks(fields)
        if role == "assistant":
            yield _assistant(blocks)
        else:
            yield from _said(role, blocks)


def _blocks(message: Fields) -> list[Fields]:
    """Return the content of a message as blocks; a string is one block of text."""
    place = message.at("content")
    match message.get("content"):
        case None:
            raise missing(place)
        case str(text):
            return [Fields({"type": "text", "text": text}, place)]
        case list():
            return [Fields.of(item, at) for item, at in message.items("content") or ()]
        case other:
            raise invalid(place, "a string or an array of blocks", other)


def _said(role: str, blocks: list[Fields]) -> Iterator[Message]:
    """Yield the messages of a turn of the user: the results of tools are messages of their own, in
    the order of the blocks."""
    texts: list[str] = []
    for block in blocks:
        if block.string("type") == "tool_result" and role == "user":
            if texts:
                yield Message(role, "".join(texts))
                texts = []
            yield _result(block)
        else:
            texts.append(_text(block, "tool_result" if role == "user" else None))
    if texts or not blocks:
        yield Message(role, "".join(texts))


def _result(block: Fields) -> Message:
    """Read the result of a tool, whose content is absent if it has nothing to say."""
    call = block.string("tool_use_id")
    if call is None:
        raise missing(block.at("tool_use_id"))
    block.boolean("is_error")
    content = "" if not block.has("content") else "".join(map(_text, _blocks(block)))
    return Message("tool", content, tool_call_id=call)


def _assistant(blocks: list[Fields]) -> Message:
    """Read a turn of the assistant: its thoughts, its text and its calls."""
    texts: list[str] = []
    thoughts: list[str] = []
    calls: list[ToolCall] = []
    for block in blocks:
        match block.string("type"):
            case "thinking":
                thoughts.append(block.string("thinking") or "")
            case "redacted_thinking":
                raise _unsupported(block, "text", "thinking", "tool_use")
            case "tool_use":
                calls.append(_call(block))
            case _:
                texts.append(_text(block, "thinking", "tool_use"))
    return Message(
        "assistant", "".join(texts), tool_calls=tuple(calls), reasoning="".join(thoughts)
    )


def _call(block: Fields) -> ToolCall:
    name, given = block.string("name"), block.object("input")
    if name is None:
        raise missing(block.at("name"))
    if given is None:
        raise missing(block.at("input"))
    return ToolCall(block.string("id"), name, given.values)


def _text(block: Fields, *others: str | None) -> str:
    """Return the text of a block; a plain text in a document counts as one. `others`: the types of
    blocks that may stand here besides."""
    match block.string("type"):
        case "text":
            text = block.string("text")
            if text is None:
                raise missing(block.at("text"))
            return text
        case "document":
            return _document(block)
        case _:
            known = [name for name in others if name is not None]
            raise _unsupported(block, "text", "document", *known)


def _document(block: Fields) -> str:
    source = block.object("source")
    if source is None:
        raise missing(block.at("source"))
    if source.string("type") != "text":
        raise _unsupported(source, "text")
    text = source.string("data")
    if text is None:
        raise missing(source.at("data"))
    source.string("media_type")  # which is that of plain text
    titles = (block.string("title"), block.string("context"))
    return "\n".join([*(title for title in titles if title), text])


def _unsupported(block: Fields, *known: str) -> InputError:
    place = block.at("type")
    if not block.has("type"):
        return missing(place)
    return InputError(
        f"{place} {shown(block.get('type'))} is not supported; this server reads "
        f"{', '.join(map(repr, known))} here",
        param=place,
        code="unsupported_content",
    )


# Tools


def _tools(body: Fields) -> ToolUse | None:
    """Read `tools` and `tool_choice` by means of the forms of chat completions. Errors, those that
    come later too, name the places of this protocol."""
    sent: list[Json] = [
        _function(Fields.of(item, place)) for item, place in body.items("tools") or ()
    ]
    choice, parallel = _choice(body)
    try:
        use = parse_tool_use(
            Fields({"tools": sent, "tool_choice": choice, "parallel_tool_calls": parallel})
        )
    except InputError as error:
        error.message = _place(error.message)
        if error.param is not None:
            error.param = _place(error.param)
        raise
    if use is None:
        return None
    tools = {tool.name: replace(tool, place=_place(tool.place)) for tool in use.tools}
    callable_ones = tuple(tools[tool.name] for tool in use.choice.tools)
    return replace(
        use, tools=tuple(tools.values()), choice=replace(use.choice, tools=callable_ones)
    )


def _place(text: str) -> str:
    """Return a text with places in tools as this protocol names them."""
    return text.replace(".function.parameters", ".input_schema").replace(".function.", ".")


def _function(tool: Fields) -> Json:
    """Return a tool in the form of chat completions."""
    kind = tool.string("type")
    if kind not in (None, "custom"):
        raise InputError(
            f"{tool.at('type')} {shown(kind)} is not supported: such tools are a part of "
            "Anthropic's service; send a tool with a name and an input_schema",
            param=tool.at("type"),
            code="unsupported_value",
        )
    tool.only(*TOOL_FIELDS)
    if tool.boolean("defer_loading"):
        raise InputError(
            f"{tool.at('defer_loading')}: this server has no search for tools; send the tools that "
            "the model shall know",
            param=tool.at("defer_loading"),
            code="unsupported_parameter",
        )
    if tool.get("allowed_callers") not in (None, ["direct"]):
        raise InputError(
            f"{tool.at('allowed_callers')}: only the model itself calls tools here; leave it out",
            param=tool.at("allowed_callers"),
            code="unsupported_parameter",
        )
    schema = tool.object("input_schema")
    if schema is None:
        raise missing(tool.at("input_schema"))
    function = {
        "name": tool.string("name"),
        "description": tool.string("description"),
        "parameters": schema.values,
        "input_examples": tool.get("input_examples"),
        "strict": tool.get("strict"),
    }
    return {
        "type": "function",
        "function": {name: value for name, value in function.items() if value is not None},
    }


def _choice(body: Fields) -> tuple[object, bool]:
    """Return `tool_choice` in the form of chat completions, and whether there may be several
    calls."""
    choice = body.object("tool_choice")
    if choice is None:
        return None, True
    choice.only("type", "name", "disable_parallel_tool_use")
    parallel = not choice.boolean("disable_parallel_tool_use")
    match choice.choice("type", CHOICES):
        case None:
            raise missing(choice.at("type"))
        case "tool":
            name = choice.string("name")
            if name is None:
                raise missing(choice.at("name"))
            return {"type": "function", "function": {"name": name}}, parallel
        case "any":
            return "required", parallel
        case kind:
            return kind, parallel
