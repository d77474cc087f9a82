"""Reads the file that `serve --trace` writes: a JSON object in each line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias, cast

from maskwright.cli.input.texts import bytes_of
from maskwright.errors import InputError
from maskwright.json_faults import json_reason

TraceFields: TypeAlias = Mapping[str, Any]
"""The fields of one choice, which docs/api.md describes."""

NEEDED = ("request_id", "received", "request_ms", "total_ms", "queue_ms")


def read_traces(path: str) -> list[TraceFields]:
    """Return the choices in a file, or in standard input for '-'. Raises InputError that names the
    line of what is no trace; a last line without its end is left out, because the server may be
    writing it."""
    lines = bytes_of(path).decode("utf-8", "replace").split("\n")
    whole = lines[:-1] if lines[-1] else lines
    name = "standard input" if path == "-" else Path(path).name
    return list(_parse(whole, name))


def _parse(lines: list[str], name: str) -> Iterator[TraceFields]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            fields: object = json.loads(line)
        except ValueError as error:
            raise InputError(
                f"{name}:{number}: not JSON: {json_reason(error, one_line=True)}"
            ) from None
        if not isinstance(fields, dict):
            raise InputError(f"{name}:{number}: not a JSON object, so no trace")
        found = cast(TraceFields, fields)
        missing = [each for each in NEEDED if not isinstance(found.get(each), int | float | str)]
        if missing:
            raise InputError(f"{name}:{number}: no trace of a request: {missing[0]} is missing")
        yield found
