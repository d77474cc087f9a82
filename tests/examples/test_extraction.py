"""The pipeline of examples/extraction: its data, and what it lets through."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from examples.extraction.pipeline import COLUMNS, HERE, checked, compared, fault_of, write_table

NOTE = "Order K-2041 of Ines Roth: 3 times a lamp, $87.50, to Oslo."
ORDER: dict[str, Any] = {
    "order_id": "K-2041",
    "customer": "Ines Roth",
    "product": "lamp",
    "quantity": 3,
    "total": 87.5,
    "city": "Oslo",
}


def expected() -> list[dict[str, str]]:
    with (HERE / "expected.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def test_what_is_expected_stands_in_the_notes() -> None:
    notes = sorted((HERE / "notes").iterdir())
    assert len(expected()) == len(notes) == 24
    for row, note in zip(expected(), notes, strict=True):
        assert all(value in note.read_text() for value in row.values()), note


def test_the_schema_has_the_columns() -> None:
    schema = json.loads((HERE / "order.json").read_text())
    assert tuple(schema["required"]) == COLUMNS
    jsonschema.validate(ORDER, schema)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({}, None),
        ({"product": "lamps", "total": 87.0}, "the note doesn't say: product, total"),
        ({"customer": "Oslo"}, "Oslo can't be both customer and city"),
    ],
)
def test_what_is_left_to_a_person(change: dict[str, Any], fault: str | None) -> None:
    assert fault_of({**ORDER, **change}, NOTE, set()) == fault


def test_an_order_comes_once() -> None:
    assert fault_of(ORDER, NOTE, {"K-2041"}) == "K-2041 comes twice"


def test_a_perfect_model_gives_the_expected_table(tmp_path: Path) -> None:
    notes = sorted(path.name for path in (HERE / "notes").iterdir())
    answers = [
        {
            "id": note,
            "output": {**row, "quantity": int(row["quantity"]), "total": float(row["total"])},
        }
        for note, row in zip(notes, expected(), strict=True)
    ]
    rows, rejected = checked(answers)
    assert rejected == []
    assert compared(rows) == (24 * len(COLUMNS), 24 * len(COLUMNS))
    write_table(
        tmp_path / "t.csv", COLUMNS, [{name: row[name] for name in COLUMNS} for row in rows]
    )
    assert (tmp_path / "t.csv").read_text() == (HERE / "expected.csv").read_text()
