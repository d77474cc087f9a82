"""The fields that make the prompt of a chat: messages, and the variables of its template."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import Field

from maskwright.errors import InputError
from maskwright.server.json import Json
from maskwright.server.request.answer_request import ChatPrompt
from maskwright.server.request.messages import RequestMessage
from maskwright.server.request.model import Array, RawObject, RequestModel

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
    documents: Annotated[tuple[RawObject, ...], Array()] = Field(
        default=(), description="Documents for the chat template."
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
    add_generation_prompt: bool = Field(
        default=True, description="The prompt ends with the beginning of an assistant's message."
    )
    continue_final_message: bool = Field(
        default=False, description="The answer continues the last message."
    )
    reasoning_effort: str | None = Field(default=None, description=ABOUT_EFFORT)

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
