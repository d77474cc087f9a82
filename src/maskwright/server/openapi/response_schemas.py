"""The answers of the responses protocol, and the events of their streams."""

from __future__ import annotations

from typing import Final

from maskwright.server.answer.output_items import CUSTOM, FUNCTION, MESSAGE, REASONING, ItemKind
from maskwright.server.json import Json
from maskwright.server.openapi.answer_schemas import COUNT, completion_details
from maskwright.server.openapi.builders import (
    ANYTHING,
    NOTHING,
    Schemas,
    array,
    constant,
    either,
    integer,
    nullable,
    one_of,
    record,
    ref,
    text,
)
from maskwright.server.request.response_request import ECHOED, LABELS

KINDS: Final = (MESSAGE, REASONING, FUNCTION, CUSTOM)
_SCORES: Final[Json] = array(ref("TokenLogprob"))
_ITEM: Final[Schemas] = {"output_index": COUNT, "item": ref("OutputItem")}


def response_schemas() -> Schemas:
    parts = [_part(kind) for kind in KINDS if kind.part is not None]
    return {
        "OutputItem": either(*map(_item, KINDS)),
        "OutputPart": either(*parts),
        "Response": _response(),
        "ResponseEvent": either(*_events(), about="The event's `data`; its name is the `type`."),
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
        {
            "maskwright": ref("Told"),
            **dict.fromkeys(LABELS, text()),
        },
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
    return record({"type": constant(kind), "sequence_number": integer(0), **own})
