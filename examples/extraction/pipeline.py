"""From raw texts to a validated table: notes about orders in, a CSV file out.

Run `python examples/extraction/pipeline.py --out FOLDER`, which serves the demo model itself, or
add `--url http://127.0.0.1:8000` for a server that runs (`make run`). Stopped in the middle, the
same command goes on. README.md explains the steps.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
COLUMNS = ("order_id", "customer", "product", "quantity", "total", "city")

Row = dict[str, str]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="folder for the results")
    parser.add_argument("--url", help="address of a server; by default the demo model is served")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    answers = extract(options.out / "answers.jsonl", options.url)
    rows, rejected = checked(answers)
    write_table(options.out / "orders.csv", (*COLUMNS, "note"), rows)
    write_table(options.out / "rejected.csv", ("note", "reason"), rejected)
    right, values = compared(rows)
    print(f"{len(rows)} orders in orders.csv, {len(rejected)} in rejected.csv")
    print(f"{right} of {values} values in it are right, by expected.csv")


def extract(results: Path, url: str | None) -> list[dict[str, Any]]:
    """Ask about every note; returns the lines of all that have a valid answer, in order."""
    command = [sys.executable, "-m", "maskwright", "batch", str(HERE / "notes"), str(results)]
    command += ["--schema", str(HERE / "order.json")]
    command += ["--prompt-template", str(HERE / "prompt.txt")]
    command += [] if url is None else ["--url", url]
    if subprocess.run(command, check=False).returncode not in (0, 1):  # 1: some notes failed
        sys.exit("maskwright batch did not finish; run this again to go on")
    lines = [json.loads(line) for line in results.read_text().splitlines()]
    return sorted(lines, key=lambda line: line["index"])


def checked(answers: Iterable[Mapping[str, Any]]) -> tuple[list[Row], list[Row]]:
    """Check what no schema can say: every value stands in its note, no order comes twice, and a
    customer is no city. Returns the rows of the table, and the notes that are left to a person."""
    rows: list[Row] = []
    rejected: list[Row] = []
    known: set[str] = set()
    for answer in answers:
        note, order = str(answer["id"]), answer["output"]
        fault = fault_of(order, (HERE / "notes" / note).read_text(), known)
        known.add(order["order_id"])
        if fault is None:
            rows.append({name: written(order[name]) for name in COLUMNS} | {"note": note})
        else:
            rejected.append({"note": note, "reason": fault})
    return rows, rejected


def fault_of(order: Mapping[str, Any], text: str, known: set[str]) -> str | None:
    """What is wrong with the answer about a note, given the orders that are known; None if nothing
    is."""
    invented = [name for name in COLUMNS if written(order[name]) not in text]
    if invented:
        return f"the note doesn't say: {', '.join(invented)}"
    if order["order_id"] in known:
        return f"{order['order_id']} comes twice"
    if order["customer"] == order["city"]:
        return f"{order['city']} can't be both customer and city"
    return None


def written(value: object) -> str:
    """A value as notes and table have it: prices with two digits after the point."""
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def write_table(path: Path, columns: Iterable[str], rows: Iterable[Row]) -> None:
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, list(columns), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


def compared(rows: Iterable[Row]) -> tuple[int, int]:
    """How many values of the table are right, by expected.csv, and how many it has."""
    with (HERE / "expected.csv").open(newline="") as file:
        expected = {row["order_id"]: row for row in csv.DictReader(file)}
    pairs = [
        (row[name], expected.get(row["order_id"], {}).get(name)) for row in rows for name in COLUMNS
    ]
    return sum(found == right for found, right in pairs), len(pairs)


if __name__ == "__main__":
    main()
