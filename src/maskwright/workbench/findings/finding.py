"""Something found in a shape, with its place and its weight."""

from __future__ import annotations

from typing import Literal, NamedTuple

from maskwright.grammar.schema.tree import Report
from maskwright.workbench.pointer import entry_pointer

Severity = Literal["error", "warning", "note"]


class Finding(NamedTuple):
    """Something found in a shape; `rule` is a stable name for what it is. `pointer`: in a schema, a
    JSON Pointer; in a grammar, the name of the rule."""

    pointer: str
    severity: Severity
    rule: str
    message: str


def reported(report: Report) -> list[Finding]:
    """What compiling has found, which a server tells in its header of warnings."""
    return [
        Finding(entry_pointer(each), "warning", each.rule, each.note)
        for each in report.annotations
        if each.rule
    ]
