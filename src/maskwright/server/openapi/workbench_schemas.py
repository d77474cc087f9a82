"""The endpoints about shapes themselves, and explanations."""

from __future__ import annotations

from typing import Final

from maskwright.server.json import Json
from maskwright.server.openapi.answer_schemas import COUNT, LIKELIHOOD
from maskwright.server.openapi.builders import (
    Schemas,
    array,
    flag,
    integer,
    nullable,
    number,
    one_of,
    record,
    text,
)

_IDS: Final[Json] = array(integer(0))
_TEXTS: Final[Json] = array(text())
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
    told: Schemas = {"severity": text(), "rule": text(), "message": text()}
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
            "findings": array(record({**pointer, **told, **place})),
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
