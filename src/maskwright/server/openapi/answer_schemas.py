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
from maskwright.server.json import Json
from maskwright.server.observe.figures import FIGURES
from maskwright.server.openapi.builders import (
    ANYTHING,
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
from maskwright.server.request.response_request import ECHOED, LABELS

COUNT: Final[Json] = integer(0)
IDS: Final[Json] = array(COUNT)
LIKELIHOOD: Final[Json] = number(None, 0)
_TEXTS: Final[Json] = array(text())
_STOPPED: Final = "The stop string, or the id of the stop token, that ended the answer."
_CHOICE_MORE: Final[Schemas] = {
    "maskwright": ref("OwnFields"),
    "stop_reason": nullable(either(text(), COUNT, about=_STOPPED)),
    "token_ids": IDS,
}
_OF_PROMPT: Final[Schemas] = {"prompt_logprobs": ref("PromptLogprobs"), "prompt_token_ids": IDS}
_EVENT: Final = "The event's `data`; its name is the `type`."


def _typed(type: str, own: Schemas) -> Json:
    return record({"type": constant(type), **own})


def answer_schemas() -> Schemas:
    finish = nullable(one_of(("stop", "length", "tool_calls", "function_call")))
    return {
        **_shared(),
        **_own_fields(),
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
    return record({**_head(kind), "choices": array(choice), "usage": ref("Usage")}, _OF_PROMPT)


def _chunk(kind: str, choice: Json) -> Json:
    more: Schemas = {"prompt_token_ids": IDS, "usage": nullable(ref("Usage"))}
    about = "The data of one event of a stream."
    return record({**_head(kind), "choices": array(choice)}, more, about)


def _chat_choice(finish: Json, said: str) -> Json:
    body = ref("ChatMessage" if said == "message" else "ChatDelta")
    logprobs = record({"content": array(ref("TokenLogprob")), "refusal": NOTHING})
    return record(
        {"index": COUNT, said: body, "logprobs": nullable(logprobs), "finish_reason": finish},
        _CHOICE_MORE,
    )


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
    finish = nullable(one_of(("stop", "length")))
    return record(
        {"index": COUNT, "text": text(), "logprobs": nullable(scores), "finish_reason": finish},
        {**_CHOICE_MORE, **_OF_PROMPT},
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


def _own_fields() -> Schemas:
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
    fields: Schemas = {
        "report": report,
        "tokens": {"type": "object", "description": "How each token was chosen."},
        "trace": {"type": "object", "description": "Times and counts of the generation."},
    }
    return {
        "OwnFields": record({}, fields, "What the request asked for in its field `maskwright`.")
    }


KINDS: Final = (MESSAGE, REASONING, FUNCTION, CUSTOM)
_SCORES: Final[Json] = array(ref("TokenLogprob"))
_ITEM: Final[Schemas] = {"output_index": COUNT, "item": ref("OutputItem")}


def response_schemas() -> Schemas:
    parts = [_part(kind) for kind in KINDS if kind.part is not None]
    return {
        "OutputItem": either(*map(_item, KINDS)),
        "OutputPart": either(*parts),
        "Response": _response(),
        "ResponseEvent": either(*_events(), about=_EVENT),
    }


def _response() -> Json:
    usage = record(
        {
            "input_tokens": COUNT,
            "input_tokens_details": record({"cached_tokens": COUNT, "cache_write_tokens": COUNT}),
            "output_tokens": COUNT,
            "output_tokens_details": completion_details(),
            "total_tokens": COUNT,
        }
    )
    incomplete = record({"reason": constant("max_output_tokens")})
    echoed: Schemas = {name: {"description": "As in the request."} for name in ECHOED}
    return record(
        {
            "id": text(),
            "object": constant("response"),
            "created_at": COUNT,
            "model": text(),
            "status": one_of(("in_progress", "completed", "incomplete")),
            "error": NOTHING,
            "incomplete_details": nullable(incomplete),
            "output": array(ref("OutputItem")),
            "usage": nullable(usage),
            "background": constant(False),
            "previous_response_id": NOTHING,
            "service_tier": constant("default"),
            "store": constant(False),
            **echoed,
            "text": ANYTHING,
            "tools": array(ANYTHING),
            "reasoning": ANYTHING,
        },
        {"maskwright": ref("OwnFields"), **dict.fromkeys(LABELS, text())},
    )


def _part(kind: ItemKind) -> Json:
    own: Schemas = {"annotations": array(ANYTHING), "logprobs": _SCORES} if kind is MESSAGE else {}
    return record({"type": constant(kind.part), kind.text: text(), **own})


def _item(kind: ItemKind) -> Json:
    status = one_of(("in_progress", "completed", "incomplete"))
    head: Schemas = {"id": text(), "type": constant(kind.type), "status": status}
    own: dict[ItemKind, Schemas] = {
        MESSAGE: {"role": constant("assistant")},
        REASONING: {"summary": array(ANYTHING)},
    }
    named: Schemas = {"call_id": text(), "name": text(), kind.text: text()}
    content: Schemas = {"content": array(ref("OutputPart"))}
    return record({**head, **(named if kind.part is None else {**own[kind], **content})})


def _events() -> list[Json]:
    whole: Schemas = {"response": ref("Response")}
    place: Schemas = {"item_id": text(), "output_index": COUNT}
    part: Schemas = {**place, "content_index": COUNT, "part": ref("OutputPart")}
    events = [
        *(_event(f"response.{name}", whole) for name in ("created", "in_progress")),
        *(_event(f"response.{name}", whole) for name in ("completed", "incomplete")),
        *(_event(f"response.output_item.{name}", _ITEM) for name in ("added", "done")),
        *(_event(f"response.content_part.{name}", part) for name in ("added", "done")),
    ]
    for kind in KINDS:
        own = dict(place) if kind.part is None else {**place, "content_index": COUNT}
        if kind is MESSAGE:
            own["logprobs"] = _SCORES
        name: Schemas = {"name": text()} if kind is FUNCTION else {}
        events.append(_event(f"{kind.event}.delta", {**own, "delta": text()}))
        events.append(_event(f"{kind.event}.done", {**own, kind.text: text(), **name}))
    failed: Schemas = {
        "code": nullable(text()),
        "message": text(),
        "param": nullable(text()),
        "error": {"type": "object"},
    }
    return [*events, _event("error", failed)]


def _event(kind: str, own: Schemas) -> Json:
    return _typed(kind, {"sequence_number": COUNT, **own})


_STOP: Final[Schemas] = {
    "stop_reason": one_of(("end_turn", "max_tokens", "stop_sequence", "tool_use")),
    "stop_sequence": nullable(text("The string of `stop_sequences` that ended the answer.")),
}
_OWN: Final[Schemas] = {"maskwright": ref("OwnFields")}
_MESSAGE_HEAD: Final[Schemas] = {
    "id": text(),
    "type": constant("message"),
    "role": constant("assistant"),
    "model": text(),
}
_COUNTED: Final[Schemas] = {"usage": ref("AnthropicUsage")}


def anthropic_schemas() -> Schemas:
    return {
        "AnthropicContent": _content(),
        "AnthropicEvent": either(*_message_events(), about=_EVENT),
        "AnthropicError": _error(),
        "AnthropicUsage": _usage(),
        "AnthropicAnswer": record(
            {**_MESSAGE_HEAD, "content": array(ref("AnthropicContent")), **_STOP, **_COUNTED},
            _OWN,
        ),
        "InputTokens": record({"input_tokens": COUNT}, {"object": text()}),
    }


def _content() -> Json:
    """Describe a block of an answer."""
    return either(
        record({"type": constant("text"), "text": text(), "citations": NOTHING}),
        record({"type": constant("thinking"), "thinking": text(), "signature": text()}),
        record({"type": constant("tool_use"), "id": text(), "name": text(), "input": record({})}),
    )


def _usage() -> Json:
    counts = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    about = "Tokens of the prompt that were found in the cache are no part of `input_tokens`."
    return record({**dict.fromkeys(counts, COUNT), "output_tokens": COUNT}, shortening(), about)


def _error() -> Json:
    error = record(
        {
            "message": text(),
            "type": text("Anthropic's name of the kind of error."),
            "param": nullable(text("The dotted path of the field that the error is about.")),
            "code": nullable(text("A stable word for programs, as in the other protocols.")),
        }
    )
    return record({"type": constant("error"), "error": error})


def _message_events() -> list[Json]:
    begun = record(
        {
            **_MESSAGE_HEAD,
            "content": array(ref("AnthropicContent"), maxItems=0),
            "stop_reason": NOTHING,
            "stop_sequence": NOTHING,
            **_COUNTED,
        }
    )
    pieces = (
        ("text_delta", "text"),
        ("thinking_delta", "thinking"),
        ("signature_delta", "signature"),
        ("input_json_delta", "partial_json"),
    )
    delta = either(*(record({"type": constant(kind), name: text()}) for kind, name in pieces))
    index: Schemas = {"index": COUNT}
    return [
        _typed("message_start", {"message": begun}),
        _typed("content_block_start", {**index, "content_block": ref("AnthropicContent")}),
        _typed("content_block_delta", {**index, "delta": delta}),
        _typed("content_block_stop", index),
        _typed("message_delta", {"delta": record(_STOP, _OWN), **_COUNTED}),
        _typed("message_stop", {}),
        ref("AnthropicError"),
    ]


def service_schemas() -> Schemas:
    return {
        "DetokenizedText": _detokenized(),
        "Health": record({"status": text()}),
        "Load": record({"server_load": integer(0, about="Requests that run or wait.")}),
        "Model": _model(),
        "ModelList": record({"object": constant("list"), "data": array(ref("Model"))}),
        "State": _state(),
        "TokenizedText": _tokenized(),
        "Version": record({"version": text()}),
    }


def _model() -> Json:
    return record(
        {
            "id": text(),
            "object": constant("model"),
            "created": COUNT,
            "owned_by": text(),
            "root": text(
                "The model that computes the answers: the model itself, or that of an adapter."
            ),
            "max_model_len": COUNT,
        },
        {"parent": text("The model to which an adapter belongs.")},
    )


def _state() -> Json:
    figures: Json = {"type": "object", "additionalProperties": nullable(number(None))}
    metrics: Json = {"type": "object", "additionalProperties": number(None)}
    return record(
        {
            "time": number(0),
            "model": text(),
            "healthy": flag(),
            "max_context": COUNT,
            "figures": figures,
            "metrics": metrics,
            "recent": array({"type": "object", "description": "A trace, with its `number`."}),
            **dict.fromkeys(EngineView.__struct_fields__, ANYTHING),
        },
        {"history": record(dict.fromkeys(("times", *FIGURES), array(number(0))))},
        about="What the dashboard shows.",
    )


def _tokenized() -> Json:
    piece = record({"id": COUNT, "piece": either(text(), array(integer(0, 255)))})
    counted: Schemas = {"count": COUNT, "max_model_len": COUNT, "tokens": IDS}
    return either(
        record({**counted, "token_strs": nullable(_TEXTS)}),
        record({"count": IDS, "max_model_len": COUNT, "tokens": array(IDS)}),
        record({"tokens": either(IDS, array(piece))}),
    )


def _detokenized() -> Json:
    joined = either(text(), _TEXTS)
    return record({"prompt": joined, "content": joined, "text": joined})


def batch_schemas() -> Schemas:
    upload = record(
        {"file": {"contentMediaType": "application/jsonl"}, "purpose": constant(PURPOSE)}
    )
    deleted = record({"id": text(), "object": constant("file"), "deleted": flag()})
    return {
        "Batch": _batch(),
        "BatchList": _page("Batch"),
        "DeletedFile": deleted,
        "File": _file(),
        "FileList": _page("File"),
        "FileUpload": upload,
    }


def _file() -> Json:
    return record(
        {
            "id": text(),
            "object": constant("file"),
            "filename": text(),
            "purpose": text(),
            "bytes": COUNT,
            "created_at": COUNT,
            "status": constant("processed"),
            "status_details": NOTHING,
            "expires_at": NOTHING,
        }
    )


def _batch() -> Json:
    error = record(
        {"code": text(), "message": text(), "param": nullable(text()), "line": nullable(COUNT)}
    )
    errors = record({"object": constant("list"), "data": array(error)})
    counts = record(dict.fromkeys(("total", "completed", "failed"), COUNT))
    return record(
        {
            "id": text(),
            "object": constant("batch"),
            "endpoint": one_of(ENDPOINTS),
            "errors": nullable(errors),
            "input_file_id": text(),
            "completion_window": constant(WINDOW),
            "status": one_of(get_args(BatchStatus)),
            "output_file_id": nullable(text()),
            "error_file_id": nullable(text()),
            "created_at": COUNT,
            "expires_at": COUNT,
            **{f"{status}_at": nullable(COUNT) for status in TIMED},
            "request_counts": counts,
            "metadata": nullable(METADATA),
        }
    )


def _page(name: str) -> Json:
    return record(
        {
            "object": constant("list"),
            "data": array(ref(name)),
            "first_id": text(),
            "last_id": text(),
            "has_more": flag(),
        }
    )


_PROBABILITY: Final[Json] = number(0)


def workbench_schemas() -> Schemas:
    example: Schemas = {"name": text(), "kind": text(), "shape": text()}
    cases: Schemas = {"accepted": _TEXTS, "rejected": _TEXTS}
    return {
        "CheckedShape": _checked(),
        "DrawnShape": record({"as": text(), "svg": text(contentMediaType="image/svg+xml")}),
        "Examples": record({"examples": array(record({**example, **cases}))}),
        "ExplainedAnswer": _explained_answer(),
        "ExplainedText": _explained_text(),
        "SampledShape": record({"texts": _TEXTS}),
    }


def _checked() -> Json:
    place: Schemas = {"line": nullable(integer(1)), "column": nullable(integer(1))}
    pointer: Schemas = {"pointer": nullable(text())}
    fault = record({"message": text(), "code": text(), **place, **pointer})
    said: Schemas = {"severity": text(), "rule": text(), "message": text()}
    figures: Schemas = {
        "enforced": nullable(COUNT),
        "annotations": nullable(COUNT),
        "shortest_bytes": nullable(COUNT),
        "milliseconds": number(0),
    }
    return record(
        {
            "usable": flag(),
            "fault": nullable(fault),
            "findings": array(record({**pointer, **said, **place})),
        },
        figures,
    )


def _explained_text() -> Json:
    reason = record({"pointer": nullable(text()), "name": text(), "value": text(), "note": text()})
    near = record(
        {"offset": COUNT, "replaces": text(), "by": text(), "edits": nullable(integer(0))}
    )
    tokens = record({"count": COUNT, "of": COUNT, "ids": IDS, "texts": _TEXTS}, {"candidates": IDS})
    terminal = record(
        {"rules": _TEXTS, "kind": text(), "text": nullable(text()), "rest": nullable(text())}
    )
    place = record(
        {
            "waits_for": nullable(text()),
            "instance": nullable(text("A JSON Pointer.")),
            "schemas": _TEXTS,
            "rules": array(_TEXTS),
        }
    )
    return record(
        {
            "verdict": one_of(("match", "incomplete", "mismatch")),
            "accepted": integer(0, about="The bytes that are allowed."),
            "may_end": flag(),
            "forced": text(),
            "allowed": text("The characters that may follow, in words."),
            "ranges": array(array(COUNT, minItems=2, maxItems=2)),
            "exact": flag(),
            "count": nullable(COUNT),
            "continuations": record({"forced": text(), "options": _TEXTS}),
            "place": place,
            "tokens": tokens,
        },
        {
            "offset": COUNT,
            "line": integer(1),
            "column": integer(1),
            "terminals": array(terminal),
            "reasons": array(reason),
            "reasons_complete": flag(),
            "nearest": array(near),
        },
    )


def _explained_answer() -> Json:
    shown: Schemas = {"token": COUNT, "text": text()}
    wanted = record({**shown, "probability": _PROBABILITY, "steps": COUNT})
    step = record(
        {
            **shown,
            "forced": flag(),
            "allowed": COUNT,
            "raw": LIKELIHOOD,
            "masked": LIKELIHOOD,
            "kept": _PROBABILITY,
            "wanted": array(record({**shown, "raw": LIKELIHOOD})),
        }
    )
    share = nullable(_PROBABILITY)
    return record(
        {
            "id": text(),
            "choice": COUNT,
            "counts": record({"tokens": COUNT, "forced": COUNT}),
            "kept": record({"mean": share, "least": share}),
            "wanted": array(wanted),
            "steps": array(step),
        }
    )
