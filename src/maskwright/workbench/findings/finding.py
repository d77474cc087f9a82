"""Something found in a shape, with its place and its weight; where rules of grammars are."""

from __future__ import annotations

import re
from typing import Final, Literal, NamedTuple

from maskwright.grammar.schema.tree import Report
from maskwright.workbench.pointer import entry_pointer

Severity = Literal["error", "warning", "note"]

RULES: Final = (
    *("unknown-keyword", "demands-nothing", "misplaced-schema", "unknown-format", "nullable"),
    *("null-keyword", "repeated-name", "repeated-value", "hidden-keyword"),
    *("keyword-of-later-draft", "posix-class"),
    *("narrowed", "no-effect", "open-pattern", "unbounded-string", "unbounded-array"),
    *("unbounded-object", "unbounded-rule", "unbounded-pattern", "required-unlisted"),
    *("reasons-last", "token-trap", "unused-definition", "unused-rule", "unsatisfiable"),
    *("impossible-tool", "ambiguous", "openai-strict-root", "openai-strict-additional"),
    *("openai-strict-required", "openai-strict-unsupported", "openai-strict-depth"),
    "openai-strict-size",
)
"""The names of all rules, as the documentation of `maskwright check` has them."""


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


def rule_start(text: str, name: str) -> int | None:
    """The character at which the definition of a rule or terminal begins; None if the text doesn't
    show one, as for a rule that is imported."""
    pattern = rf"^[ \t]*[?!]?(<?{re.escape(name)}>?)(?![\w-])[^\n:=]*(?:::?=|:|=)"
    found = re.search(pattern, text, re.MULTILINE)
    return None if found is None else found.start(1)
