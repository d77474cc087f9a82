"""Reads the body of POST /v1/chat/completions into a typed tree.

Every field is obeyed, without effect, or refused by name. An explicit null is an absent field.
docs/api.md lists them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from maskwright.errors import InputError
from maskwright.sampling import MOST_LOGPROBS, SamplingParams
from maskwright.server.request.fields import Fields, as_number, invalid, shown
from maskwright.server.request.messages import Message, parse_messages
from maskwright.server.request.own_options import OwnOptions, parse_own_options
from maskwright.server.request.refusals import refuse_unsupported
from maskwright.server.request.shape import FIELDS, Shape, parse_shape
from maskwright.server.request.tool_use import ToolUse, parse_tool_use

MAX_CHOICES = 128
MAX_STOPS = 4
MAX_TOKENS = 1 << 31
SEED_BITS = 64

OBEYED = FIELDS | frozenset(
    {
        "cache_salt",
        "frequency_penalty",
        "logit_bias",
        "logprobs",
        "maskwright",
        "max_completion_tokens",
        "max_tokens",
        "messages",
        "min_p",
        "model",
        "n",
        "parallel_tool_calls",
        "presence_penalty",
        "repetition_penalty",
        "seed",
        "stop",
        "stream",
        "stream_options",
        "temperature",
        "tool_choice",
        "tools",
        "top_k",
        "top_logprobs",
        "top_p",
        "user",
    }
)


@dataclass(frozen=True, slots=True)
class TokenLimit:
    """The client's limit on the tokens of the answer, and the field that contained it."""

    tokens: int
    field: str


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A valid request. Only what depends on the model (lengths, token ids) is not checked yet.

    `user`: the user whose fair share of the engine the request counts towards. `cache_salt`: only
    requests with equal salts share cached prefixes.
    """

    model: str | None
    messages: tuple[Message, ...]
    shape: Shape
    tool_use: ToolUse | None
    limit: TokenLimit | None
    params: SamplingParams
    stop: tuple[str, ...]
    n: int
    stream: bool
    include_usage: bool
    logprobs: bool
    own: OwnOptions
    user: str
    cache_salt: str


def parse_chat_request(tree: dict[str, object]) -> ChatRequest:
    """Read a body. Raises InputError, whose `param` is the dotted path of the first wrong field."""
    body = Fields(tree)
    refuse_unsupported(body, OBEYED)
    own = parse_own_options(body)
    return ChatRequest(
        model=body.string("model"),
        messages=parse_messages(body),
        shape=parse_shape(body),
        tool_use=parse_tool_use(body),
        limit=_limit(body),
        params=_params(body, own),
        stop=_stop(body),
        n=body.integer("n", 1, MAX_CHOICES) or 1,
        stream=body.boolean("stream"),
        include_usage=_include_usage(body),
        logprobs=body.boolean("logprobs"),
        own=own,
        user=body.string("user") or "",
        cache_salt=body.string("cache_salt") or "",
    )


def _limit(body: Fields) -> TokenLimit | None:
    """Read the token limit. `max_completion_tokens` takes precedence over its older name; both are
    checked."""
    old = body.integer("max_tokens", 1, MAX_TOKENS)
    new = body.integer("max_completion_tokens", 1, MAX_TOKENS)
    if new is not None:
        return TokenLimit(new, "max_completion_tokens")
    return None if old is None else TokenLimit(old, "max_tokens")


def _params(body: Fields, own: OwnOptions) -> SamplingParams:
    # Signed, as clients send it, or unsigned, as traces contain it.
    seed = body.integer("seed", -(1 << (SEED_BITS - 1)), (1 << SEED_BITS) - 1)
    top_k = body.integer("top_k", -1, MAX_TOKENS)
    return SamplingParams(
        temperature=body.number("temperature", 0, 2, 1.0),
        top_k=max(top_k or 0, 0),
        top_p=body.number("top_p", 0, 1, 1.0),
        min_p=body.number("min_p", 0, 1, 0.0),
        repetition_penalty=body.number("repetition_penalty", 0.01, 100, 1.0),
        presence_penalty=body.number("presence_penalty", -2, 2, 0.0),
        frequency_penalty=body.number("frequency_penalty", -2, 2, 0.0),
        logit_bias=_logit_bias(body),
        seed=None if seed is None else seed % (1 << SEED_BITS),
        logprobs=_logprobs(body, own),
        scale=own.logprobs,
    )


def _logprobs(body: Fields, own: OwnOptions) -> int | None:
    """Return the number of alternatives for each token; None if the client asks for no scores."""
    wanted, top = body.boolean("logprobs"), body.integer("top_logprobs", 0, MOST_LOGPROBS)
    if top and not wanted:
        raise InputError("top_logprobs needs logprobs to be true", param="top_logprobs")
    return (top or 0) if wanted or own.trace_tokens else None


def _logit_bias(body: Fields) -> Mapping[int, float]:
    fields = body.object("logit_bias")
    if fields is None:
        return {}
    biases: dict[int, float] = {}
    for key, value in fields.values.items():
        if not (key.isascii() and key.isdigit() and len(key) <= 9):
            raise InputError(f"logit_bias: {shown(key)} is not a token id", param="logit_bias")
        bias = as_number(value)
        if bias is None or not -100 <= bias <= 100:
            raise invalid(fields.at(key), "a number from -100 to 100", value)
        biases[int(key)] = bias
    return biases


def _stop(body: Fields) -> tuple[str, ...]:
    texts = body.strings("stop")
    if len(texts) > MAX_STOPS:
        raise InputError(f"stop takes at most {MAX_STOPS} strings", param="stop")
    if "" in texts:
        raise InputError("stop must not hold an empty string", param="stop")
    return texts


def _include_usage(body: Fields) -> bool:
    options = body.object("stream_options")
    return options is not None and options.boolean("include_usage")
