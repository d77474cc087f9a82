"""The endpoints about shapes themselves, and explanations."""

from __future__ import annotations

from typing import Final, get_args

from maskwright.grammar.schema.options import AdditionalProperties, Numbers
from maskwright.server.json import Json
from maskwright.server.openapi.answer_schemas import COUNT, LIKELIHOOD
from maskwright.server.openapi.builders import (
    ANYTHING,
    NOTHING,
    Schemas,
    array,
    either,
    flag,
    given,
    integer,
    nullable,
    number,
    one_of,
    record,
    text,
)
from maskwright.server.openapi.shape_schemas import shape_fields
from maskwright.server.openapi.tool_schemas import function_fields, tool_fields
from maskwright.server.request.explain_request import MOST_BYTES, MOST_CHOICES, MOST_SHOWN, SHOWN
from maskwright.server.shapes.shape_routes import LARGEST_SEED, MOST_TEXTS
from maskwright.workbench.choices import PictureName
from maskwright.workbench.live.faults import KINDS
from maskwright.workbench.live.sampled import WHICH

_SHAPE: Final[Schemas] = {
    "shape": text("The text of the shape, as in a file."),
    "kind": one_of(KINDS),
}
_IDS: Final[Json] = array(integer(0))
_TEXTS: Final[Json] = array(text())
_PROBABILITY: Final[Json] = number(0)


def workbench_schemas() -> Schemas:
    which = one_of(WHICH, default="random")
    sample: Schemas = {
        "which": which,
        "count": integer(1, MOST_TEXTS, default=1),
        "seed": integer(0, LARGEST_SEED, default=0),
    }
    pictures = one_of(get_args(PictureName), default="railroad")
    example: Schemas = {"name": text(), "kind": text(), "shape": text()}
    cases: Schemas = {"accepted": _TEXTS, "rejected": _TEXTS}
    return {
        "CheckRequest": given(_SHAPE, {}, closed=True),
        "CheckedShape": _checked(),
        "DrawRequest": given(_SHAPE, {"as": pictures}, closed=True),
        "DrawnShape": record({"as": text(), "svg": text(contentMediaType="image/svg+xml")}),
        "Examples": record({"examples": array(record({**example, **cases}))}),
        "ExplainRequest": _explain_request(),
        "ExplainedAnswer": _explained_answer(),
        "ExplainedText": _explained_text(),
        "SampleRequest": given(_SHAPE, sample, closed=True),
        "SampledShape": record({"texts": _TEXTS}),
    }


def _checked() -> Json:
    place: Schemas = {"line": nullable(integer(1)), "column": nullable(integer(1))}
    pointer: Schemas = {"pointer": nullable(text())}
    fault = record({"message": text(), "code": text(), **place, **pointer})
    told: Schemas = {"severity": text(), "rule": text(), "message": text()}
    figures: Schemas = {
        "enforced": COUNT,
        "annotations": COUNT,
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


def _explain_request() -> Json:
    closing, numbers = one_of(get_args(AdditionalProperties)), one_of(get_args(Numbers))
    common: Schemas = {
        **shape_fields(),
        **tool_fields(),
        **function_fields(),
        "candidates": _IDS,
        "maskwright": given(
            {}, {"additional_properties": closing, "numbers": numbers}, closed=True
        ),
        "model": ANYTHING,
        "shown": integer(0, MOST_SHOWN, "How many tokens are listed.", default=SHOWN),
        "why": flag("Whether reasons are searched.", default=True),
    }
    answer = integer(0, MOST_CHOICES, default=0)
    return either(
        given({"text": text(maxLength=MOST_BYTES)}, {**common, "tokens": NOTHING}, closed=True),
        given({"tokens": array(integer(0), maxItems=MOST_BYTES)}, {**common}, closed=True),
        given({"id": text()}, {"choice": answer, "model": ANYTHING}, closed=True),
        about="A shape and a text so far, or its tokens; or the id of an answer.",
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
