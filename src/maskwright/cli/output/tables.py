"""Figures as plain text within a width: nothing is cut, and columns that don't fit are continued.

Rows are mappings from a column's name to a figure. The first column names the case of a row. What
fits is one table; else each case of several rows becomes a block under its name, and a table that
is too wide continues below itself, with its names repeated.
"""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

Figure: TypeAlias = float | int | str | None
Row: TypeAlias = Mapping[str, Figure]

PIPED: Final = 80
"""Columns of a line where the output is no terminal."""
NARROWEST: Final = 40
GAP: Final = "  "
LONGEST_NAME: Final = 24
"""Characters up to which a text is a name in a column; a longer one stands below the table."""


def output_width() -> int:
    """Columns of a line on standard output."""
    if not sys.stdout.isatty():
        return PIPED
    return max(NARROWEST, shutil.get_terminal_size((PIPED, 24)).columns)


def lay_out(rows: Sequence[Row], width: int) -> str:
    """The rows as tables and blocks of lines of at most `width` characters."""
    if not rows:
        return ""
    whole = _Table(rows)
    if whole.width <= width:
        return "\n".join(whole.lines(width))
    return "\n\n".join("\n".join(block) for block in _blocks(rows, width))


def shown(figure: Figure) -> str:
    """Four significant digits, thousands separated by commas; nothing for None."""
    match figure:
        case None:
            return ""
        case float():
            return f"{figure:,.0f}" if abs(figure) >= 1000 else f"{figure:.4g}"
        case int():
            return f"{figure:,}"
        case str():
            return figure


def paragraph(text: str, width: int) -> str:
    """The text in lines of at most `width` characters, but for a word that is longer."""
    return "\n".join(_wrap(text, width))


def _wrap(text: str, width: int) -> list[str]:
    return textwrap.wrap(
        text, width, subsequent_indent=GAP, break_long_words=False, break_on_hyphens=False
    )


def _blocks(rows: Sequence[Row], width: int) -> Iterator[list[str]]:
    """The lines of each table: cases of several rows one by one, others with the same columns
    together."""
    name = next(iter(rows[0]))
    cases: dict[str, list[Row]] = {}
    for row in rows:
        cases.setdefault(shown(row.get(name)), []).append(row)
    single: list[Row] = []
    for case, own in cases.items():
        if len(own) > 1 or (single and _columns(single) != _columns(own)):
            if single:
                yield _Table(single).lines(width)
            single = []
        if len(own) == 1:
            single += own
        else:
            below = [{key: row[key] for key in row if key != name} for row in own]
            yield [*_wrap(case, width), *_Table(below).lines(width)]
    if single:
        yield _Table(single).lines(width)


def _columns(rows: Sequence[Row]) -> list[str]:
    """The names of columns in which some row has a figure, in the order in which they come."""
    known = dict.fromkeys(key for row in rows for key in row)
    return [key for key in known if any(row.get(key) is not None for row in rows)]


class _Table:
    """Rows side by side. Columns with text are names, which are repeated where the table continues
    below itself; a text too long for a column is a note below it."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = rows
        columns = _columns(rows)
        texts = [column for column in columns if any(isinstance(r.get(column), str) for r in rows)]
        first = columns[:1]
        self._notes = [
            column
            for column in texts
            if column not in first and max(len(shown(r.get(column))) for r in rows) > LONGEST_NAME
        ]
        self._names = [column for column in texts if column not in self._notes]
        self._figures = [column for column in columns if column not in texts]
        self._widths = {
            column: max(len(column), *(len(shown(row.get(column))) for row in rows))
            for column in columns
        }

    @property
    def width(self) -> int:
        """Characters of a line that holds every column but the notes."""
        return self._wide([*self._names, *self._figures])

    def lines(self, width: int) -> list[str]:
        """Its lines: everything side by side where that fits, else in parts; row by row where names
        would take most of each part."""
        widest = max((self._widths[column] for column in self._figures), default=0)
        names = self._wide(self._names)
        in_parts = names <= width // 2 and names + len(GAP) + widest <= width
        lines = self._parts(width) if self.width <= width or in_parts else self._row_by_row(width)
        return [*lines, *self._noted(width)]

    def _wide(self, columns: Sequence[str]) -> int:
        return sum(self._widths[column] + len(GAP) for column in columns) - len(GAP)

    def _parts(self, width: int) -> list[str]:
        """A part below the other, each with the names and with as many figures as fit."""
        lines: list[str] = []
        for part in self._chunks(width - max(0, self._wide(self._names) + len(GAP))):
            lines += [""] * bool(lines)
            lines.append(self._line(dict(zip(part, part, strict=True)), part))
            lines += [self._line(row, part) for row in self._rows]
        return lines

    def _chunks(self, room: int) -> Iterator[list[str]]:
        """The names with as many figures each time as `room` characters hold; at least one."""
        part: list[str] = []
        for column in self._figures:
            if part and self._wide([*part, column]) > room:
                yield [*self._names, *part]
                part = []
            part.append(column)
        yield [*self._names, *part]

    def _line(self, cells: Row, columns: Sequence[str]) -> str:
        """One line: names on the left of their columns, figures on the right."""
        return GAP.join(
            shown(cells.get(column)).ljust(self._widths[column])
            if column in self._names
            else shown(cells.get(column)).rjust(self._widths[column])
            for column in columns
        ).rstrip()

    def _row_by_row(self, width: int) -> list[str]:
        """Each row's names on lines of their own, and its figures below them."""
        lines: list[str] = []
        for row in self._rows:
            lines += [""] * bool(lines)
            lines += _wrap(self._name(row), width)
            own = {column: row[column] for column in self._figures if row.get(column) is not None}
            if own:
                inner = _Table([own]).lines(width - len(GAP))
                lines += [f"{GAP}{line}".rstrip() for line in inner]
        return lines

    def _noted(self, width: int) -> list[str]:
        """The texts that are too long for a column, each with the names of its row."""
        lines: list[str] = []
        for row in self._rows:
            for column in self._notes:
                if note := shown(row.get(column)):
                    text = ", ".join(filter(None, (self._name(row), f"{column}: {note}")))
                    lines += _wrap(text, width)
        return lines

    def _name(self, row: Row) -> str:
        return ", ".join(text for column in self._names if (text := shown(row.get(column))))
