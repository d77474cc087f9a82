"""Something found in a shape, with its place and its weight."""

from __future__ import annotations

from typing import Literal, NamedTuple

Severity = Literal["error", "warning", "note"]


class Finding(NamedTuple):
    """Something found in a shape; `rule` is a stable name for what it is. `pointer`: in a schema, a
    JSON Pointer; in a grammar, the name of the rule."""

    pointer: str
    severity: Severity
    rule: str
    message: str
