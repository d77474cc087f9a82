"""The body of POST /v1/chat/completions.

Every field is obeyed, without effect, or refused by name. An explicit null is an absent field.
docs/api.md lists them.
"""

from __future__ import annotations

from pydantic import Field

from maskwright.errors import InputError
from maskwright.server.json import Json
from maskwright.server.request.answer_request import AnswerRequest
from maskwright.server.request.chat_prompt import PromptFields
from maskwright.server.request.sampling_fields import (
    Alternatives,
    CompletingRequest,
    Limit,
    ReasoningFields,
    first_limit,
)
from maskwright.server.request.shape_fields import FormattedShapeFields
from maskwright.server.request.tool_use import FunctionFields


class ChatCompletionRequest(
    CompletingRequest, ReasoningFields, FormattedShapeFields, PromptFields, FunctionFields
):
    """A chat."""

    logprobs: bool = Field(default=False, description="Return the log-probability of each token.")
    top_logprobs: Alternatives | None = Field(
        default=None,
        description="How many alternatives are listed for each token. Needs `logprobs: true`.",
    )
    max_tokens: Limit | None = Field(
        default=None, description="The older name of `max_completion_tokens`."
    )

    def answer(self) -> AnswerRequest:
        """Return what is asked for. Raises InputError, whose `param` is the dotted path of the
        first wrong field."""
        if self.top_logprobs and not self.logprobs:
            raise InputError("top_logprobs needs logprobs to be true", param="top_logprobs")
        alternatives = (self.top_logprobs or 0) if self.logprobs else None
        reply = self.reply(logprobs=self.logprobs, one_function=bool(self.functions))
        return AnswerRequest(
            model=self.model,
            prompts=(self.prompt(),),
            place="messages",
            shape=self.shape(),
            tool_use=self.tool_use(),
            limit=first_limit(
                max_completion_tokens=self.max_completion_tokens, max_tokens=self.max_tokens
            ),
            options=self.options(
                alternatives,
                stop=self.stop,
                user=self.user,
                n=self.n,
                prompt_logprobs=self.prompt_logprobs,
            ),
            reply=reply,
        )


def parse_chat_request(tree: Json) -> AnswerRequest:
    """Read a body. Raises InputError, whose `param` is the dotted path of the first wrong field."""
    return ChatCompletionRequest.read(tree).answer()
