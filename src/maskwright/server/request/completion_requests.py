"""The bodies of POST /v1/chat/completions and of POST /v1/completions.

Every field is obeyed, without effect, or refused by name. An explicit null is an absent field.
docs/api.md lists them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Final, TypeAlias

from msgspec import structs

from maskwright.errors import InputError
from maskwright.server.request.answer_request import (
    AnswerRequest,
    Prompt,
    TextPrompt,
    TokenLimit,
    TokenPrompt,
)
from maskwright.server.request.messages import PromptFields
from maskwright.server.request.model import Array, Between, ByType, IdArray, described
from maskwright.server.request.sampling_fields import (
    MAX_CHOICES,
    MAX_TOKENS,
    Alternatives,
    CompletingRequest,
    Limit,
    ReasoningFields,
    first_limit,
)
from maskwright.server.request.shape import FormattedShapeFields, SomeText
from maskwright.server.request.tool_use import FunctionFields


class ChatCompletionRequest(
    CompletingRequest, ReasoningFields, FormattedShapeFields, PromptFields, FunctionFields
):
    """A chat."""

    PLACE: ClassVar = "messages"

    logprobs: bool = described(False, "Return the log-probability of each token.")
    top_logprobs: Alternatives | None = described(
        None, "How many alternatives are listed for each token. Needs `logprobs: true`."
    )
    max_tokens: Limit | None = described(None, "The older name of `max_completion_tokens`.")

    def answer(self) -> AnswerRequest:
        if self.top_logprobs and not self.logprobs:
            raise InputError("top_logprobs needs logprobs to be true", param="top_logprobs")
        alternatives = (self.top_logprobs or 0) if self.logprobs else None
        reply = self.reply(logprobs=self.logprobs, one_function=bool(self.functions))
        return AnswerRequest(
            model=self.model,
            prompts=(self.prompt(),),
            place=self.PLACE,
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


DEFAULT_TOKENS: Final = 16

_REFUSED: Final[Mapping[str, tuple[object, ...]]] = {
    "function_call": ("none", "auto"),
    "functions": ([],),
    "add_generation_prompt": (True,),
    "chat_template_kwargs": ({},),
    "continue_final_message": (False,),
    "documents": ([],),
    "include_reasoning": (True,),
    "messages": (),
    "parallel_tool_calls": (True, False),
    "reasoning_effort": (),
    "suffix": ("",),
    "tool_choice": ("none",),
    "tools": ([],),
    "top_logprobs": (),
}
"""Fields that are refused here, with the values without an effect."""

_WAYS_OUT: Final[Mapping[str, str]] = {
    "context_management": "send the prompt that the model shall read",
    "include_reasoning": "completions have no reasoning apart from their text",
    "output_config": "send response_format",
    "system": "write it into the prompt",
    "system_instruction": "write it into the prompt",
    "system_prompt": "write it into the prompt",
    "thinking": "send messages with reasoning_effort to /v1/chat/completions",
}
"""What to do instead, where it is something else than at other endpoints."""


SomeTokens: TypeAlias = Annotated[tuple[int, ...], IdArray(MAX_TOKENS, least=1)]
SentPrompt: TypeAlias = Annotated[
    SomeText | SomeTokens, ByType("a string or an array of token ids")
]


class CompletionRequest(CompletingRequest, FormattedShapeFields):
    """Texts or token ids that are continued."""

    PLACE: ClassVar = "prompt"
    REFUSED: ClassVar = _REFUSED
    WAYS_OUT: ClassVar = _WAYS_OUT

    logprobs: Alternatives | None = described(
        None, "How many alternatives are listed for each token."
    )
    best_of: Annotated[int, Between(1, MAX_CHOICES)] | None = described(
        None, "So many answers are made; the `n` likeliest count."
    )
    echo: bool = described(False, "The prompt comes before the answer.")
    max_tokens: Annotated[int, Between(0, MAX_TOKENS)] = described(
        DEFAULT_TOKENS, "0 needs `echo: true`."
    )
    add_special_tokens: bool = described(True, "The tokenizer may add special tokens.")
    prompt: Annotated[
        SomeText | Annotated[tuple[SentPrompt, ...], Array("must not be empty")] | SomeTokens,
        ByType("a string, token ids, or an array of these", first=(int, float)),
    ]

    def answer(self) -> AnswerRequest:
        options = self.options(self.logprobs, n=self.n, stop=self.stop, user=self.user)
        best_of = self._best_of()
        if best_of > self.n and options.params.logprobs is None:
            options = structs.replace(options, params=replace(options.params, logprobs=0))
        limit = self._limit()
        reply = self.reply(
            logprobs=self.logprobs is not None, echo=self.echo, only_echo=limit is None, best=self.n
        )
        scored = [self.prompt_logprobs, self.logprobs if self.echo else None]
        prompt_logprobs = max((count for count in scored if count is not None), default=None)
        return AnswerRequest(
            model=self.model,
            prompts=self._prompts(),
            place=self.PLACE,
            shape=self.shape(),
            tool_use=None,
            limit=limit or TokenLimit(1, "max_tokens"),
            options=structs.replace(options, n=best_of, prompt_logprobs=prompt_logprobs),
            reply=reply,
        )

    def _limit(self) -> TokenLimit | None:
        """Return the token limit; None if only the prompt is wanted, which takes a step of the
        model all the same."""
        if self.max_tokens == 0:
            if self.echo and self.max_completion_tokens is None:
                return None
            raise InputError(
                f"max_tokens must be an integer from 1 to {MAX_TOKENS}, not 0", param="max_tokens"
            )
        return first_limit(
            max_completion_tokens=self.max_completion_tokens, max_tokens=self.max_tokens
        )

    def _best_of(self) -> int:
        """Return how many answers are generated for each prompt; `n` of them are returned."""
        best_of = self.best_of or self.n
        if best_of < self.n:
            raise InputError(
                f"best_of is {best_of}; it must be at least n, {self.n}", param="best_of"
            )
        if best_of > self.n and self.stream:
            raise InputError(
                "best_of above n can't be streamed: which answers are the best is known at their "
                "end",
                param="best_of",
            )
        return best_of

    def _prompts(self) -> tuple[Prompt, ...]:
        """Return one prompt or several."""
        match self.prompt:
            case str() | (int(), *_):
                return (self._prompt(self.prompt),)
            case _:
                return tuple(map(self._prompt, self.prompt))

    def _prompt(self, sent: Any) -> Prompt:
        if isinstance(sent, str):
            return TextPrompt(sent, self.add_special_tokens)
        return TokenPrompt(sent)
