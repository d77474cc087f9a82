"""The answers that are no generated text: about the server and its tokenizer, files and batches,
shapes and explanations.
"""

from __future__ import annotations

from typing import Final, get_args

from maskwright.engine import EngineView
from maskwright.records.batch_lines import ENDPOINTS
from maskwright.server.batches.batch_routes import METADATA, PURPOSE
from maskwright.server.batches.stores import TIMED, WINDOW, BatchStatus
from maskwright.server.json import Json
from maskwright.server.observe.figures import FIGURES
from maskwright.server.openapi.answer_schemas import COUNT, IDS, LIKELIHOOD
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


_IDS: Final[Json] = array(integer(0))
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
    tokens = record(
        {"count": COUNT, "of": COUNT, "ids": _IDS, "texts": _TEXTS}, {"candidates": _IDS}
    )
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
