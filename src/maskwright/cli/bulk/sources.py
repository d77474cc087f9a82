"""Reads records from JSON lines, CSV, Parquet, or a folder of texts; reads and writes Parquet files
with pyarrow, an extra.

A record that can't be read is a record with a problem: it becomes a failure of its own, and doesn't
stop the others.
"""

from __future__ import annotations

import csv
import importlib
import json
import os
import sys
from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

from maskwright.cli.asking import SourceFormat
from maskwright.errors import InputError, amount
from maskwright.json_faults import json_reason
from maskwright.records.batch_lines import numbered_lines

SUFFIXES: dict[str, SourceFormat] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
}


@dataclass(frozen=True, slots=True)
class InputRecord:
    """One record. `index`: its place in the input, from 0. `problem`: why it can't be read.
    `place`: where it is, for people, such as "line 7"."""

    index: int
    fields: dict[str, object] = field(default_factory=dict[str, object])
    problem: str | None = None
    place: str = ""


def format_of(path: Path, asked: SourceFormat) -> SourceFormat:
    """The format of an input: the one that was asked for, or else by the name and the first line.
    Raises InputError if it can't be recognised or read."""
    if not path.exists():
        raise InputError(f"{path}: there is no such file or folder", param="input")
    if path.is_dir() != (asked == "folder") and asked != "auto":
        what = "a folder" if path.is_dir() else "no folder"
        raise InputError(f"{path} is {what}; --input-format {asked} doesn't fit", param="input")
    if asked != "auto":
        return asked
    if path.is_dir():
        return "folder"
    found = SUFFIXES.get(path.suffix.lower())
    if found is None:
        raise InputError(
            f"{path}: --input-format is needed; known names end in {', '.join(SUFFIXES)}",
            param="input",
        )
    return "openai" if found == "jsonl" and _is_batch_file(path) else found


def read_records(path: Path, source: SourceFormat) -> Iterator[InputRecord]:
    """Read the records of an input in their order. Raises InputError if it can't be read at all."""
    try:
        match source:
            case "csv" | "tsv":
                yield from _read_csv(path, "," if source == "csv" else "\t")
            case "parquet":
                for index, row in enumerate(read_parquet(path)):
                    yield InputRecord(index, row, place=f"row {index + 1}")
            case "folder":
                yield from _read_folder(path)
            case _:
                yield from _read_lines(path)
    except OSError as error:
        raise InputError(f"{error.filename or path}: {error.strerror}", param="input") from None


def _is_batch_file(path: Path) -> bool:
    """Whether the first line is a request in OpenAI's batch format."""
    try:
        _, line = next(numbered_lines(path), (1, b""))
        first: object = json.loads(line)
    except (ValueError, OSError):
        return False
    return isinstance(first, dict) and {"custom_id", "url", "body"} <= first.keys()


def _read_lines(path: Path) -> Iterator[InputRecord]:
    for index, (number, line) in enumerate(numbered_lines(path)):
        fields: dict[str, object] = {}
        problem = None
        try:
            value: object = json.loads(line)
            if isinstance(value, dict):
                fields = cast(dict[str, object], value)
            elif isinstance(value, str):
                fields = {"text": value}
            else:
                problem = "a record is a JSON object or a string"
        except (ValueError, RecursionError) as error:
            problem = f"not valid JSON: {json_reason(error, one_line=True)}"
        yield InputRecord(index, fields, problem, f"line {number}")


def _read_csv(path: Path, delimiter: str) -> Iterator[InputRecord]:
    """Read a table whose first row has the names of its columns."""
    csv.field_size_limit(sys.maxsize >> 32)
    with path.open(encoding="utf-8-sig", newline="") as text:
        rows = csv.DictReader(text, delimiter=delimiter)
        try:
            for index, given in enumerate(rows):
                row = cast(dict[Any, Any], given)
                surplus = row.pop(None, ())
                place = f"line {rows.line_num}"
                if surplus or None in row.values():
                    count = sum(value is not None for value in row.values()) + len(surplus)
                    wanted = len(rows.fieldnames or ())
                    problem = f"it has {amount(count, 'field')}, and the first row has {wanted}"
                    yield InputRecord(index, problem=problem, place=place)
                else:
                    yield InputRecord(index, row, place=place)
        except UnicodeDecodeError:
            raise InputError(_no_utf8(path), param="input") from None
        except csv.Error as error:
            message = f"{path}, line {rows.reader.line_num}: {error}"
            raise InputError(message, param="input") from None


def _no_utf8(path: Path) -> str:
    """Which line of a file is the first that is no UTF-8; whoever decodes it is further on."""
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            try:
                line.decode()
            except UnicodeDecodeError as error:
                return f"{path}, line {number}: not UTF-8 (byte {error.start} of the line)"
    return f"{path}: not UTF-8"


def _read_folder(folder: Path) -> Iterator[InputRecord]:
    """Read every file below a folder but hidden ones, in the order of their names."""
    files = sorted(
        path
        for path in folder.rglob("*")
        if path.is_file()
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    )
    for index, path in enumerate(files):
        name = path.relative_to(folder).as_posix()
        try:
            text = path.read_bytes().removeprefix(BOM_UTF8).decode()
        except UnicodeDecodeError as error:
            problem = f"not UTF-8 (byte {error.start})"
            yield InputRecord(index, {"file": name}, problem)
        else:
            yield InputRecord(index, {"file": name, "text": text})


ROWS: Final = 1024
"""Rows that are in memory at a time while a file is read."""


def read_parquet(path: Path) -> Iterator[dict[str, object]]:
    """Read the rows of a file. Raises InputError if it is no Parquet file, or pyarrow is
    missing."""
    arrow, tables = require_pyarrow()
    try:
        with tables.ParquetFile(path) as file:
            for batch in file.iter_batches(ROWS):
                yield from batch.to_pylist()
    except arrow.lib.ArrowException as error:
        raise InputError(f"{path}: {error}", param="input") from None


def write_parquet(path: Path, rows: Sequence[dict[str, object]]) -> None:
    """Write rows to a file, which is replaced as a whole. A column whose values have no common type
    holds their JSON."""
    arrow, tables = require_pyarrow()
    names = dict.fromkeys(name for row in rows for name in row)
    columns = {name: _column(arrow, [row.get(name) for row in rows]) for name in names}
    beside = path.with_name(f"{path.name}.part")
    tables.write_table(arrow.table(columns), beside)
    os.replace(beside, path)


def table_rows(results: Path) -> list[dict[str, object]]:
    """The rows of a table of results, in the order of the input: the fields of a record that its
    line repeats, then the properties of its answer, or the whole answer as `output` if it is no
    object. A property with the name of such a field has `output.` before its own."""
    with results.open("rb") as lines:
        found = sorted(map(json.loads, lines), key=lambda line: line.get("index", 0))
    return [_row(line) for line in found]


def _row(line: dict[str, Any]) -> dict[str, object]:
    if "custom_id" in line:
        return line
    row = {name: value for name, value in line.items() if name not in ("output", "usage", "digest")}
    output = line["output"]
    if not isinstance(output, dict):
        return {**row, "output": output}
    answer = cast(dict[str, object], output)
    return row | {f"output.{name}" if name in row else name: answer[name] for name in answer}


def _column(arrow: Any, values: list[object]) -> Any:
    try:
        return arrow.array(values)
    except (arrow.lib.ArrowException, OverflowError):
        texts = [None if value is None else json.dumps(value) for value in values]
        return arrow.array(texts, arrow.string())


def require_pyarrow() -> tuple[Any, Any]:
    """The modules `pyarrow` and `pyarrow.parquet`. Raises InputError that says how to get them."""
    try:
        return importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
    except ModuleNotFoundError:
        raise InputError(
            "Parquet files need pyarrow, which is not installed; "
            "pip install 'maskwright[parquet]' brings it"
        ) from None
