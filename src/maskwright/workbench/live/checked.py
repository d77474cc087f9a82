"""Whether a shape can be used, and what is found in it, each with its place."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from typing import Any

from maskwright.errors import InputError, UnsatisfiableSchemaError
from maskwright.grammar.dialects.read import read_grammar
from maskwright.grammar.dialects.special import GrammarTokens
from maskwright.grammar.schema.document import plain
from maskwright.mask import Grammar
from maskwright.vocab import Vocabulary
from maskwright.workbench.findings.finding import Finding, reported
from maskwright.workbench.findings.grammar import lint_grammar, lint_pattern
from maskwright.workbench.findings.places import rule_start
from maskwright.workbench.live.faults import (
    JSON_KINDS,
    ShapeFault,
    ShapeKind,
    fault_of,
    place_of_pointer,
)
from maskwright.workbench.live.kept import kept_grammar
from maskwright.workbench.pointer import ValueSpan, value_spans
from maskwright.workbench.report import Data, keyword_counts, shortest_bytes
from maskwright.workbench.schema.lint import lint_schema
from maskwright.workbench.schema.no_values import naming_the_part


def checked(
    compile: Callable[[Vocabulary], Grammar], text: str, kind: ShapeKind, vocabulary: Vocabulary
) -> Data:
    """What `maskwright check --json` tells of a shape, and of one that can't be used its fault.

    `compile` makes the grammar of the shape, `text` is what somebody wrote.
    """
    start = time.perf_counter()
    try:
        grammar = kept_grammar(compile, vocabulary)
    except UnsatisfiableSchemaError as error:
        found = naming_the_part(error, plain(json.loads(text))[0]) if kind == "schema" else error
        return unusable(fault_of(found, text, kind))
    except InputError as error:
        return unusable(fault_of(error, text, kind))
    milliseconds = 1000 * (time.perf_counter() - start)
    spans = value_spans(text) if kind == "schema" else {}
    found = _findings(grammar, text, kind, vocabulary)
    return {
        "usable": True,
        "fault": None,
        **keyword_counts(grammar.report, written_in_json=kind in JSON_KINDS),
        "shortest_bytes": shortest_bytes(grammar),
        "milliseconds": round(milliseconds, 3),
        "findings": [_placed(each, text, kind, spans) for each in found],
    }


def unusable(fault: ShapeFault) -> Data:
    """What is told of a shape that can't be used."""
    return {"usable": False, "fault": fault._asdict(), "findings": []}


def _findings(
    grammar: Grammar, text: str, kind: ShapeKind, vocabulary: Vocabulary
) -> list[Finding]:
    if kind == "schema":
        return lint_schema(json.loads(text), grammar.report)
    if kind == "lark" or kind == "gbnf" or kind == "ebnf":
        tokens = GrammarTokens(
            vocabulary.special_tokens, frozenset(vocabulary.eos), vocabulary.tokens
        )
        found = lint_grammar(read_grammar(text, kind, tokens=tokens))
    else:
        found = lint_pattern(text) if kind == "regex" else []
    return [*reported(grammar.report), *found]


def _placed(
    finding: Finding, text: str, kind: ShapeKind, spans: Mapping[str, ValueSpan]
) -> dict[str, Any]:
    """A finding with its place; one in a grammar is at the definition of its rule."""
    if kind == "schema":
        line, column = place_of_pointer(text, finding.pointer, spans)
        return {**finding._asdict(), "line": line, "column": column}
    start = 0 if kind == "regex" else rule_start(text, finding.pointer)
    line = None if start is None else text.count("\n", 0, start) + 1
    column = None if start is None else start - text.rfind("\n", 0, start)
    return {**finding._asdict(), "pointer": None, "line": line, "column": column}
