"""Reads and writes Parquet files with pyarrow, an extra."""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, cast

from maskwright.errors import InputError

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
