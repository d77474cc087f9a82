"""Say of each keyword of a schema whether it is enforced, an annotation, or refused.

SCHEMA is a file, '-', the schema itself, or the name of one that ships with the package. Each line
has the line of the schema, the state, the JSON Pointer, and a note where one is needed. Nothing is
dropped in silence: an annotation is a keyword that says nothing about which values are valid, or a
name that is no keyword. A schema with a refused or an invalid keyword can't be used; the others are
explained as if it weren't there.

Exit code: 0 if the schema can be used; 1 if a keyword is refused or invalid; 2 if it can't be read.
"""

from __future__ import annotations

from typing import Final

from maskwright.cli.input.faults import spans_of
from maskwright.cli.input.shapes import SchemaArgument, read_shape
from maskwright.cli.output.appearance import Colour, coloured, shown_json
from maskwright.cli.shape.options import ExplainOptions
from maskwright.errors import InputError
from maskwright.workbench.schema.explain import (
    ExplainedKeyword,
    State,
    counted,
    explain_schema,
    is_usable,
)

COLOURS: Final[dict[State, Colour]] = {
    "enforced": "green",
    "annotation": "dim",
    "refused": "red",
    "invalid": "red",
}


def run(options: ExplainOptions) -> int:
    given = read_shape(options.schema)
    if not isinstance(given, SchemaArgument):
        raise InputError("only a JSON Schema has keywords to explain", param="schema")
    rows = explain_schema(given.schema if given.source is None else given.source)
    spans = spans_of(given.text)
    lines = {name: given.text.count("\n", 0, span.begin) + 1 for name, span in spans.items()}
    if options.as_json:
        keywords = [{**row._asdict(), "line": lines.get(row.pointer)} for row in rows]
        print(shown_json({"keywords": keywords, "counts": counted(rows)}))
    else:
        print("\n".join(_table(rows, lines)))
    return 0 if is_usable(rows) else 1


def _table(rows: list[ExplainedKeyword], lines: dict[str, int]) -> list[str]:
    width = max((len(row.pointer) for row in rows), default=0)
    table: list[str] = []
    for row in rows:
        line, state = lines.get(row.pointer, ""), coloured(f"{row.state:10}", COLOURS[row.state])
        note = row.note.partition("\n")[0]  # without the excerpt of a pattern below it
        table.append(f"{line:>5}  {state}  {row.pointer:{width}}  {note}".rstrip())
    summary = ", ".join(f"{count} {state}" for state, count in counted(rows).items() if count)
    return [*table, summary or "no keywords: every JSON value matches"]
