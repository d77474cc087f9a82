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
    given,
    integer,
    nullable,
    number,
    record,
    ref,
    text,
)
from maskwright.server.openapi.message_schemas import prompt_fields
from maskwright.server.openapi.tool_schemas import function_fields, tool_fields

_SPECIAL: Final[Json] = flag("The tokenizer may add special tokens.", default=True)
_TEXTS: Final[Json] = array(text())


def service_schemas() -> Schemas:
    return {
        "DetokenizeRequest": _detokenize(),
        "DetokenizedText": _detokenized(),
        "Health": record({"status": text()}),
        "Load": record({"server_load": integer(0, about="Requests that run or wait.")}),
        "Model": _model(),
        "ModelList": record({"object": constant("list"), "data": array(ref("Model"))}),
        "State": _state(),
        "TokenizeRequest": _tokenize(),
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


def _tokenize() -> Json:
    strings = flag("Return the tokens' texts too.", default=False)
    chat = prompt_fields()
    messages = chat["messages"]
    optional = {name: schema for name, schema in chat.items() if name != "messages"}
    tools: Schemas = {**tool_fields(), **function_fields()}
    options: Schemas = {"add_special_tokens": _SPECIAL, "return_token_strs": strings}
    llama: Schemas = {
        "add_special": flag(default=False),
        "with_pieces": flag("Each token is told with its text.", default=False),
    }
    return either(
        given({"prompt": either(text(), array(text()))}, options),
        given({"messages": messages}, {**optional, **tools, "return_token_strs": strings}),
        given({"content": text()}, llama),
        about="A text, several texts or a chat, as in vLLM, SGLang or llama.cpp.",
    )


def _tokenized() -> Json:
    piece = record({"id": COUNT, "piece": either(text(), array(integer(0, 255)))})
    counted: Schemas = {"count": COUNT, "max_model_len": COUNT, "tokens": IDS}
    return either(
        record({**counted, "token_strs": nullable(_TEXTS)}),
        record({"count": IDS, "max_model_len": COUNT, "tokens": array(IDS)}),
        record({"tokens": either(IDS, array(piece))}),
    )


def _detokenize() -> Json:
    ids = array(integer(0))
    special = flag("Leave out control tokens.", default=False)
    return given({"tokens": either(ids, array(ids))}, {"skip_special_tokens": special})


def _detokenized() -> Json:
    joined = either(text(), _TEXTS)
    return record({"prompt": joined, "content": joined, "text": joined})
