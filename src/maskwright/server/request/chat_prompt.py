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
        "reasoning_effort",
    }
)

EFFORT_VARIABLES = frozenset({"enable_thinking", "reasoning_effort", "thinking"})
"""Variables by which templates are told how much a model thinks before it answers."""


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
        template_variables(body, body.string("reasoning_effort")),
        begins_answer=body.boolean("add_generation_prompt", default=True),
        continues=continues,
    )


def template_variables(body: Fields, effort: str | None) -> Mapping[str, object]:
    """Read the additional variables of the chat template. `effort`: how much the client wants the
    model to think, which `chat_template_kwargs` say more exactly."""
    given = body.object("chat_template_kwargs")
    variables = {**_effort(effort), **({} if given is None else given.values)}
    documents = [Fields.of(item, place).values for item, place in body.items("documents") or ()]
    if documents:
        variables["documents"] = documents
    return variables


def _effort(effort: str | None) -> dict[str, object]:
    """Return `EFFORT_VARIABLES`. Templates that only know whether a model thinks have one of two
    names for that."""
    if effort is None:
        return {}
    thinks = effort != "none"
    return {"reasoning_effort": effort, "enable_thinking": thinks, "thinking": thinks}
