"""The fields that make the prompt of a chat: messages, and what its template is told."""

from __future__ import annotations

from collections.abc import Mapping

from maskwright.errors import InputError
from maskwright.server.request.answer_request import ChatPrompt
from maskwright.server.request.fields import Fields
from maskwright.server.request.messages import parse_messages

PROMPT_FIELDS = frozenset(
    {
        "add_generation_prompt",
        "chat_template_kwargs",
        "continue_final_message",
        "documents",
        "messages",
    }
)


def parse_chat_prompt(body: Fields) -> ChatPrompt:
    """Read the prompt of a chat. Raises InputError with the dotted path of the wrong field."""
    continues = body.boolean("continue_final_message")
    if continues and body.get("add_generation_prompt") is True:
        raise InputError(
            "continue_final_message and add_generation_prompt exclude each other",
            param="continue_final_message",
        )
    return ChatPrompt(
        parse_messages(body),
        template_variables(body),
        begins_answer=body.boolean("add_generation_prompt", default=True),
        continues=continues,
    )


def template_variables(body: Fields) -> Mapping[str, object]:
    """Read the additional variables of the chat template."""
    given = body.object("chat_template_kwargs")
    variables = {} if given is None else dict(given.values)
    documents = [Fields.of(item, place).values for item, place in body.items("documents") or ()]
    if documents:
        variables["documents"] = documents
    return variables
