"""The endpoints that describe the server, and those of its tokenizer."""

from __future__ import annotations

from dataclasses import fields
from typing import Final

from maskwright.engine import EngineView
from maskwright.server.json import Json
from maskwright.server.observe.history import FIGURES
from maskwright.server.openapi.answer_schemas import COUNT, IDS
from maskwright.server.openapi.builders import (
    ANYTHING,
    Schemas,
    array,
    constant,
    either,
    flag,
    integer,
    nullable,
    number,
    record,
    ref,
    text,
)

_TEXTS: Final[Json] = array(text())


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
            **{field.name: ANYTHING for field in fields(EngineView)},
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
