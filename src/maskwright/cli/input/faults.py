"""Errors in the text of a shape, with their file, line and column, and a caret under the place."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from maskwright.cli.output.excerpts import excerpt_width
from maskwright.errors import (
    GrammarError,
    InputError,
    RegexError,
    SchemaError,
    UnsatisfiableSchemaError,
)
from maskwright.grammar.schema.document import json_of, plain
from maskwright.workbench.pointer import (
    TextPosition,
    ValueSpan,
    innermost,
    position_of,
    value_spans,
)


class ShapeError(InputError):
    """An error at a place of a shape. The message names the place and shows its line."""

    def __init__(
        self, name: str, reason: str, place: TextPosition, of: InputError | None = None
    ) -> None:
        """`name`: where the shape stands; `of`: the error that was raised without its place."""
        excerpt, caret = place.lines()
        message = f"{name}:{place.line}:{place.column}: {reason}\n  {excerpt}\n  {caret}"
        code = None if of is None else of.code
        super().__init__(message, param="shape" if of is None else of.param, code=code)
        self.reason = reason
        self.line = place.line
        self.column = place.column
        self.pointer = of.pointer if isinstance(of, SchemaError) else None


def placed(error: InputError, name: str, text: str) -> InputError:
    """An error with its place in the text of a shape, where that shows one."""
    match error:
        case SchemaError():
            if not text:
                return error
            if isinstance(error, UnsatisfiableSchemaError):
                # Only here, because most schemas have instances.
                from maskwright.workbench.schema.no_values import naming_the_part  # noqa: PLC0415

                error = naming_the_part(error, plain(schema_in(text))[0])
            return ShapeError(name, error.message, schema_position(text, error.pointer), error)
        case GrammarError():
            row, column = error.line - 1, error.column - 1
            start = sum(len(line) for line in text.split("\n")[:row]) + row
            return ShapeError(name, error.reason, place_of(text, start + column), error)
        case RegexError():
            return ShapeError(name, error.reason, place_of(error.pattern, error.position), error)
        case _:
            return error


def place_of(text: str, at: int) -> TextPosition:
    """The place of a character."""
    return position_of(text.encode(), len(text[:at].encode()), excerpt_width())


def schema_in(text: str) -> Any:
    """The schema in a text of JSON or YAML, as it is written. Raises `GrammarError` with the place
    of what is neither."""
    try:
        return json_of(text)
    except ValueError:
        # Only here, because most schemas are JSON.
        from maskwright.cli.input.yaml_text import read_yaml  # noqa: PLC0415

        return read_yaml(text)


@lru_cache(maxsize=4)
def spans_of(text: str) -> dict[str, ValueSpan]:
    """The places of all values of a schema in a text of JSON or YAML, by pointer."""
    try:
        json.loads(text)
    except ValueError:
        from maskwright.cli.input.yaml_text import yaml_spans  # noqa: PLC0415

        return yaml_spans(text)
    return value_spans(text)


def schema_position(text: str, pointer: str) -> TextPosition:
    """The place of what a pointer refers to in the text of a schema: of its name, if it is a
    member; of the innermost value around it that the text has, if it has none at the pointer."""
    span = innermost(spans_of(text), pointer)
    return place_of(text, 0 if span is None else span.begin)


def error_data(error: Exception) -> dict[str, Any]:
    """What `--json` prints of an error: its message, and what is known of its cause and place."""
    names = ("code", "param", "pointer", "line", "column")
    found = {name: getattr(error, name, None) for name in names}
    message = getattr(error, "reason", None) or str(error)
    known = {name: value for name, value in found.items() if value is not None}
    return {"error": {"message": message, **known}}
