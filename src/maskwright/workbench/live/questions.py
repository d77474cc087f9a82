"""What is asked of a shape while somebody writes it: whether it can be used, with what is found in
it and where; texts of it, as `maskwright sample` writes them; its picture, as `maskwright draw`
makes it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from maskwright.errors import InputError, UnsatisfiableSchemaError
from maskwright.grammar.dialects.read import read_grammar
from maskwright.grammar.dialects.special import GrammarTokens
from maskwright.grammar.schema.document import plain
from maskwright.mask import Grammar
from maskwright.vocab import Vocabulary
from maskwright.workbench.choices import PictureName, Which
from maskwright.workbench.diagram.pictures import grammar_picture, pattern_picture, schema_picture
from maskwright.workbench.findings.finding import Finding, reported, rule_start
from maskwright.workbench.findings.grammar import lint_grammar, lint_pattern
from maskwright.workbench.live.faults import (
    JSON_KINDS,
    ShapeFault,
    ShapeKind,
    fault_of,
    place_of_pointer,
    read_json_shape,
)
from maskwright.workbench.live.kept import kept_grammar
from maskwright.workbench.pointer import ValueSpan, value_spans
from maskwright.workbench.position import line_and_column
from maskwright.workbench.reading import byte_vocabulary
from maskwright.workbench.report import Data, shape_data
from maskwright.workbench.sample import samples
from maskwright.workbench.schema.lint import lint_schema
from maskwright.workbench.schema.no_values import naming_the_part

_BYTES: Final = byte_vocabulary()


def sampled(
    compile: Callable[[Vocabulary], Grammar],
    which: Which,
    count: int,
    seed: int,
    is_json: bool,
    _: Vocabulary,
) -> Data:
    """`count` random texts of the shape, the shortest, or the longest of 32 random ones. They are
    written byte by byte, whichever tokens the model has; `is_json`: without needless escapes."""
    found = samples.texts(kept_grammar(compile, _BYTES), which, count, seed)
    return {"texts": [*map(samples.plain_json, found)] if is_json else [*found]}


def drawn(text: str, kind: ShapeKind, which: PictureName, _: Vocabulary) -> Data:
    """The picture as an SVG document. Raises InputError for tools and tags, which have none."""
    match kind:
        case "schema":
            svg = schema_picture(plain(read_json_shape(text))[0], "the schema", which)
        case "regex":
            svg = pattern_picture(text, which)
        case "lark" | "gbnf" | "ebnf":
            svg = grammar_picture(text, kind, "the grammar", which)
        case _:
            raise InputError("only schemas, patterns and grammars are drawn", param="kind")
    return {"as": which, "svg": svg}


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
    placed = [_placed(each, text, kind, spans) for each in found]
    data = shape_data(grammar, placed, milliseconds, written_in_json=kind in JSON_KINDS)
    return {"usable": True, "fault": None, **data}


def unusable(fault: ShapeFault) -> Data:
    """The answer about a shape that can't be used."""
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
    line, column = (None, None) if start is None else line_and_column(text, start)
    return {**finding._asdict(), "pointer": None, "line": line, "column": column}
