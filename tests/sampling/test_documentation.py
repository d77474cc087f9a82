"""docs/sampling.md names the chain's steps in their order, and every parameter with its bounds."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from maskwright.errors import InputError
from maskwright.kernels.sample_inputs import ORDER
from maskwright.sampling import SamplingParams

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "sampling.md").read_text(encoding="utf-8")


def rows(heading: str) -> list[list[str]]:
    """The cells of the first table after a heading, without its first two lines."""
    section = TEXT.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in section.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_the_steps_are_in_the_order_of_the_chain() -> None:
    assert [row[0].strip("`") for row in rows("The order")] == list(ORDER)


def test_every_parameter_is_there_with_its_default() -> None:
    table = {row[0].strip("`"): row for row in rows("The parameters")}
    given = {field.name: field for field in fields(SamplingParams) if field.init}
    assert len(table) == len(rows("The parameters"))
    assert set(table) == set(given)
    usual = SamplingParams()
    for name, (_, default, *_) in table.items():
        value = getattr(usual, name)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            assert float(default) == value, name


@pytest.mark.parametrize("row", rows("The parameters"), ids=lambda row: row[0].strip("`"))
def test_bounds_are_those_of_the_code(row: list[str]) -> None:
    name = row[0].strip("`")
    found = re.fullmatch(r"(-?[\d.]+) to (-?[\d.]+)", row[2])
    if found is None or name == "logit_bias":
        return
    whole = isinstance(getattr(SamplingParams(), name), (int, type(None)))
    for text, outside in ((found[1], -1), (found[2], 1)):
        bound: Any = int(text) if whole else float(text)
        SamplingParams(**{name: bound})
        with pytest.raises(InputError, match=name):
            SamplingParams(**{name: bound + outside})
