"""Files and batches."""

from __future__ import annotations

from typing import get_args

from maskwright.records.batch_lines import ENDPOINTS
from maskwright.server.batches.batch_routes import METADATA
from maskwright.server.batches.batch_store import TIMED, WINDOW, BatchStatus
from maskwright.server.batches.file_routes import PURPOSE
from maskwright.server.json import Json
from maskwright.server.openapi.answer_schemas import COUNT
from maskwright.server.openapi.builders import (
    NOTHING,
    Schemas,
    array,
    constant,
    flag,
    nullable,
    one_of,
    record,
    ref,
    text,
)


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
