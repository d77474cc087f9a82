"""What is done with each keyword of a schema: enforced, an annotation, or refused."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple, get_args

from maskwright.errors import LimitError, SchemaError, UnsupportedSchemaError
from maskwright.grammar.schema.parse import ParseOptions, parse_schema
from maskwright.grammar.schema.tree import Json, Report
from maskwright.limits import DEFAULT_LIMITS, Work
from maskwright.workbench.pointer import entry_pointer, pointer_of, reference_tokens, value_at

State = Literal["enforced", "annotation", "refused", "invalid"]
MOST_REFUSED: Final = 100
"""Keywords that are refused up to which the rest of a schema is looked at."""


class ExplainedKeyword(NamedTuple):
    """What is done with one keyword, and why where that needs saying. `pointer` is that of the
    keyword itself."""

    pointer: str
    keyword: str
    state: State
    note: str = ""


def explain_schema(schema: Json) -> list[ExplainedKeyword]:
    """Every keyword of a schema that its parser meets, in the order of their pointers in the
    document. Parsing stops at the first keyword that is refused, so it is repeated without that
    one.

    Raises `LimitError`, and `SchemaError` for a document that is no schema at all.
    """
    refused: dict[str, ExplainedKeyword] = {}
    rest = copy.deepcopy(schema)
    while True:
        try:
            with Work(DEFAULT_LIMITS):
                report = parse_schema(rest, ParseOptions()).report
            break
        except LimitError:
            raise
        except SchemaError as error:
            removed = _removed(rest, error.pointer)
            if removed is None or len(refused) >= MOST_REFUSED:
                raise
            state: State = "refused" if isinstance(error, UnsupportedSchemaError) else "invalid"
            refused[removed] = ExplainedKeyword(
                removed, reference_tokens(removed)[-1], state, error.reason
            )
    found = {row.pointer: row for row in _reported(report)} | refused
    order = {pointer: number for number, pointer in enumerate(_pointers(schema, ""))}
    return sorted(found.values(), key=lambda row: order.get(row.pointer, len(order)))


def _reported(report: Report) -> Iterator[ExplainedKeyword]:
    for entry in report.annotations:
        pointer = entry_pointer(entry)
        yield ExplainedKeyword(pointer, entry.keyword, "annotation", entry.note)
    narrowed = {entry.place: entry.note for entry in report.narrowed}
    for entry in report.enforced:
        pointer, note = entry_pointer(entry), entry.note or narrowed.get(entry.place, "")
        yield ExplainedKeyword(pointer, entry.keyword, "enforced", note)


def _removed(schema: Json, pointer: str) -> str | None:
    """Remove what a pointer refers to, or the innermost member that holds it; returns its pointer.
    None if there is no such member."""
    path = reference_tokens(pointer) or [""]
    for depth in range(len(path), 0, -1):
        holder, name = value_at(schema, pointer_of(*path[: depth - 1])), path[depth - 1]
        if isinstance(holder, dict) and name in holder:
            del holder[name]
            return pointer_of(*path[:depth])
    return None


def _pointers(value: Json, pointer: str) -> Iterator[str]:
    """The pointers of all values of a document, in its order."""
    yield pointer
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _pointers(inner, pointer + pointer_of(name))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _pointers(inner, f"{pointer}/{index}")


def counted(rows: list[ExplainedKeyword]) -> dict[State, int]:
    """How many keywords are in each state."""
    return {state: sum(row.state == state for row in rows) for state in get_args(State)}


def is_usable(rows: list[ExplainedKeyword]) -> bool:
    """Whether a schema can be compiled as far as its keywords go."""
    return not any(row.state in ("refused", "invalid") for row in rows)
