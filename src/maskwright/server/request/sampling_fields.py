"""The fields that every endpoint has that generates: how answers are generated, and what the client
receives of them. A new one is a field here, and a line that obeys it in `options` or `reply`.

Fields that would change the answer and are not obeyed are refused by name, never ignored. Values
without an effect are accepted (`logprobs: false`, `functions: []`). Unknown fields are accepted
too, as by every server of this protocol, unless the name looks like a constraint or resembles the
name of a field that is obeyed, because a typing error must not drop the field.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Annotated, Any, ClassVar, Final, Literal, Self, cast

from pydantic import Field, WithJsonSchema

from maskwright.errors import InputError
from maskwright.sampling import MOST_LOGPROBS, SamplingParams
from maskwright.server.json import Json
from maskwright.server.request.answer_request import (
    AnswerRequest,
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
from maskwright.server.request.shape import ShapeFields

_REFUSED: Final[Mapping[str, tuple[tuple[object, ...], str]]] = {
    "add_special_tokens": ((False, True), ""),
    "audio": ((), ""),
    "background": ((False,), "wait for the answer, or stream it"),
    "best_of": ((1,), ""),
    "candidate_count": ((1,), "send n"),
    "chat_template": ((), "chat_template_kwargs sets variables of the model's own template"),
    "choice": ((), "send guided_choice"),
    "choices": ((), "send guided_choice"),
    "context_management": (([], {}, {"edits": []}), "send the messages that the model shall read"),
    "conversation": ((), "nothing is stored here, so send the whole conversation as input"),
    "custom_logit_processor": ((), "code of clients is not run"),
    "custom_params": (({},), ""),
    "do_sample": ((True,), "send temperature: 0, or leave it out"),
    "dry_multiplier": ((0,), ""),
    "dynatemp_range": ((0,), ""),
    "ec_transfer_params": (({},), ""),
    "echo": ((False,), "send the prompt to /v1/completions"),
    "enable_response_messages": ((False,), ""),
    "enable_thinking": ((), "chat_template_kwargs sets variables of the model's own template"),
    "eos_token_id": ((), "send stop_token_ids"),
    "extra_body": (({},), "send its fields in the body itself"),
    "generation_config": (
        ({},),
        "send its settings in the body itself, and a schema as response_format",
    ),
    "guided_json_object": ((False,), ""),
    "guided_whitespace_pattern": (
        (),
        "structured_outputs.disable_any_whitespace asks for no whitespace",
    ),
    "input": ((), "send messages, or send it to /v1/responses"),
    "input_ids": ((), "send token ids as the prompt to /v1/completions"),
    "instructions": ((), "send a message with the role 'system'"),
    "json": ((), "send response_format"),
    "kv_transfer_params": (({},), ""),
    "length_penalty": ((1,), ""),
    "logit_processors": (([],), ""),
    "logits_processors": (([],), ""),
    "logprob_token_ids": ((), "send logprobs and top_logprobs"),
    "lora": (([],), "name an adapter as the model"),
    "lora_path": ((), "name an adapter as the model"),
    "max_length": ((), "send max_tokens"),
    "max_output_tokens": ((), "this endpoint calls it max_tokens"),
    "min_length": ((0,), "send min_tokens"),
    "min_keep": ((0,), ""),
    "mirostat": ((0,), ""),
    "modalities": ((["text"],), ""),
    "n_cmpl": ((1,), "send n"),
    "n_indent": ((0,), ""),
    "n_predict": ((-1,), "send max_tokens"),
    "n_probs": ((0,), "send logprobs and top_logprobs"),
    "no_stop_trim": ((False,), ""),
    "num_beams": ((1,), ""),
    "num_predict": ((-1,), "send max_tokens"),
    "num_return_sequences": ((1,), "send n"),
    "nvext": (({},), "send its fields in the body itself"),
    "options": (({},), "send its settings in the body itself, and a schema as response_format"),
    "output_config": (({},), "send response_format, and reasoning_effort"),
    "pattern": ((), "send regex"),
    "post_sampling_probs": ((False,), "send maskwright.logprobs"),
    "previous_input_messages": (([],), "send the whole conversation as input"),
    "previous_response": ((), "send the whole conversation as input"),
    "previous_response_id": ((), "nothing is stored here, so send the whole conversation as input"),
    "priority": ((0,), "put the request into a class with maskwright.service"),
    "prompt_embeds": (([],), ""),
    "prompt_token_ids": ((), "send token ids as the prompt to /v1/completions"),
    "random_seed": ((), "send seed"),
    "reasoning": (({},), "send reasoning_effort"),
    "reasoning_budget": ((-1,), "send thinking_token_budget"),
    "reasoning_budget_tokens": ((-1,), "send thinking_token_budget"),
    "reasoning_format": (
        ("auto", "deepseek"),
        "separate_reasoning: false leaves reasoning in the text",
    ),
    "reasoning_in_content": ((False,), "separate_reasoning: false leaves reasoning in the text"),
    "repeat_penalty": ((1,), "send repetition_penalty"),
    "repetition_detection": ((), ""),
    "response_fields": (([],), ""),
    "return_cached_tokens_details": ((False,), ""),
    "return_hidden_states": ((False,), ""),
    "return_meta_info": ((False,), ""),
    "return_prompt_text": ((False,), "send return_token_ids, and these to /detokenize"),
    "return_prompt_token_ids": ((False,), "send return_token_ids"),
    "return_routed_experts": ((False,), ""),
    "return_token_offsets": ((False,), ""),
    "return_tokens": ((False,), "send return_token_ids"),
    "safe_prompt": ((False,), ""),
    "samplers": (([],), ""),
    "sampling_params": (({},), "send its fields in the body itself"),
    "session_params": (({},), ""),
    "skip_special_tokens": ((True,), "control tokens are never part of a text"),
    "stop_regex": ((), ""),
    "stop_sequences": (([],), "send stop"),
    "stop_strings": (([],), "send stop"),
    "stop_words": (([],), "send stop"),
    "stream_reasoning": ((True,), ""),
    "system": ((), "send a message with the role 'system'"),
    "system_instruction": ((), "send a message with the role 'system'"),
    "system_prompt": ((), "send a message with the role 'system'"),
    "t_max_predict_ms": ((0, -1), "send maskwright.timeout"),
    "tfs_z": ((1,), ""),
    "thinking": ((), "send reasoning_effort, or chat_template_kwargs"),
    "thinking_budget_tokens": ((-1,), "send thinking_token_budget"),
    "top_a": ((0,), ""),
    "top_n_sigma": ((-1,), ""),
    "typ_p": ((1,), ""),
    "typical_p": ((1,), ""),
    "use_beam_search": ((False,), ""),
    "vllm_xargs": (({},), ""),
    "watermark": ((False,), ""),
    "watermarking": ((False,), ""),
    "web_search_options": ((), ""),
    "xtc_probability": ((0,), ""),
}
"""Fields that every endpoint refuses that doesn't have them: the values without an effect, and what
to do instead, where that is more than to leave it out."""

NEUTRAL: Final = {name: neutral for name, (neutral, _) in _REFUSED.items()}
"""The values without an effect, by field."""

WAYS_OUT: Final[Mapping[str, str]] = {
    **{name: way_out for name, (_, way_out) in _REFUSED.items() if way_out},
    "function_call": "send tools and tool_choice",
    "functions": "send tools",
    "max_completion_tokens": "this endpoint calls it max_output_tokens",
    "max_tokens": "this endpoint calls it max_output_tokens",
    "messages": "send them to /v1/chat/completions",
    "prompt_logprobs": "send the request to /v1/chat/completions or /v1/completions",
    "prompt": "templates of prompts are not stored here, so send input",
    "reasoning_effort": "send it to /v1/chat/completions, or as reasoning.effort to /v1/responses",
    "response_format": "this endpoint calls it text.format",
    "text.format": "send response_format",
    "tools": "send them to /v1/chat/completions",
    "top_logprobs": "this endpoint calls it logprobs",
    "suffix": "this model continues texts, and has no other mode",
}
"""What to do instead, by field; also of fields that only some endpoints refuse."""

# Parts of names, in lower case without underscores, that suggest a constraint on the answer.
CONSTRAINT_WORDS = (
    "constraint",
    "ebnf",
    "format",
    "grammar",
    "guided",
    "jsonmode",
    "jsonobject",
    "regex",
    "schema",
    "structur",
)


_OTHERS = (
    "cache_prompt dry_allowed_length dry_base dry_penalty_last_n dry_sequence_breakers "
    "dynatemp_exponent guided_decoding_backend id_slot include max_tool_calls "
    "media_io_kwargs metadata mirostat_eta mirostat_tau mm_processor_kwargs moderation "
    "n_discard n_keep prediction prompt_cache_key prompt_cache_options prompt_cache_retention "
    "repeat_last_n return_progress safety_identifier service_tier "
    "session_id spaces_between_special_tokens store stream_interval text timings_per_token "
    "truncation verbosity xtc_threshold"
)
HARMLESS = frozenset(_OTHERS.split())
"""Fields of other servers that have no effect here, and are never taken for misspelt names."""

LEAST_NAME = 3
"""Letters of a name that may be misspelt: `id` is no `rid`."""

NEAR = 0.8
"""Likeness (`difflib`'s ratio) from which on a name is taken for a misspelt one: of `temprature`
and `max_token` it is 0.95, of `top_k` and `top_p` 0.8, of `prompt` and `stop` 0.6."""


def refuse_unsupported(
    body: Json,
    known: frozenset[str],
    neutral: Mapping[str, tuple[object, ...]] = NEUTRAL,
    ways_out: Mapping[str, str] = WAYS_OUT,
) -> None:
    """Raise InputError for the first field that is not in `known` and would have to be obeyed.
    `neutral`, `ways_out`: the fields of the endpoint with the values without an effect, and what
    to do instead."""
    if "text" not in known:
        _refuse_format(body.get("text"), ways_out)
    for name, value in body.items():
        if value is None or name in known or name in HARMLESS:
            continue
        if name in neutral:
            _refuse_unless_neutral(name, value, neutral[name], ways_out)
        elif any(word in name.lower().replace("_", "") for word in CONSTRAINT_WORDS):
            raise InputError(
                f"unknown field {shown(name)} looks like a constraint on the answer, which this "
                "server would not enforce; use response_format",
                param=name,
                code="unknown_field",
            )
        else:
            _refuse_misspelt(name, known, neutral, ways_out)


def _refuse_format(text: object, ways_out: Mapping[str, str]) -> None:
    """Refuse a shape where the responses protocol has it, in another one. What else it says there
    is without effect."""
    match text:
        case {"format": dict(format)} if cast(Mapping[str, object], format).get("type") != "text":
            raise InputError(
                f"text.format is not supported by this server; {ways_out['text.format']}",
                param="text.format",
                code="unsupported_parameter",
            )
        case _:
            pass


def _refuse_misspelt(
    name: str, known: frozenset[str], neutral: Iterable[str], ways_out: Mapping[str, str]
) -> None:
    near = get_close_matches(name.lower(), known.union(neutral), n=1, cutoff=NEAR)
    if not near or len(name) < LEAST_NAME:
        return
    [meant] = near
    advice = f"did you mean {shown(meant)}?"
    if meant not in known and meant in ways_out:  # which would be refused as well
        advice = f"as for {shown(meant)}, {ways_out[meant]}"
    raise InputError(f"unknown field {shown(name)}; {advice}", param=name, code="unknown_field")


def _refuse_unless_neutral(
    name: str, value: object, neutral: tuple[object, ...], ways_out: Mapping[str, str]
) -> None:
    if any(isinstance(value, bool) == isinstance(each, bool) and value == each for each in neutral):
        return  # a number is no truth value, though Python takes 0 for False
    raise InputError(
        f"{name} is not supported by this server; {ways_out.get(name, 'leave it out')}",
        param=name,
        code="unsupported_parameter",
    )


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

    PLACE: ClassVar[str]
    """The field that contains the prompts."""
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

    @classmethod
    def parse(cls, tree: Json) -> AnswerRequest:
        """Read a body. Raises InputError, whose `param` is the dotted path of the first wrong
        field."""
        return cls.read(tree).answer()

    def answer(self) -> AnswerRequest:
        """Return what is asked for. Raises InputError as `parse` does."""
        raise NotImplementedError

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
