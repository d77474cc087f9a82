"""The conversation: messages of chat completions, and input items of responses."""

from __future__ import annotations

from typing import Final

from maskwright.server.json import Json
from maskwright.server.openapi.builders import (
    ANYTHING,
    Schemas,
    array,
    constant,
    either,
    flag,
    given,
    nullable,
    one_of,
    record,
    ref,
    text,
)
from maskwright.server.request import response_request
from maskwright.server.request.input_items import ROLES as INPUT_ROLES
from maskwright.server.request.messages import ROLES, TEXT_PARTS

ASSISTANT: Final = "assistant"
_ARGUMENTS: Final = either(
    text("A JSON object in a string.", contentMediaType="application/json"), record({})
)


_ABOUT_EFFORT: Final = (
    "Variables of the chat template, where it has them: `reasoning_effort`, `enable_thinking` and "
    "`thinking`, which `none` makes false."
)


def prompt_fields() -> Schemas:
    """Return the fields that make the prompt of a chat."""
    return {
        "add_generation_prompt": flag(
            "The prompt ends with the beginning of an assistant's message.", default=True
        ),
        "continue_final_message": flag("The answer continues the last message.", default=False),
        "messages": array(ref("Message"), minItems=1),
        "reasoning_effort": text(_ABOUT_EFFORT),
        **template_fields(),
    }


def template_fields() -> Schemas:
    """Return the fields with variables of the chat template."""
    return {
        "chat_template_kwargs": record({}, about="Variables of the chat template."),
        "documents": array(record({}), "Documents for the chat template."),
    }


def input_fields() -> Schemas:
    """Return the fields that make the prompt of a response."""
    about = "A message of the user, or the whole conversation as items."
    summary = nullable(one_of(response_request.SUMMARIES, "Without effect."))
    reasoning = {
        "effort": nullable(one_of(response_request.EFFORTS, _ABOUT_EFFORT)),
        "summary": summary,
    }
    return {
        "input": either(text(), array(ref("InputItem"), minItems=1), about=about),
        "instructions": text("The first message, with the role `system`."),
        "reasoning": record({}, {**reasoning, "generate_summary": summary}),
        **template_fields(),
    }


def message_schemas() -> Schemas:
    part = either(text(), ref("TextPart"))
    content = either(text(), array(part))
    parts = either(text(), ref("TextPart"), ref("RefusalPart"), ref("ThinkingPart"))
    said = either(text(), array(parts))
    others = [role for role in ROLES if role != ASSISTANT]
    names: Schemas = {"name": text(), "tool_call_id": text()}
    message = given({"role": one_of(others), "content": content}, names)
    function = given({"name": text()}, {"arguments": _ARGUMENTS})
    assistant = given(
        {"role": constant(ASSISTANT)},
        {
            **names,
            "content": said,
            "function_call": function,
            "refusal": text(),
            "reasoning": ANYTHING,
            "reasoning_content": ANYTHING,
            "tool_calls": array(ref("CallBefore")),
        },
    )
    custom = given({"name": text()}, {"input": text()})
    call = either(
        given({"function": function}, {"id": text(), "type": constant("function")}),
        given({"type": constant("custom"), "custom": custom}, {"id": text()}),
        about="A call of an earlier turn.",
    )
    return {
        "CallBefore": call,
        "InputItem": _input_item(content, said),
        "Message": either(message, assistant),
        "RefusalPart": record({"type": constant("refusal"), "refusal": text()}),
        "TextPart": record({"type": one_of(TEXT_PARTS), "text": text()}),
        "ThinkingPart": record(
            {"type": constant("thinking"), "thinking": either(text(), array(part))}
        ),
    }


def _input_item(content: Json, said: Json) -> Json:
    others = [role for role in INPUT_ROLES if role != ASSISTANT]
    kind: Schemas = {"type": constant("message")}
    parts = array(given({}, {"text": text()}))
    output: Schemas = {"call_id": text(), "output": content}
    return either(
        given({"role": one_of(others), "content": content}, kind),
        given({"role": constant(ASSISTANT)}, {**kind, "content": said, "refusal": text()}),
        given({"type": constant("reasoning")}, {"content": parts, "summary": parts}),
        given(
            {"type": constant("function_call"), "name": text()},
            {"call_id": text(), "arguments": _ARGUMENTS},
        ),
        given(
            {"type": constant("custom_tool_call"), "name": text()},
            {"call_id": text(), "input": text()},
        ),
        record({"type": constant("function_call_output"), **output}),
        record({"type": constant("custom_tool_call_output"), **output}),
    )
