"""What is asked of a shape while somebody writes it: whether it can be used, with what is found in
it and where; texts of it, as `maskwright sample` writes them; its picture, as `maskwright draw`
makes it.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, NamedTuple, get_args

from maskwright.errors import (
    GrammarError,
    InputError,
    RegexError,
    SchemaError,
    StructuralTagError,
    UnsatisfiableSchemaError,
)
from maskwright.grammar.dialects.read import read_grammar
from maskwright.grammar.dialects.special import GrammarTokens
from maskwright.grammar.schema.document import json_of, plain
from maskwright.json_faults import json_fault, json_reason
from maskwright.mask import Grammar
from maskwright.vocab import Vocabulary
from maskwright.workbench.choices import PictureName, Which
from maskwright.workbench.diagram.pictures import grammar_picture, pattern_picture, schema_picture
from maskwright.workbench.explanation import Data, kept_grammar, shape_data
from maskwright.workbench.findings.finding import Finding, reported, rule_start
from maskwright.workbench.findings.grammar import lint_grammar, lint_pattern
from maskwright.workbench.pointer import (
    ValueSpan,
    innermost,
    line_and_column,
    pointer_of,
    value_spans,
)
from maskwright.workbench.reading import byte_vocabulary
from maskwright.workbench.sample import samples
from maskwright.workbench.schema.lint import lint_schema
from maskwright.workbench.schema.no_values import naming_the_part

ShapeKind = Literal["schema", "regex", "lark", "gbnf", "ebnf", "structural_tag", "tools"]
KINDS: Final[tuple[ShapeKind, ...]] = get_args(ShapeKind)
JSON_KINDS: Final = frozenset({"schema", "structural_tag", "tools"})
"""Kinds of shapes that are written in JSON."""

_STEP: Final = re.compile(r"\.?([^.\[\]]+)|\[(\d+)\]")


class ShapeFault(NamedTuple):
    """An error of a shape. `line` and `column` count from 1, columns in characters; all three
    places are None where nothing in the text can be named. `pointer`: in a shape written in
    JSON."""

    message: str
    code: str
    line: int | None
    column: int | None
    pointer: str | None


def read_json_shape(text: str) -> Any:
    """The value of a shape that is written in JSON. Raises `GrammarError` with its place for what
    is no JSON."""
    try:
        return json_of(text)
    except json.JSONDecodeError as error:
        reason, position = json_fault(error)
        raise GrammarError(f"not valid JSON: {reason}", text=text, position=position) from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"not valid JSON: {json_reason(error)}") from None


def fault_of(error: InputError, text: str, kind: ShapeKind) -> ShapeFault:
    """Where an error is in the text of a shape of this kind."""
    message = getattr(error, "reason", None) or error.message
    if kind in JSON_KINDS and not isinstance(error, GrammarError):
        pointer = _pointer_of_error(error, kind)
        line, column = place_of_pointer(text, pointer)
        return ShapeFault(message, error.code, line, column, pointer)
    line = column = None
    if isinstance(error, GrammarError):
        line, column = error.line, error.column
    elif isinstance(error, RegexError):
        line, column = line_and_column(error.pattern, error.position)
    return ShapeFault(message, error.code, line, column, None)


def _pointer_of_error(error: InputError, kind: ShapeKind) -> str:
    """The pointer that an error names: that of a tool by the field of the request."""
    inner = ""
    if isinstance(error, SchemaError | StructuralTagError | RegexError):
        inner = error.pointer or ""
    if kind != "tools" or not error.param or not error.param.startswith("tools["):
        return inner
    steps = [name or index for name, index in _STEP.findall(error.param.removeprefix("tools"))]
    return pointer_of(*steps) + inner


def place_of_pointer(
    text: str, pointer: str, spans: Mapping[str, ValueSpan] | None = None
) -> tuple[int | None, int | None]:
    """Line and column of what a pointer refers to in a JSON text: of its name, if it is a member;
    of the innermost value around it that the text has, if it has none at the pointer. `spans`:
    the text's, if they are known."""
    spans = value_spans(text) if spans is None else spans
    span = innermost(spans, pointer)
    return (None, None) if span is None else line_and_column(text, span.begin)


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
