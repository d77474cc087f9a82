"""The tables of docs/api.md that list fields of requests, against the models."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from maskwright.server.openapi.document import schemas
from maskwright.server.request.completion_requests import ChatCompletionRequest

PAGE: Final = (Path(__file__).resolve().parents[3] / "docs" / "api.md").read_text()
SCHEMAS: Final[Any] = schemas()
TABLES: Final = {
    "## `POST /v1/chat/completions`": "ChatCompletionRequest",
    "## `POST /v1/responses`": "ResponseRequest",
    "## `POST /v1/messages`": "AnthropicRequest",
    "## `POST /v1/completions`": "CompletionRequest",
    "## `POST /v1/explain`": "ExplainTextRequest",
}
ABOUT_ANSWERS: Final = {"id", "choice"}
"""Fields of the other form of an explanation, which stand in the same table."""
BOUNDS: Final = re.compile(r"(-?[\d.]+) to (-?[\d.]+)(?:,|$)")
DEFAULT: Final = re.compile(r"default (true|false|-?[\d.]+)(?:[,; (]|$)")


class Row(NamedTuple):
    """A row of a table: the fields that it names, and what it says of their values."""

    table: str
    fields: tuple[str, ...]
    values: str


def rows(heading: str) -> Iterator[Row]:
    """The rows of the first table after a heading."""
    section = PAGE.partition(f"\n{heading}\n")[2].partition("| field | values | notes |\n")[2]
    for line in section.splitlines()[1:]:
        if not line.startswith("|"):
            return
        names, values = line.split(" | ")[:2]
        yield Row(TABLES[heading], tuple(re.findall(r"`([\w.]+)`", names)), values.strip(" |"))


ROWS: Final = [row for heading in TABLES for row in rows(heading)]


def described(table: str, path: str) -> Any:
    """The schema of a field that is named by its dotted path; None if there is none."""
    found: Any = SCHEMAS[table]
    for name in path.split("."):
        while "properties" not in found:
            choices = found.get("anyOf", [found])
            found = SCHEMAS[choices[0]["$ref"].rpartition("/")[2]]
        found = found["properties"].get(name)
        if found is None:
            return None
    return found


def test_each_table_is_found() -> None:
    assert {row.table for row in ROWS} == set(TABLES.values())
    assert len(ROWS) >= 70


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.table} {row.fields[:1]}")
def test_rows_are_about_fields_that_there_are(row: Row) -> None:
    names = set(row.fields)
    if row.table == "ExplainTextRequest":
        names -= ABOUT_ANSWERS
    assert [name for name in names if described(row.table, name) is None] == []


def test_every_field_of_a_chat_has_a_row() -> None:
    table = [row.fields for row in ROWS if row.table == "ChatCompletionRequest"]
    named = {name.partition(".")[0] for fields in table for name in fields}
    assert named >= ChatCompletionRequest.obeyed - {"include_reasoning", "separate_reasoning"}


@pytest.mark.parametrize(
    "row", [row for row in ROWS if BOUNDS.search(row.values)], ids=lambda row: str(row.fields)
)
def test_bounds_are_those_of_the_model(row: Row) -> None:
    said = {(float(low), float(high)) for low, high in BOUNDS.findall(row.values)}
    choices = [each for name in row.fields for each in described(row.table, name)["anyOf"]]
    numbers = [each for each in choices if "maximum" in each]
    assert {(each["minimum"], each["maximum"]) for each in numbers} == said


@pytest.mark.parametrize(
    "row", [row for row in ROWS if DEFAULT.search(row.values)], ids=lambda row: str(row.fields)
)
def test_defaults_are_those_of_the_model(row: Row) -> None:
    [said] = DEFAULT.findall(row.values)
    for name in row.fields:
        default = described(row.table, name).get("default")
        assert said == (str(default).lower() if isinstance(default, bool) else f"{default:g}"), name
