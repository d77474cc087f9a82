"""Readers of public trace formats.

Azure's LLM inference traces are CSV files with the columns TIMESTAMP, ContextTokens and
GeneratedTokens. Mooncake's are JSON Lines with `timestamp` (milliseconds), `input_length`,
`output_length` and `hash_ids`, one for each block of 512 prompt tokens; equal numbers stand for
equal blocks after equal prefixes.
"""

from __future__ import annotations

import csv
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, cast

from maskwright.errors import InputError
from maskwright_sim.load.demand import Demand, text

MOONCAKE_BLOCK: Final = 512
"""Prompt tokens of a block in Mooncake's traces."""
HASHED: Final = 10_000_000
"""Numbers of the texts that hashed blocks stand for begin here."""


def read_trace(path: str | Path, speed: float = 1.0, most: int | None = None) -> list[Demand]:
    """Read a trace of either format, which the name tells (`.csv` or `.jsonl`), with arrivals
    `speed` times as fast, and at most the first `most` requests. Times begin at 0. Raises
    InputError for what can't be read."""
    file = Path(path)
    if file.suffix not in (".csv", ".jsonl"):
        raise InputError(
            f"{path}: a trace is a .csv file (Azure's) or a .jsonl file (Mooncake's)", param="trace"
        )
    try:
        content = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"can't read {path}: {error}", param="trace") from None
    if speed <= 0:
        raise InputError(f"the speed of a trace is {speed}; it must be above 0", param="speed")
    lines = content.splitlines()
    try:
        rows = _mooncake(lines, most) if file.suffix == ".jsonl" else _azure(lines, most)
    except KeyError as error:
        raise InputError(
            f"{path} is no trace of a known format: a request has no {error}", param="trace"
        ) from None
    except (ValueError, TypeError) as error:
        raise InputError(f"{path} is no trace of a known format: {error}", param="trace") from None
    start = min((time for time, _, _ in rows), default=0.0)
    rows.sort(key=lambda row: row[0])
    return [
        Demand(number, (time - start) / speed, prompt or tuple(text(number, 1)), max(1, output))
        for number, (time, prompt, output) in enumerate(rows)
    ]


def _azure(lines: list[str], most: int | None) -> list[tuple[float, tuple[int, ...], int]]:
    rows: list[tuple[float, tuple[int, ...], int]] = []
    for number, row in enumerate(csv.DictReader(lines)):
        if number == most:
            break
        seconds = _seconds(row["TIMESTAMP"].strip())
        prompt = tuple(text(number, int(row["ContextTokens"])))
        rows.append((seconds, prompt, int(row["GeneratedTokens"])))
    if not rows:
        raise ValueError("it has no request")
    return rows


def _seconds(stamp: str) -> float:
    """The time of a date. The traces of 2023 have seven digits after the point and no zone, those
    of 2024 six and one."""
    date = datetime.fromisoformat(stamp)
    return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()


def _mooncake(lines: list[str], most: int | None) -> list[tuple[float, tuple[int, ...], int]]:
    rows: list[tuple[float, tuple[int, ...], int]] = []
    for line in lines[:most]:
        row = cast(dict[str, Any], json.loads(line))
        length, prompt = int(row["input_length"]), list[int]()
        for block in row["hash_ids"]:
            left = min(MOONCAKE_BLOCK, length - len(prompt))
            prompt += text(HASHED + int(block), max(0, left))
        prompt += text(len(rows), length - len(prompt))
        rows.append((float(row["timestamp"]) / 1000, tuple(prompt), int(row["output_length"])))
    if not rows:
        raise ValueError("it has no request")
    return rows
