"""Why a text of a shape isn't allowed, and which texts like it are."""

from __future__ import annotations

import json
from contextlib import suppress

from maskwright.cli.input.opened import OpenedShape
from maskwright.cli.input.shapes import SchemaArgument
from maskwright.errors import LimitError
from maskwright.grammar.schema.options import PropertyOrder
from maskwright.limits import DEFAULT_LIMITS, Work
from maskwright.workbench.nearest import nearest_texts
from maskwright.workbench.reading import JSON_SPACE, TextReading
from maskwright.workbench.reasons import ReasonSearch
from maskwright.workbench.report import Data, reasons_data
from maskwright.workbench.schema.variants import SchemaVariants


def why_not(opened: OpenedShape, reading: TextReading, order: PropertyOrder) -> Data:
    """The keywords of a schema, or its settings, by which a text isn't allowed, and up to three
    allowed texts like it, as `POST /v1/explain` tells them."""
    found: Data = {}
    with suppress(LimitError), Work(DEFAULT_LIMITS):
        if isinstance(opened.shape, SchemaArgument) and not reading.may_end:
            found |= _reasons(opened, opened.shape, reading, order)
        fault = len(reading.text[: reading.accepted].decode(errors="ignore"))
        near = nearest_texts(opened.grammar, reading.text.decode(errors="replace"), fault)
        found["nearest"] = [each._asdict() for each in near]
    return found


def _reasons(
    opened: OpenedShape, shape: SchemaArgument, reading: TextReading, order: PropertyOrder
) -> Data:
    variants = SchemaVariants(json.dumps(shape.schema), {"property_order": order})
    # A grammar reads the text without the space before it.
    skipped = len(reading.text) - len(reading.text.lstrip(JSON_SPACE))
    text, accepted = reading.text[skipped:], reading.accepted - skipped
    search = ReasonSearch(variants, text, accepted, opened.grammar.vocabulary)
    reasons = search.find(reading.place.schemas or ("",))
    rows = reasons_data(reasons, opened.grammar.report)
    return {"reasons": rows, "reasons_complete": search.is_complete}
