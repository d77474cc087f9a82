"""The answers of chat completions and of text completions, whole and streamed."""

from __future__ import annotations

from typing import Final

from maskwright.server.json import Json
from maskwright.server.openapi.builders import (
    NOTHING,
    Schemas,
    array,
    constant,
    either,
    flag,
    integer,
    nullable,
    number,
    one_of,
    record,
    ref,
    text,
)

COUNT: Final[Json] = integer(0)
IDS: Final[Json] = array(COUNT)
LIKELIHOOD: Final[Json] = number(None, 0)
_TEXTS: Final[Json] = array(text())


def answer_schemas() -> Schemas:
    finish = nullable(one_of(("stop", "length", "tool_calls", "function_call")))
    return {
        **_shared(),
        **_told(),
        "ChatCompletion": _completion("chat.completion", _chat_choice(finish, "message")),
        "ChatCompletionChunk": _chunk("chat.completion.chunk", _chat_choice(finish, "delta")),
        "ChatDelta": _said(delta=True),
        "ChatMessage": _said(delta=False),
        "Completion": _completion("text_completion", _text_choice()),
        "CompletionChunk": _chunk("text_completion", _text_choice()),
    }


def _head(kind: str) -> Schemas:
    return {
        "id": text(),
        "object": constant(kind),
        "created": integer(0, about="Seconds since 1970."),
        "model": text(),
        "system_fingerprint": text("Changes with all that may change an answer."),
        "service_tier": constant("default"),
    }


def _completion(kind: str, choice: Json) -> Json:
    more: Schemas = {"prompt_logprobs": ref("PromptLogprobs"), "prompt_token_ids": IDS}
    return record({**_head(kind), "choices": array(choice), "usage": ref("Usage")}, more)


def _chunk(kind: str, choice: Json) -> Json:
    more: Schemas = {"prompt_token_ids": IDS, "usage": nullable(ref("Usage"))}
    about = "The data of one event of a stream."
    return record({**_head(kind), "choices": array(choice)}, more, about)


def _chat_choice(finish: Json, said: str) -> Json:
    body = ref("ChatMessage" if said == "message" else "ChatDelta")
    logprobs = record({"content": array(ref("TokenLogprob")), "refusal": NOTHING})
    return record(
        {"index": COUNT, said: body, "logprobs": nullable(logprobs), "finish_reason": finish},
        _choice_more(),
    )


def _choice_more() -> Schemas:
    about = "The stop string, or the id of the stop token, that ended the answer."
    return {
        "maskwright": ref("Told"),
        "stop_reason": nullable(either(text(), COUNT, about=about)),
        "token_ids": IDS,
    }


def _said(*, delta: bool) -> Json:
    """Describe the message of a whole answer, or its part in one chunk."""
    calls = array(
        either(
            _call("function", {"arguments": text()}, index=delta),
            _call("custom", {"input": text()}, index=delta),
        )
    )
    called = record({}, {"name": text(), "arguments": text()}, "Where `functions` were sent.")
    required: Schemas = {
        "role": constant("assistant"),
        "content": nullable(text()),
        "refusal": NOTHING,
    }
    optional: Schemas = {
        "function_call": called,
        "reasoning": text("The reasoning section, if there is one."),
        "reasoning_content": text("The reasoning section under its other name."),
        "tool_calls": calls,
    }
    return record({}, {**required, **optional}) if delta else record(required, optional)


def _call(kind: str, own: Schemas, *, index: bool) -> Json:
    """Describe a call. `index`: it is a delta of a stream, which sends `id`, `type` and `name`
    once."""
    if not index:
        return record({"id": text(), "type": constant(kind), kind: record({"name": text(), **own})})
    return record(
        {"index": integer(0)},
        {"id": text(), "type": constant(kind), kind: record({}, {"name": text(), **own})},
    )


def _text_choice() -> Json:
    scores = record(
        {
            "tokens": _TEXTS,
            "token_logprobs": array(nullable(LIKELIHOOD)),
            "top_logprobs": array(nullable({"type": "object", "additionalProperties": LIKELIHOOD})),
            "text_offset": IDS,
        }
    )
    own: Schemas = {
        **_choice_more(),
        "prompt_logprobs": ref("PromptLogprobs"),
        "prompt_token_ids": IDS,
    }
    finish = nullable(one_of(("stop", "length")))
    return record(
        {"index": COUNT, "text": text(), "logprobs": nullable(scores), "finish_reason": finish}, own
    )


def _shared() -> Schemas:
    token: Schemas = {"token": text(), "logprob": LIKELIHOOD, "bytes": array(integer(0, 255))}
    ranked = record({"logprob": LIKELIHOOD, "rank": integer(1), "decoded_token": text()})
    by_id: Json = {"type": "object", "additionalProperties": ranked}
    cached = record({"cached_tokens": COUNT})
    return {
        "PromptLogprobs": array(nullable(by_id), "For each token of the prompt; null first."),
        "TokenLogprob": record({**token, "top_logprobs": array(record(token))}),
        "Usage": record(
            {
                "prompt_tokens": COUNT,
                "completion_tokens": COUNT,
                "total_tokens": COUNT,
                "prompt_tokens_details": cached,
                "completion_tokens_details": completion_details(),
            }
        ),
    }


def completion_details() -> Json:
    """Describe the figures about the tokens of answers."""
    return record({"reasoning_tokens": COUNT}, shortening())


def shortening() -> Schemas:
    """Describe what a usage says of a token limit that has changed an answer."""
    about = "The least number of a token that the token limit has changed, of all choices."
    return {"shortened_at": integer(0, about=about)}


def _told() -> Schemas:
    """Return what `maskwright` of a choice holds, for clients that ask for it."""
    entry = record(
        {},
        {
            "keyword": text(),
            "note": text(),
            "param": text(),
            "pointer": text("The JSON Pointer of the schema."),
            "rule": text("A rule of the server."),
            "value": {},
        },
    )
    entries: Schemas = {name: array(entry) for name in ("enforced", "annotations", "bounded")}
    valid = nullable(flag("Null if it is not decided."))
    check: Json = {"type": "object", "required": ["subject", "by", "valid"]}
    report = record(
        {
            "shape": text(),
            "param": nullable(text("The field in which the shape came.")),
            "counts": record(dict.fromkeys(entries, COUNT)),
            **entries,
            "checks": array(check),
            "shortened_at": nullable(
                integer(
                    0,
                    about="The number of the first token that the token limit has changed, or of "
                    "all tokens where it has only cut the answer.",
                )
            ),
            "valid": valid,
        },
        {"tool_choice": text(), "tools": array(record({"name": text(), "param": text()}))},
        "What was enforced, and whether the answer keeps to it.",
    )
    told: Schemas = {
        "report": report,
        "tokens": {"type": "object", "description": "How each token was chosen."},
        "trace": {"type": "object", "description": "Times and counts of the generation."},
    }
    return {"Told": record({}, told, "What the request asked for in its field `maskwright`.")}
