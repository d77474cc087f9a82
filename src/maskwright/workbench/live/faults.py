"""Where in the text of a shape an error is."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple

from maskwright.errors import GrammarError, InputError, RegexError, SchemaError, StructuralTagError
from maskwright.grammar.schema.document import json_of
from maskwright.json_faults import json_fault, json_reason
from maskwright.workbench.pointer import ValueSpan, innermost, pointer_of, value_spans
from maskwright.workbench.position import line_and_column

ShapeKind = Literal["schema", "regex", "lark", "gbnf", "ebnf", "structural_tag", "tools"]
KINDS: Final[tuple[ShapeKind, ...]] = (
    *("schema", "regex", "lark", "gbnf", "ebnf"),
    *("structural_tag", "tools"),
)
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
    inner = error.pointer if isinstance(error, SchemaError | StructuralTagError) else ""
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
