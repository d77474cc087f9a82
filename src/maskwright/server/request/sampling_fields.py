"""The fields that every endpoint has that generates: how answers are generated, and what the client
receives of them. A new one is a field here, and a line that obeys it in `options` or `reply`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final, Literal, Self

from pydantic import Field, WithJsonSchema

from maskwright.errors import InputError
from maskwright.sampling import MOST_LOGPROBS, SamplingParams
from maskwright.server.json import Json
from maskwright.server.request.answer_request import (
    GenerationOptions,
    OwnOptions,
    ReplyOptions,
    TokenLimit,
)
from maskwright.server.request.model import (
    Between,
    IdArray,
    RawObject,
    RequestModel,
    Strings,
    described,
    invalid,
    shown,
)
from maskwright.server.request.refusals import NEUTRAL, WAYS_OUT, refuse_unsupported
from maskwright.server.request.shape import ShapeFields

ALTERNATIVES_EXPLAINED = 8
"""Likeliest tokens of each step that are noted for an explanation."""
MAX_BAD_WORDS = 64
MAX_CHOICES = 128
MAX_ID = 128
MAX_MESSAGE = 1_000
MAX_STOPS = 4
MAX_TOKENS = 1 << 31
SEED_BITS = 64

MOST_BIAS: Final = 100
"""The largest amount of an entry of `logit_bias`."""

_BIASES: Final[Json] = {
    "type": "object",
    "propertyNames": {"pattern": "^[0-9]{1,9}$"},
    "additionalProperties": {"type": "number", "minimum": -MOST_BIAS, "maximum": MOST_BIAS},
}

Count = Annotated[int, Between(0, MAX_TOKENS)]
Limit = Annotated[int, Between(1, MAX_TOKENS)]
Alternatives = Annotated[int, Between(0, MOST_LOGPROBS)]


class GeneratingRequest(ShapeFields):
    """The body of a request that generates."""

    REFUSED: ClassVar[Mapping[str, tuple[object, ...]]] = {}
    """Fields that are refused at this endpoint, with the values without an effect."""
    WAYS_OUT: ClassVar[Mapping[str, str]] = {}
    """What to do instead, where it is something else than at other endpoints."""

    obeyed: ClassVar[frozenset[str]] = frozenset()
    """The names of the fields that this endpoint has."""
    neutral: ClassVar[Mapping[str, tuple[object, ...]]] = NEUTRAL
    """The fields that it refuses, every endpoint's included, with the values without an effect."""
    ways_out: ClassVar[Mapping[str, str]] = WAYS_OUT
    """What to do instead of these."""

    @classmethod
    def __pydantic_init_subclass__(cls, **more: Any) -> None:
        super().__pydantic_init_subclass__(**more)
        cls.obeyed = frozenset(cls.names)
        cls.neutral = {**NEUTRAL, **cls.REFUSED}
        cls.ways_out = {**WAYS_OUT, **cls.WAYS_OUT}

    # What the client receives.
    stream: bool = described(False, "Send the answer as server-sent events.")
    request_id: str | None = described(
        None, "Becomes a part of the answer's id.", max_length=MAX_ID
    )
    rid: str | None = described(None, "Another name of `request_id`.", max_length=MAX_ID)

    # How an answer is generated.
    maskwright: OwnOptions = OwnOptions()
    seed: Annotated[int, Between(-(1 << (SEED_BITS - 1)), (1 << SEED_BITS) - 1)] | None = described(
        None, "A 64-bit integer, signed or unsigned. A repeated request gets the same answer."
    )
    temperature: Annotated[float, Between(0, 100)] = described(
        1.0, "0 selects the most probable token, without randomness."
    )
    top_k: Annotated[int, Between(-1, MAX_TOKENS)] = described(
        0, "Only so many of the likeliest tokens are drawn; -1 and 0 are off."
    )
    top_p: Annotated[float, Between(0, 1)] = described(
        1.0, "Only the likeliest tokens with this sum of probabilities are drawn."
    )
    min_p: Annotated[float, Between(0, 1)] = described(
        0.0, "Least probability of a token, as a share of the likeliest one's; 0 is off."
    )
    repetition_penalty: Annotated[float, Between(0.01, 100)] = described(
        1.0, "Makes tokens that have occurred less likely; 1 is off."
    )
    presence_penalty: Annotated[float, Between(-2, 2)] = described(
        0.0, "Lowers a token's logit by this if it has occurred."
    )
    frequency_penalty: Annotated[float, Between(-2, 2)] = described(
        0.0, "Lowers a token's logit by this for each time that it has occurred."
    )
    logit_bias: Annotated[RawObject, WithJsonSchema(_BIASES)] = Field(
        default_factory=dict[str, Any],
        description="What is added to the logits of tokens, by their ids.",
    )
    allowed_token_ids: Annotated[tuple[int, ...], IdArray(MAX_TOKENS, least=1)] | None = described(
        None, "No other token is chosen."
    )
    min_tokens: Count = described(
        0, "No end and no stop before so many tokens, unless the shape is complete."
    )
    ignore_eos: bool = described(False, "No end token is chosen.")
    no_repeat_ngram_size: Count = described(
        0, "No sequence of so many tokens occurs twice; 0 is off."
    )
    stop_token_ids: Annotated[tuple[int, ...], IdArray(MAX_TOKENS)] = described(
        (), "Tokens that end the answer."
    )
    include_stop_str_in_output: bool = described(False, "Stop strings are part of the answer.")
    bad_words: Annotated[tuple[str, ...], Strings(MAX_BAD_WORDS, single=True)] = described(
        (), "Strings that never occur in the answer."
    )
    truncate_prompt_tokens: Annotated[int, Between(-1, MAX_TOKENS)] | None = described(
        None,
        "Only so many tokens of the prompt are kept; -1 keeps as many as leave room for the "
        "answer.",
        json_schema_extra={"not": {"const": 0}},
    )
    truncation_side: Literal["left", "right"] = described(
        "left", "The side from which tokens of the prompt are cut off."
    )
    thinking_token_budget: Annotated[int, Between(-1, MAX_TOKENS)] | None = described(
        None, "The most tokens of a reasoning section; 0 is none of them, -1 no bound."
    )
    reasoning_budget_message: str = described(
        "",
        "What a reasoning section says before its end once it has had all tokens of "
        "thinking_token_budget.",
        max_length=MAX_MESSAGE,
    )
    cache_salt: Annotated[str, Field(min_length=1)] | None = described(
        None, "Only requests with equal salts share cached prefixes."
    )
    model: str | None = described(
        None, "The model or an adapter; by default the model that is served."
    )

    @classmethod
    def read(cls, tree: Json) -> Self:
        refuse_unsupported(tree, cls.obeyed, cls.neutral, cls.ways_out)
        return super().read(tree)

    def options(
        self, alternatives: int | None, *, stop: tuple[str, ...], user: str, n: int = 1, **more: Any
    ) -> GenerationOptions:
        """Return how answers are generated, with `more` that not every endpoint has.
        `alternatives`: how many alternatives to each token the client asks for; None if it asks for
        no log-probabilities."""
        own, outputs = self.maskwright, self.structured_outputs
        if alternatives is None and "logprobs" in own.model_fields_set:
            raise InputError(
                "maskwright.logprobs says which log-probabilities to return; ask for logprobs too",
                param="maskwright.logprobs",
            )
        if alternatives is None and own.scores_tokens:
            alternatives = ALTERNATIVES_EXPLAINED if own.explain else 0
        budget = self.thinking_token_budget
        return GenerationOptions(
            params=SamplingParams(
                temperature=self.temperature,
                top_k=max(self.top_k, 0),
                top_p=self.top_p,
                min_p=self.min_p,
                repetition_penalty=self.repetition_penalty,
                presence_penalty=self.presence_penalty,
                frequency_penalty=self.frequency_penalty,
                logit_bias=self._biases(),
                allowed_tokens=self.allowed_token_ids,
                min_tokens=self.min_tokens,
                ignore_eos=self.ignore_eos,
                no_repeat_ngram=self.no_repeat_ngram_size,
                seed=None if self.seed is None else self.seed % (1 << SEED_BITS),
                logprobs=alternatives,
                scale=own.logprobs,
            ),
            n=n,
            stop=stop,
            stop_tokens=self.stop_token_ids,
            include_stop=self.include_stop_str_in_output,
            bad_words=self.bad_words,
            kept=self._kept(),
            keeps_beginning=self.truncation_side == "right",
            compact=outputs is not None and outputs.disable_any_whitespace,
            closed=None if outputs is None else outputs.disable_additional_properties,
            thinking_tokens=None if budget == -1 else budget,
            thinking_last=self.reasoning_budget_message,
            own=own,
            user=user,
            cache_salt=self.cache_salt or "",
            **more,
        )

    def reply(self, **more: Any) -> ReplyOptions:
        """Return what the client receives, with `more` that not every endpoint has."""
        return ReplyOptions(stream=self.stream, id=self.request_id or self.rid, **more)

    def _biases(self) -> Mapping[int, float]:
        biases: dict[int, float] = {}
        for key, value in self.logit_bias.items():
            if not (key.isascii() and key.isdigit() and len(key) <= 9):
                raise InputError(f"logit_bias: {shown(key)} is not a token id", param="logit_bias")
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            if not (is_number and -MOST_BIAS <= value <= MOST_BIAS):
                wanted = f"a number from -{MOST_BIAS} to {MOST_BIAS}"
                raise invalid(f"logit_bias.{key}", wanted, value)
            biases[int(key)] = float(value)
        return biases

    def _kept(self) -> int | None:
        """Return how many tokens of a prompt are kept."""
        if self.truncate_prompt_tokens == 0:
            raise InputError(
                "truncate_prompt_tokens must be -1 or at least 1, not 0",
                param="truncate_prompt_tokens",
            )
        return self.truncate_prompt_tokens


class ReasoningFields(GeneratingRequest):
    """What the client receives of reasoning, where it is apart from the text."""

    separate_reasoning: bool = described(
        True, "A reasoning section is returned apart from the text."
    )
    include_reasoning: bool = described(True, "Reasoning that is apart is returned.")

    def reply(self, **more: Any) -> ReplyOptions:
        if not self.include_reasoning and not self.separate_reasoning:
            raise InputError(
                "include_reasoning: false leaves out reasoning that separate_reasoning: false "
                "leaves in the text; send one of them",
                param="include_reasoning",
                code="conflicting_constraints",
            )
        return super().reply(
            separate_reasoning=self.separate_reasoning,
            include_reasoning=self.include_reasoning,
            **more,
        )


class StreamOptions(RequestModel):
    """What a stream has besides the answer."""

    continuous_usage_stats: bool = described(False, "Every chunk has the usage so far.")
    include_usage: bool = described(False, "The stream ends with the usage.")


class OpenAIRequest(GeneratingRequest):
    """The fields that only the endpoints in OpenAI's protocols have."""

    stop: Annotated[tuple[str, ...], Strings(MAX_STOPS, single=True)] = described(
        (), "Strings that end the answer."
    )
    user: str = described("", "The user whose fair share of the engine the request counts towards.")
    stream_options: StreamOptions = StreamOptions()

    def reply(self, **more: Any) -> ReplyOptions:
        continuous = self.stream_options.continuous_usage_stats
        return super().reply(
            include_usage=self.stream_options.include_usage or continuous,
            continuous_usage=continuous,
            **more,
        )


class CompletingRequest(OpenAIRequest):
    """The fields that completions have, of chats and of texts."""

    n: Annotated[int, Between(1, MAX_CHOICES)] = described(1, "The number of independent answers.")
    prompt_logprobs: Alternatives | None = described(
        None,
        "Return the log-probabilities of the prompt's tokens, each with so many of the likeliest "
        "tokens. Not in a stream.",
    )
    return_token_ids: bool = described(False, "Return the ids of the tokens.")
    return_tokens_as_token_ids: bool = described(False, "Name tokens `token_id:5`.")
    max_completion_tokens: Limit | None = described(None, "The most tokens of the answer.")

    def reply(self, **more: Any) -> ReplyOptions:
        if self.prompt_logprobs is not None and self.stream:
            raise InputError(
                "prompt_logprobs are returned with whole answers only; leave out stream",
                param="prompt_logprobs",
                code="unsupported_parameter",
            )
        return super().reply(
            prompt_logprobs=self.prompt_logprobs,
            token_ids=self.return_token_ids,
            tokens_as_ids=self.return_tokens_as_token_ids,
            **more,
        )


def first_limit(**limits: int | None) -> TokenLimit | None:
    """Return the token limit: the first one that is given, by its field."""
    return next(
        (TokenLimit(count, name) for name, count in limits.items() if count is not None), None
    )
