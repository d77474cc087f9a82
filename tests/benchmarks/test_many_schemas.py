"""Schemas that all differ, and the comparison of a server's requests with its first ones."""

from __future__ import annotations

import json

import jsonschema
import pytest

from benchmarks.many_schemas import Answered, figures, slower
from tests.hostile.ordinary import ordinary_schema


def test_schemas_differ_and_are_schemas() -> None:
    texts = [json.dumps(ordinary_schema(number)) for number in range(300)]
    assert len(set(texts)) == 300
    assert texts == [json.dumps(ordinary_schema(number)) for number in range(300)]
    for text in texts[:30]:
        jsonschema.Draft202012Validator.check_schema(json.loads(text))


@pytest.mark.parametrize("number", [0, 7, 133])
def test_another_name_leaves_the_structure(number: int) -> None:
    one, other = (
        json.dumps(ordinary_schema(number, salt), separators=(",", ":")) for salt in ("", "x")
    )
    assert one != other
    renamed = one.replace(f"_{number}", f"_x{number}").replace(f" {number}", f" x{number}")
    assert other == renamed


@pytest.mark.parametrize(
    ("ms", "tokens", "expected"),
    [(100, 10, False), (149, 10, False), (151, 10, True), (151, 11, False), (290, 20, False),
     (310, 20, True), (19, 0, False), (31, 0, True)],
)  # fmt: skip
def test_slower(ms: float, tokens: int, expected: bool) -> None:
    """By the time of a token, and by more than 20 ms."""
    assert slower(Answered(ms, tokens, True), Answered(100, 10, True)) == expected


def test_figures_compare_with_the_first_requests() -> None:
    fresh = [Answered(100, 10, True), Answered(200, 10, True), Answered(50, 5, False)]
    row = figures([Answered(100, 10, True), Answered(400, 10, True), Answered(50, 5, True)], fresh)
    assert (row["n"], row["valid"], row["ratio"], row["slower"]) == (3, 3, 1.0, 1)
    assert "ratio" not in figures(fresh)
