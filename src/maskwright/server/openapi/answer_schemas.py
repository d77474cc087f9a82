"""The answers of each protocol, whole and streamed: chat completions, text completions, responses,
and Anthropic's; and those that are no generated text: about the server and its tokenizer, files and
batches, shapes and explanations.
"""

from __future__ import annotations

from typing import Final, get_args

from maskwright.engine import EngineView
from maskwright.records.batch_lines import ENDPOINTS
from maskwright.server.answer.response_writer import CUSTOM, FUNCTION, MESSAGE, REASONING, ItemKind
from maskwright.server.batches.batch_routes import METADATA, PURPOSE
from maskwright.server.batches.stores import TIMED, WINDOW, BatchStatus
from maskwright.server.json import (
    ANYTHING,
    COUNT,
    FLAG,
    NOTHING,
    TEXT,
    Json,
    Schemas,
    array,
    constant,
    each,
    either,
    integer,
    nullable,
    number,
    one_of,
    record,
    ref,
    text,
)
from maskwright.server.observe.figures import FIGURES
from maskwright.server.request.response_request import ECHOED, LABELS

_IDS: Final = array(COUNT)
_LIKELIHOOD: Final = number(None, 0)
_PROBABILITY: Final = number(0)
_TEXTS: Final = array(TEXT)
_BYTES: Final = array(integer(0, 255))
_TEXT_OR_NULL: Final = nullable(TEXT)
_COUNT_OR_NULL: Final = nullable(COUNT)
_EVENT: Final = "The event's `data`; its name is the `type`."
_OWN: Final[Schemas] = {"maskwright": ref("OwnFields")}
_SHORTENED: Final[Schemas] = {
    "shortened_at": integer(
        0, about="The least number of a token that the token limit has changed, of all choices."
    )
}
_DETAILS: Final = record({"reasoning_tokens": COUNT}, _SHORTENED)
"""The figures about the tokens of answers."""


def _typed(type: str, own: Schemas) -> Json:
    return record({"type": constant(type), **own})


# Chat completions and text completions

_OF_PROMPT: Final[Schemas] = {"prompt_logprobs": ref("PromptLogprobs"), "prompt_token_ids": _IDS}
_STOPPED: Final = "The stop string, or the id of the stop token, that ended the answer."
_CHOICE_MORE: Final[Schemas] = {
    **_OWN,
    "stop_reason": nullable(either(TEXT, COUNT, about=_STOPPED)),
    "token_ids": _IDS,
}


def _completion(kind: str, choice: Json, *, chunk: bool = False) -> Json:
    """Describe completions of a `kind`, whole ones or chunks."""
    required: Schemas = {
        **each(TEXT, "id", "model"),
        "object": constant(kind),
        "created": integer(0, about="Seconds since 1970."),
        "system_fingerprint": text("Changes with all that may change an answer."),
        "service_tier": constant("default"),
        "choices": array(choice),
    }
    if chunk:
        more: Schemas = {"prompt_token_ids": _IDS, "usage": nullable(ref("Usage"))}
        return record(required, more, "The data of one event of a stream.")
    return record({**required, "usage": ref("Usage")}, _OF_PROMPT)


def _chat_choice(said: str, body: str) -> Json:
    logprobs = record({"content": array(ref("TokenLogprob")), "refusal": NOTHING})
    finish = one_of(("stop", "length", "tool_calls", "function_call"))
    required: Schemas = {"logprobs": nullable(logprobs), "finish_reason": nullable(finish)}
    return record({"index": COUNT, said: ref(body), **required}, _CHOICE_MORE)


def _said(*, delta: bool) -> Json:
    """Describe the message of a whole answer, or its part in one chunk."""
    kinds = {"function": "arguments", "custom": "input"}
    required: Schemas = {
        "role": constant("assistant"),
        "content": _TEXT_OR_NULL,
        "refusal": NOTHING,
    }
    optional: Schemas = {
        "function_call": record(
            {}, each(TEXT, "name", "arguments"), "Where `functions` were sent."
        ),
        "reasoning": text("The reasoning section, if there is one."),
        "reasoning_content": text("The reasoning section under its other name."),
        "tool_calls": array(either(*(_call(*kind, delta=delta) for kind in kinds.items()))),
    }
    return record({}, {**required, **optional}) if delta else record(required, optional)


def _call(kind: str, field: str, *, delta: bool) -> Json:
    """Describe a call. A delta of a stream has an `index`, and `id`, `type` and `name` once."""
    called = each(TEXT, "name", field)
    own: Schemas = {"id": TEXT, "type": constant(kind)}
    if delta:
        return record({"index": COUNT}, {**own, kind: record({}, called)})
    return record({**own, kind: record(called)})


_SCORE: Final[Schemas] = {"token": TEXT, "logprob": _LIKELIHOOD, "bytes": _BYTES}
_RANKED: Final = record({"logprob": _LIKELIHOOD, "rank": integer(1), "decoded_token": TEXT})
_SCORES_OF_TEXT: Final = record(
    {
        "tokens": _TEXTS,
        "token_logprobs": array(nullable(_LIKELIHOOD)),
        "top_logprobs": array(nullable({"type": "object", "additionalProperties": _LIKELIHOOD})),
        "text_offset": _IDS,
    }
)
_TEXT_CHOICE: Final = record(
    {
        "index": COUNT,
        "text": TEXT,
        "logprobs": nullable(_SCORES_OF_TEXT),
        "finish_reason": nullable(one_of(("stop", "length"))),
    },
    {**_CHOICE_MORE, **_OF_PROMPT},
)
_ENTRY: Final = record(
    {},
    {
        **each(TEXT, "keyword", "note", "param"),
        "pointer": text("The JSON Pointer of the schema."),
        "rule": text("A rule of the server."),
        "value": ANYTHING,
    },
)
_ENTRIES: Final = each(array(_ENTRY), "enforced", "annotations", "bounded")
_REPORT: Final = record(
    {
        "shape": TEXT,
        "param": nullable(text("The field in which the shape came.")),
        "counts": record(each(COUNT, *_ENTRIES)),
        **_ENTRIES,
        "checks": array({"type": "object", "required": ["subject", "by", "valid"]}),
        "shortened_at": nullable(
            integer(
                0,
                about="The number of the first token that the token limit has changed, or of "
                "all tokens where it has only cut the answer.",
            )
        ),
        "valid": nullable({**FLAG, "description": "Null if it is not decided."}),
    },
    {"tool_choice": TEXT, "tools": array(record(each(TEXT, "name", "param")))},
    "What was enforced, and whether the answer keeps to it.",
)
_COMPLETIONS: Final[Schemas] = {
    "ChatCompletion": _completion("chat.completion", _chat_choice("message", "ChatMessage")),
    "ChatCompletionChunk": _completion(
        "chat.completion.chunk", _chat_choice("delta", "ChatDelta"), chunk=True
    ),
    "ChatDelta": _said(delta=True),
    "ChatMessage": _said(delta=False),
    "Completion": _completion("text_completion", _TEXT_CHOICE),
    "CompletionChunk": _completion("text_completion", _TEXT_CHOICE, chunk=True),
    "OwnFields": record(
        {},
        {
            "report": _REPORT,
            "tokens": {"type": "object", "description": "How each token was chosen."},
            "trace": {"type": "object", "description": "Times and counts of the generation."},
        },
        "What the request asked for in its field `maskwright`.",
    ),
    "PromptLogprobs": array(
        nullable({"type": "object", "additionalProperties": _RANKED}),
        "For each token of the prompt; null first.",
    ),
    "TokenLogprob": record({**_SCORE, "top_logprobs": array(record(_SCORE))}),
    "Usage": record(
        {
            **each(COUNT, "prompt_tokens", "completion_tokens", "total_tokens"),
            "prompt_tokens_details": record({"cached_tokens": COUNT}),
            "completion_tokens_details": _DETAILS,
        }
    ),
}

# Responses

KINDS: Final = (MESSAGE, REASONING, FUNCTION, CUSTOM)
_SCORES: Final = array(ref("TokenLogprob"))
_RESPONSE: Final = record(
    {
        **each(TEXT, "id", "model"),
        "object": constant("response"),
        "created_at": COUNT,
        "status": one_of(("in_progress", "completed", "incomplete")),
        **each(NOTHING, "error", "previous_response_id"),
        "incomplete_details": nullable(record({"reason": constant("max_output_tokens")})),
        "output": array(ref("OutputItem")),
        "usage": nullable(
            record(
                {
                    **each(COUNT, "input_tokens", "output_tokens", "total_tokens"),
                    "input_tokens_details": record(
                        each(COUNT, "cached_tokens", "cache_write_tokens")
                    ),
                    "output_tokens_details": _DETAILS,
                }
            )
        ),
        **each(constant(False), "background", "store"),
        "service_tier": constant("default"),
        **each({"description": "As in the request."}, *ECHOED),
        **each(ANYTHING, "text", "reasoning"),
        "tools": array(ANYTHING),
    },
    {**_OWN, **each(TEXT, *LABELS)},
)


def _part(kind: ItemKind) -> Json:
    own: Schemas = {"annotations": array(ANYTHING), "logprobs": _SCORES} if kind is MESSAGE else {}
    return record({"type": constant(kind.part), kind.text: TEXT, **own})


def _item(kind: ItemKind) -> Json:
    own: Schemas = each(TEXT, "call_id", "name", kind.text)
    if kind.part is not None:
        said = {"role": constant("assistant")}
        own = said if kind is MESSAGE else {"summary": array(ANYTHING)}
        own = {**own, "content": array(ref("OutputPart"))}
    status = one_of(("in_progress", "completed", "incomplete"))
    return record({"id": TEXT, "type": constant(kind.type), "status": status, **own})


def _response_events() -> list[Json]:
    whole: Schemas = {"response": ref("Response")}
    item: Schemas = {"output_index": COUNT, "item": ref("OutputItem")}
    place: Schemas = {"item_id": TEXT, "output_index": COUNT}
    part: Schemas = {**place, "content_index": COUNT, "part": ref("OutputPart")}
    events: dict[str, Schemas] = {
        **dict.fromkeys(("created", "in_progress", "completed", "incomplete"), whole),
        **dict.fromkeys(("output_item.added", "output_item.done"), item),
        **dict.fromkeys(("content_part.added", "content_part.done"), part),
    }
    events = {f"response.{name}": own for name, own in events.items()}
    for kind in KINDS:
        own = place if kind.part is None else {**place, "content_index": COUNT}
        if kind is MESSAGE:
            own = {**own, "logprobs": _SCORES}
        name: Schemas = {"name": TEXT} if kind is FUNCTION else {}
        events[f"{kind.event}.delta"] = {**own, "delta": TEXT}
        events[f"{kind.event}.done"] = {**own, kind.text: TEXT, **name}
    failed = {"message": TEXT, **each(_TEXT_OR_NULL, "code", "param")}
    events["error"] = {**failed, "error": {"type": "object"}}
    return [_typed(kind, {"sequence_number": COUNT, **own}) for kind, own in events.items()]


_RESPONSES: Final[Schemas] = {
    "OutputItem": either(*map(_item, KINDS)),
    "OutputPart": either(*(_part(kind) for kind in KINDS if kind.part is not None)),
    "Response": _RESPONSE,
    "ResponseEvent": either(*_response_events(), about=_EVENT),
}

# Anthropic's messages

_STOP: Final[Schemas] = {
    "stop_reason": one_of(("end_turn", "max_tokens", "stop_sequence", "tool_use")),
    "stop_sequence": nullable(text("The string of `stop_sequences` that ended the answer.")),
}
_HEAD: Final[Schemas] = {
    **each(TEXT, "id", "model"),
    "type": constant("message"),
    "role": constant("assistant"),
}
_COUNTED: Final[Schemas] = {"usage": ref("AnthropicUsage")}
_CONTENT: Final = array(ref("AnthropicContent"))
_BEGUN: Final = record(
    {
        **_HEAD,
        "content": {**_CONTENT, "maxItems": 0},
        **each(NOTHING, "stop_reason", "stop_sequence"),
        **_COUNTED,
    }
)
_DELTAS: Final = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
    "input_json_delta": "partial_json",
}
"""The field of each type of delta that has its text."""
_MESSAGES: Final[Schemas] = {
    "AnthropicContent": either(
        _typed("text", {"text": TEXT, "citations": NOTHING}),
        _typed("thinking", each(TEXT, "thinking", "signature")),
        _typed("tool_use", {**each(TEXT, "id", "name"), "input": record({})}),
    ),
    "AnthropicEvent": either(
        _typed("message_start", {"message": _BEGUN}),
        _typed("content_block_start", {"index": COUNT, "content_block": ref("AnthropicContent")}),
        _typed(
            "content_block_delta",
            {
                "index": COUNT,
                "delta": either(*(_typed(type, {name: TEXT}) for type, name in _DELTAS.items())),
            },
        ),
        _typed("content_block_stop", {"index": COUNT}),
        _typed("message_delta", {"delta": record(_STOP, _OWN), **_COUNTED}),
        _typed("message_stop", {}),
        ref("AnthropicError"),
        about=_EVENT,
    ),
    "AnthropicError": _typed(
        "error",
        {
            "error": record(
                {
                    "message": TEXT,
                    "type": text("Anthropic's name of the kind of error."),
                    "param": nullable(
                        text("The dotted path of the field that the error is about.")
                    ),
                    "code": nullable(
                        text("A stable word for programs, as in the other protocols.")
                    ),
                }
            )
        },
    ),
    "AnthropicUsage": record(
        each(
            COUNT,
            *("input_tokens", "cache_creation_input_tokens"),
            *("cache_read_input_tokens", "output_tokens"),
        ),
        _SHORTENED,
        "Tokens of the prompt that were found in the cache are no part of `input_tokens`.",
    ),
    "AnthropicAnswer": record({**_HEAD, "content": _CONTENT, **_STOP, **_COUNTED}, _OWN),
    "InputTokens": record({"input_tokens": COUNT}, {"object": TEXT}),
}

# The server and its tokenizer

_COUNTED_TOKENS: Final[Schemas] = {"count": COUNT, "max_model_len": COUNT, "tokens": _IDS}
_PIECE: Final = record({"id": COUNT, "piece": either(TEXT, _BYTES)})
_SERVICE: Final[Schemas] = {
    "DetokenizedText": record(each(either(TEXT, _TEXTS), "prompt", "content", "text")),
    "Health": record({"status": TEXT}),
    "Load": record({"server_load": integer(0, about="Requests that run or wait.")}),
    "Model": record(
        {
            **each(TEXT, "id", "owned_by"),
            **each(COUNT, "created", "max_model_len"),
            "object": constant("model"),
            "root": text(
                "The model that computes the answers: the model itself, or that of an adapter."
            ),
        },
        {"parent": text("The model to which an adapter belongs.")},
    ),
    "ModelList": record({"object": constant("list"), "data": array(ref("Model"))}),
    "State": record(
        {
            "time": number(0),
            "model": TEXT,
            "healthy": FLAG,
            "max_context": COUNT,
            "figures": {"type": "object", "additionalProperties": nullable(number(None))},
            "metrics": {"type": "object", "additionalProperties": number(None)},
            "recent": array({"type": "object", "description": "A trace, with its `number`."}),
            **each(ANYTHING, *EngineView.__struct_fields__),
        },
        {"history": record(each(array(number(0)), "times", *FIGURES))},
        about="What the dashboard shows.",
    ),
    "TokenizedText": either(
        record({**_COUNTED_TOKENS, "token_strs": nullable(_TEXTS)}),
        record({"count": _IDS, "max_model_len": COUNT, "tokens": array(_IDS)}),
        record({"tokens": either(_IDS, array(_PIECE))}),
    ),
    "Version": record({"version": TEXT}),
}

# Files and batches

_MISTAKE: Final = record(
    {**each(TEXT, "code", "message"), "param": _TEXT_OR_NULL, "line": _COUNT_OR_NULL}
)


def _page(name: str) -> Json:
    places = each(TEXT, "first_id", "last_id")
    return record(
        {"object": constant("list"), "data": array(ref(name)), **places, "has_more": FLAG}
    )


_BATCHES: Final[Schemas] = {
    "Batch": record(
        {
            **each(TEXT, "id", "input_file_id"),
            "object": constant("batch"),
            "endpoint": one_of(ENDPOINTS),
            "errors": nullable(record({"object": constant("list"), "data": array(_MISTAKE)})),
            "completion_window": constant(WINDOW),
            "status": one_of(get_args(BatchStatus)),
            **each(_TEXT_OR_NULL, "output_file_id", "error_file_id"),
            **each(COUNT, "created_at", "expires_at"),
            **each(_COUNT_OR_NULL, *(f"{status}_at" for status in TIMED)),
            "request_counts": record(each(COUNT, "total", "completed", "failed")),
            "metadata": nullable(METADATA),
        }
    ),
    "BatchList": _page("Batch"),
    "DeletedFile": record({"id": TEXT, "object": constant("file"), "deleted": FLAG}),
    "File": record(
        {
            **each(TEXT, "id", "filename", "purpose"),
            **each(COUNT, "bytes", "created_at"),
            "object": constant("file"),
            "status": constant("processed"),
            **each(NOTHING, "status_details", "expires_at"),
        }
    ),
    "FileList": _page("File"),
    "FileUpload": record(
        {"file": {"contentMediaType": "application/jsonl"}, "purpose": constant(PURPOSE)}
    ),
}

# Shapes and explanations

_TOKEN: Final[Schemas] = {"token": COUNT, "text": TEXT}
_STEP: Final = record(
    {
        **_TOKEN,
        "forced": FLAG,
        "allowed": COUNT,
        **each(_LIKELIHOOD, "raw", "masked"),
        "kept": _PROBABILITY,
        "wanted": array(record({**_TOKEN, "raw": _LIKELIHOOD})),
    }
)
_PLACE: Final = each(nullable(integer(1)), "line", "column")
_POINTER: Final[Schemas] = {"pointer": _TEXT_OR_NULL}
_WORKBENCH: Final[Schemas] = {
    "CheckedShape": record(
        {
            "usable": FLAG,
            "fault": nullable(record({**each(TEXT, "message", "code"), **_PLACE, **_POINTER})),
            "findings": array(
                record({**_POINTER, **each(TEXT, "severity", "rule", "message"), **_PLACE})
            ),
        },
        {
            **each(_COUNT_OR_NULL, "enforced", "annotations", "shortest_bytes"),
            "milliseconds": number(0),
        },
    ),
    "DrawnShape": record({"as": TEXT, "svg": text(contentMediaType="image/svg+xml")}),
    "Examples": record(
        {
            "examples": array(
                record(
                    {
                        **each(TEXT, "name", "kind", "shape"),
                        **each(_TEXTS, "accepted", "rejected"),
                    }
                )
            )
        }
    ),
    "ExplainedAnswer": record(
        {
            "id": TEXT,
            "choice": COUNT,
            "counts": record(each(COUNT, "tokens", "forced")),
            "kept": record(each(nullable(_PROBABILITY), "mean", "least")),
            "wanted": array(record({**_TOKEN, "probability": _PROBABILITY, "steps": COUNT})),
            "steps": array(_STEP),
        }
    ),
    "ExplainedText": record(
        {
            "verdict": one_of(("match", "incomplete", "mismatch")),
            "accepted": integer(0, about="The bytes that are allowed."),
            **each(FLAG, "may_end", "exact"),
            "forced": TEXT,
            "allowed": text("The characters that may follow, in words."),
            "ranges": array(array(COUNT, minItems=2, maxItems=2)),
            "count": _COUNT_OR_NULL,
            "continuations": record({"forced": TEXT, "options": _TEXTS}),
            "place": record(
                {
                    "waits_for": _TEXT_OR_NULL,
                    "instance": nullable(text("A JSON Pointer.")),
                    "schemas": _TEXTS,
                    "rules": array(_TEXTS),
                }
            ),
            "tokens": record(
                {**each(COUNT, "count", "of"), "ids": _IDS, "texts": _TEXTS}, {"candidates": _IDS}
            ),
        },
        {
            "offset": COUNT,
            **each(integer(1), "line", "column"),
            "terminals": array(
                record({"rules": _TEXTS, "kind": TEXT, **each(_TEXT_OR_NULL, "text", "rest")})
            ),
            "reasons": array(record({**_POINTER, **each(TEXT, "name", "value", "note")})),
            "reasons_complete": FLAG,
            "nearest": array(
                record(
                    {
                        "offset": COUNT,
                        **each(TEXT, "replaces", "by"),
                        "edits": _COUNT_OR_NULL,
                    }
                )
            ),
        },
    ),
    "SampledShape": record({"texts": _TEXTS}),
}

ANSWER_SCHEMAS: Final[Schemas] = {
    **_COMPLETIONS,
    **_RESPONSES,
    **_MESSAGES,
    **_SERVICE,
    **_BATCHES,
    **_WORKBENCH,
}
"""The schemas of all answers but errors, by their names in the document."""
