"""The fields that every endpoint has: how answers are generated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from maskwright.errors import InputError
from maskwright.sampling import MOST_LOGPROBS, SamplingParams
from maskwright.server.request.answer_request import (
    GenerationOptions,
    ReplyOptions,
    TokenLimit,
)
from maskwright.server.request.fields import Fields, as_number, invalid, shown, token_id
from maskwright.server.request.own_options import parse_own_options

ALTERNATIVES_EXPLAINED = 8
"""Likeliest tokens of each step that are noted for an explanation."""
MAX_BAD_WORDS = 64
MAX_CHOICES = 128
MAX_ID = 128
MAX_MESSAGE = 1_000
MAX_STOPS = 4
MAX_TOKENS = 1 << 31
SEED_BITS = 64

SAMPLING_FIELDS = frozenset(
    {
        "allowed_token_ids",
        "bad_words",
        "cache_salt",
        "frequency_penalty",
        "ignore_eos",
        "include_stop_str_in_output",
        "logit_bias",
        "maskwright",
        "min_p",
        "min_tokens",
        "n",
        "no_repeat_ngram_size",
        "presence_penalty",
        "repetition_penalty",
        "reasoning_budget_message",
        "request_id",
        "rid",
        "seed",
        "stop",
        "stop_token_ids",
        "temperature",
        "thinking_token_budget",
        "top_k",
        "top_p",
        "truncate_prompt_tokens",
        "truncation_side",
        "user",
    }
)


NUMBERS: Final[Mapping[str, tuple[float, float, float]]] = {
    "frequency_penalty": (-2, 2, 0.0),
    "min_p": (0, 1, 0.0),
    "presence_penalty": (-2, 2, 0.0),
    "repetition_penalty": (0.01, 100, 1.0),
    "temperature": (0, 100, 1.0),
    "top_p": (0, 1, 1.0),
}
"""The lower bound, the upper bound and the default of each field that is a number."""

INTEGERS: Final[Mapping[str, tuple[int, int]]] = {
    "min_tokens": (0, MAX_TOKENS),
    "n": (1, MAX_CHOICES),
    "no_repeat_ngram_size": (0, MAX_TOKENS),
    "prompt_logprobs": (0, MOST_LOGPROBS),
    # Signed, as clients send it, or unsigned, as traces contain it.
    "seed": (-(1 << (SEED_BITS - 1)), (1 << SEED_BITS) - 1),
    "thinking_token_budget": (-1, MAX_TOKENS),
    "top_k": (-1, MAX_TOKENS),
    "truncate_prompt_tokens": (-1, MAX_TOKENS),
}
"""The bounds of each field that is an integer."""

TRUNCATION_SIDES: Final = ("left", "right")
"""The sides from which tokens of a prompt are cut off."""

MOST_BIAS: Final = 100
"""The largest amount of an entry of `logit_bias`."""

TOKEN_FIELDS = frozenset({"prompt_logprobs", "return_token_ids", "return_tokens_as_token_ids"})
"""Fields of `read_token_reply`."""


def read_options(body: Fields, alternatives: int | None) -> GenerationOptions:
    """Read how answers are generated. `alternatives`: how many alternatives to each token the
    client asks for; None if it asks for no log-probabilities."""
    own = parse_own_options(body, scored=alternatives is not None)
    if alternatives is None and own.scores_tokens:
        alternatives = ALTERNATIVES_EXPLAINED if own.explain else 0
    seed = _integer(body, "seed")
    params = SamplingParams(
        temperature=_number(body, "temperature"),
        top_k=max(_integer(body, "top_k") or 0, 0),
        top_p=_number(body, "top_p"),
        min_p=_number(body, "min_p"),
        repetition_penalty=_number(body, "repetition_penalty"),
        presence_penalty=_number(body, "presence_penalty"),
        frequency_penalty=_number(body, "frequency_penalty"),
        logit_bias=_logit_bias(body),
        allowed_tokens=_allowed(body),
        min_tokens=_integer(body, "min_tokens") or 0,
        ignore_eos=body.boolean("ignore_eos"),
        no_repeat_ngram=_integer(body, "no_repeat_ngram_size") or 0,
        seed=None if seed is None else seed % (1 << SEED_BITS),
        logprobs=alternatives,
        scale=own.logprobs,
    )
    return GenerationOptions(
        params=params,
        n=_integer(body, "n") or 1,
        stop=read_stop(body, "stop", MAX_STOPS),
        stop_tokens=_token_ids(body, "stop_token_ids"),
        include_stop=body.boolean("include_stop_str_in_output"),
        bad_words=_bad_words(body),
        kept=_kept(body),
        keeps_beginning=body.choice("truncation_side", TRUNCATION_SIDES) == "right",
        compact=_of_outputs(body, "disable_any_whitespace") or False,
        closed=_of_outputs(body, "disable_additional_properties"),
        thinking_tokens=_thinking(body),
        thinking_last=_thinking_last(body),
        own=own,
        user=body.string("user") or "",
        cache_salt=_salt(body),
    )


def read_limit(body: Fields, *names: str) -> TokenLimit | None:
    """Read the token limit. The first of `names` takes precedence over its older names; all are
    checked."""
    limits = [(name, body.integer(name, 1, MAX_TOKENS)) for name in names]
    return next((TokenLimit(tokens, name) for name, tokens in limits if tokens is not None), None)


def read_stop(body: Fields, name: str, most: int) -> tuple[str, ...]:
    """Read the strings that end an answer, at most `most`, from the field `name`."""
    texts = body.strings(name)
    if len(texts) > most:
        raise InputError(f"{name} takes at most {most} strings", param=name)
    if "" in texts:
        raise InputError(f"{name} must not hold an empty string", param=name)
    return texts


def read_reply(body: Fields) -> ReplyOptions:
    """Read what the client is told by every endpoint."""
    options = body.object("stream_options")
    continuous = options is not None and options.boolean("continuous_usage_stats")
    include_usage = options is not None and options.boolean("include_usage")
    return ReplyOptions(
        stream=body.boolean("stream"),
        include_usage=include_usage or continuous,
        continuous_usage=continuous,
        id=_id(body),
        separate_reasoning=body.boolean("separate_reasoning", default=True),
        include_reasoning=_includes_reasoning(body),
    )


def _includes_reasoning(body: Fields) -> bool:
    is_included = body.boolean("include_reasoning", default=True)
    if not is_included and not body.boolean("separate_reasoning", default=True):
        raise InputError(
            "include_reasoning: false leaves out reasoning that separate_reasoning: false leaves "
            "in the text; send one of them",
            param="include_reasoning",
            code="conflicting_constraints",
        )
    return is_included


def read_token_reply(body: Fields, reply: ReplyOptions) -> ReplyOptions:
    """Add what completions say of tokens, in vLLM's form."""
    prompt_logprobs = _integer(body, "prompt_logprobs")
    if prompt_logprobs is not None and reply.stream:
        raise InputError(
            "prompt_logprobs are returned with whole answers only; leave out stream",
            param="prompt_logprobs",
            code="unsupported_parameter",
        )
    return replace(
        reply,
        prompt_logprobs=prompt_logprobs,
        token_ids=body.boolean("return_token_ids"),
        tokens_as_ids=body.boolean("return_tokens_as_token_ids"),
    )


def _number(body: Fields, name: str) -> float:
    return body.number(name, *NUMBERS[name])


def _integer(body: Fields, name: str) -> int | None:
    return body.integer(name, *INTEGERS[name])


def _id(body: Fields) -> str | None:
    """Read the client's name for the request, which has two spellings."""
    name = body.string("request_id") or body.string("rid")
    if name is not None and len(name) > MAX_ID:
        raise InputError(f"request_id has at most {MAX_ID} characters", param="request_id")
    return name


def _logit_bias(body: Fields) -> Mapping[int, float]:
    fields = body.object("logit_bias")
    if fields is None:
        return {}
    biases: dict[int, float] = {}
    for key, value in fields.values.items():
        if not (key.isascii() and key.isdigit() and len(key) <= 9):
            raise InputError(f"logit_bias: {shown(key)} is not a token id", param="logit_bias")
        bias = as_number(value)
        if bias is None or abs(bias) > MOST_BIAS:
            raise invalid(fields.at(key), f"a number from -{MOST_BIAS} to {MOST_BIAS}", value)
        biases[int(key)] = bias
    return biases


def _bad_words(body: Fields) -> tuple[str, ...]:
    words = body.strings("bad_words")
    if len(words) > MAX_BAD_WORDS:
        raise InputError(f"bad_words takes at most {MAX_BAD_WORDS} strings", param="bad_words")
    if "" in words:
        raise InputError("bad_words must not hold an empty string", param="bad_words")
    return words


def _of_outputs(body: Fields, name: str) -> bool | None:
    """Read an option in vLLM's `structured_outputs`; None if it isn't there."""
    outputs = body.object("structured_outputs")
    return outputs.boolean(name) if outputs is not None and outputs.has(name) else None


def _kept(body: Fields) -> int | None:
    """Read how many tokens of a prompt are kept."""
    return _not_zero(body, "truncate_prompt_tokens")


def _thinking(body: Fields) -> int | None:
    """Read the most tokens of a reasoning section, which vLLM's clients leave open with -1."""
    budget = _integer(body, "thinking_token_budget")
    return None if budget == -1 else budget


def _thinking_last(body: Fields) -> str:
    """Read what a reasoning section says before its end, under the name that llama.cpp has."""
    text = body.string("reasoning_budget_message") or ""
    if len(text) > MAX_MESSAGE:
        raise InputError(
            f"reasoning_budget_message has at most {MAX_MESSAGE} characters",
            param="reasoning_budget_message",
        )
    return text


def _not_zero(body: Fields, name: str) -> int | None:
    value = _integer(body, name)
    if value == 0:
        raise InputError(f"{name} must be -1 or at least 1, not 0", param=name)
    return value


def _salt(body: Fields) -> str:
    """Read the salt of cached prefixes. An empty one would share them with everybody, which is what
    its sender does not want."""
    salt = body.string("cache_salt")
    if salt == "":
        raise InputError("cache_salt must not be empty", param="cache_salt")
    return salt or ""


def _allowed(body: Fields) -> tuple[int, ...] | None:
    tokens = _token_ids(body, "allowed_token_ids")
    if body.has("allowed_token_ids") and not tokens:
        raise InputError("allowed_token_ids must not be empty", param="allowed_token_ids")
    return tokens or None


def _token_ids(body: Fields, name: str) -> tuple[int, ...]:
    return tuple(token_id(item, place, MAX_TOKENS) for item, place in body.items(name) or ())
