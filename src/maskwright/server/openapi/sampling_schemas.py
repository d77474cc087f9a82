"""The fields that every generating endpoint has."""

from __future__ import annotations

from typing import Final, get_args

from maskwright.grammar.schema.options import AdditionalProperties, Numbers, UnusableTools
from maskwright.sampling import Scale
from maskwright.server.json import Json
from maskwright.server.openapi.builders import (
    Schemas,
    array,
    either,
    flag,
    given,
    integer,
    number,
    one_of,
    record,
    ref,
    text,
)
from maskwright.server.request.sampling_fields import (
    INTEGERS,
    MAX_BAD_WORDS,
    MAX_ID,
    MAX_MESSAGE,
    MAX_STOPS,
    MAX_TOKENS,
    MOST_BIAS,
    NUMBERS,
    TRUNCATION_SIDES,
)

TOKEN_ID: Final[Json] = integer(0, MAX_TOKENS - 1)
_DELTA: Final[Json] = array(
    {"type": ["integer", "boolean", "null"]},
    "The choice, whether the delta ends it, the first token of the choice that its token limit has "
    "changed (null for none), and the tokens of the delta.",
    minItems=3,
)

_ABOUT_NUMBERS: Final = {
    "frequency_penalty": "Lowers a token's logit by this for each time that it has occurred.",
    "min_p": "Least probability of a token, as a share of the likeliest one's; 0 is off.",
    "presence_penalty": "Lowers a token's logit by this if it has occurred.",
    "repetition_penalty": "Makes tokens that have occurred less likely; 1 is off.",
    "temperature": "0 selects the most probable token, without randomness.",
    "top_p": "Only the likeliest tokens with this sum of probabilities are drawn.",
}
_ABOUT_INTEGERS: Final = {
    "min_tokens": "No end and no stop before so many tokens, unless the shape is complete.",
    "n": "The number of independent answers. Default 1.",
    "no_repeat_ngram_size": "No sequence of so many tokens occurs twice; 0 is off.",
    "prompt_logprobs": "Return the log-probabilities of the prompt's tokens, each with so many of "
    "the likeliest tokens. Not in a stream.",
    "seed": "A 64-bit integer, signed or unsigned. A repeated request gets the same answer.",
    "thinking_token_budget": "The most tokens of a reasoning section; 0 is none of them, "
    "-1 no bound.",
    "top_k": "Only so many of the likeliest tokens are drawn; -1 and 0 are off.",
    "truncate_prompt_tokens": "Only so many tokens of the prompt are kept; -1 keeps "
    "as many as leave room for the answer.",
}


def sampling_fields() -> Schemas:
    """Return the schema of each field that is read by `sampling_fields` of the parser."""
    numbers = {
        name: number(low, high, _ABOUT_NUMBERS[name], default=default)
        for name, (low, high, default) in NUMBERS.items()
    }
    integers = {
        name: integer(low, high, _ABOUT_INTEGERS[name]) for name, (low, high) in INTEGERS.items()
    }
    name = "truncate_prompt_tokens"
    integers[name] = {**integers[name], "not": {"const": 0}}
    return {
        **numbers,
        **integers,
        "allowed_token_ids": array(TOKEN_ID, "No other token is chosen.", minItems=1),
        "bad_words": _strings(MAX_BAD_WORDS, "Strings that never occur in the answer."),
        "cache_salt": text("Only requests with equal salts share cached prefixes.", minLength=1),
        "ignore_eos": flag("No end token is chosen.", default=False),
        "include_stop_str_in_output": flag("Stop strings are part of the answer.", default=False),
        "logit_bias": {
            "type": "object",
            "propertyNames": {"pattern": "^[0-9]{1,9}$"},
            "additionalProperties": number(-MOST_BIAS, MOST_BIAS),
            "description": "What is added to the logits of tokens, by their ids.",
        },
        "maskwright": ref("OwnOptions"),
        "reasoning_budget_message": text(
            "What a reasoning section says before its end once it has had all tokens of "
            "thinking_token_budget.",
            maxLength=MAX_MESSAGE,
        ),
        "request_id": text("Becomes a part of the answer's id.", maxLength=MAX_ID),
        "return_token_ids": flag("Return the ids of the tokens.", default=False),
        "return_tokens_as_token_ids": flag("Name tokens `token_id:5`.", default=False),
        "rid": text("Another name of `request_id`.", maxLength=MAX_ID),
        "stop": _strings(MAX_STOPS, "Strings that end the answer."),
        "stop_token_ids": array(TOKEN_ID, "Tokens that end the answer."),
        "truncation_side": one_of(
            TRUNCATION_SIDES, "The side from which tokens of the prompt are cut off. Default left."
        ),
        "user": text("The user whose fair share of the engine the request counts towards."),
    }


def reply_fields() -> Schemas:
    """Return the fields that say how an answer is sent."""
    return {
        "include_reasoning": flag("Reasoning that is apart is returned.", default=True),
        "separate_reasoning": flag(
            "A reasoning section is returned apart from the text.", default=True
        ),
        "stream": flag("Send the answer as server-sent events.", default=False),
        "stream_options": given(
            {},
            {
                "continuous_usage_stats": flag("Every chunk has the usage so far.", default=False),
                "include_usage": flag("The stream ends with the usage.", default=False),
            },
        ),
    }


def own_schemas() -> Schemas:
    """Return the field `maskwright` of requests."""
    continuation = record(
        {
            "key": text(),
            "created": integer(None),
            "seeds": array(integer(0)),
            "deltas": array(_DELTA),
            "events": integer(None),
        },
        about="The beginning of a stream that another server has generated; for routers.",
    )
    options = given(
        {},
        {
            "additional_properties": one_of(
                get_args(AdditionalProperties),
                "Whether objects may have members of which their schema says nothing.",
            ),
            "continuation": continuation,
            "explain": flag("Keep for `/v1/explain` how each token was chosen.", default=False),
            "length_if_shortened": flag(
                "The finish reason of an answer that the token limit has shortened is `length`, "
                "also if its text is whole.",
                default=True,
            ),
            "logprobs": one_of(
                get_args(Scale),
                "The log-probabilities are the model's own (`raw`, the default), or conditional "
                "on the tokens that the shape allows. Needs log-probabilities to be asked for.",
            ),
            "numbers": one_of(
                get_args(Numbers),
                "How numbers in JSON are written: `plain` without an exponent.",
            ),
            "report": flag("Say what was enforced, and check the answer again.", default=False),
            "service": text("The class of service."),
            "timeout": number(
                None,
                None,
                "Most seconds that the answer may take; the server's limit at most.",
                exclusiveMinimum=0,
            ),
            "trace": one_of((False, True, "tokens"), "Return a trace of the generation."),
            "unusable_tools": one_of(
                get_args(UnusableTools),
                "What is done with a tool whose schema can't be used, where it need not be called.",
            ),
        },
        "Options that only this server has.",
        closed=True,
    )
    return {"OwnOptions": options}


def _strings(most: int, about: str) -> Json:
    one = text(minLength=1)
    return either(one, array(one, maxItems=most), about=about)
