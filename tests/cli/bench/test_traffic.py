"""Which requests are sent, and when."""

from __future__ import annotations

import random
from typing import Any

import pytest

from maskwright.cli.bench.client import BURST, SHAPES, Cell, arrivals, matrix

CELL = Cell(4, 8, "", 0.0, "none")


CELLS = matrix([2, 30], [8, 64], ["", "batch"], [0.0], ["none", "regex"])


@pytest.mark.parametrize("pattern", ["steady", "burst", "adversarial"])
def test_a_pattern_keeps_its_rate(pattern: Any) -> None:
    load = arrivals(pattern, 10.0, 8.0, CELLS, random.Random(1))
    times = [at for at, _ in load]
    assert len(load) == 80
    assert times == sorted(times)
    assert 7.0 < times[-1] < 8.0
    together = max(times.count(at) for at in times)
    assert together == (1 if pattern == "steady" else BURST)
    kinds = {(cell.words, cell.cap) for _, cell in load}
    assert kinds == ({(2, 64), (30, 8)} if pattern == "adversarial" else
                     {(2, 8), (2, 64), (30, 8), (30, 64)})  # fmt: skip
    if pattern != "adversarial":
        assert {cell for _, cell in load} == set(CELLS)


def test_prompts_are_of_their_length_and_share_nothing() -> None:
    bodies: list[Any] = [Cell(20, 8, "batch", 0.5, "regex").body(seed) for seed in range(50)]
    texts = [body["messages"][0]["content"].split() for body in bodies]
    assert all(len(text) == 20 for text in texts)
    assert len({text[0] for text in texts}) == 50
    assert bodies[0]["maskwright"] == {"service": "batch"}
    assert "maskwright" not in CELL.body(1)


@pytest.mark.parametrize(
    ("rate", "seconds", "count"), [(10.0, 8.0, 80), (0.1, 1.0, 1), (1.0, 2.5, 2), (3.0, 1.5, 4)]
)
def test_how_many_are_sent(rate: float, seconds: float, count: int) -> None:
    assert len(arrivals("steady", rate, seconds, CELLS, random.Random(1))) == count


def test_bodies_ask_for_what_their_cell_says() -> None:
    body: Any = Cell(3, 7, "", 0.5, "schema").body(9)
    assert (body["max_tokens"], body["temperature"], body["seed"]) == (7, 0.5, 9)
    assert body["stream"] is True
    assert body["stream_options"] == {"include_usage": True}
    assert body["response_format"] == SHAPES["schema"].response_format
    assert "response_format" not in Cell(3, 7, "", 0.5, "none").body(9)
    assert body == Cell(3, 7, "", 0.5, "schema").body(9), "a seed gives one body"


def test_the_matrix_is_every_combination() -> None:
    assert len(CELLS) == len(set(CELLS)) == 2 * 2 * 2 * 1 * 2
    assert CELLS[0] == Cell(2, 8, "", 0.0, "none")


@pytest.mark.parametrize(
    ("shape", "text", "holds"),
    [
        ("schema", '{"name": "A", "age": 3, "member": true}', True),
        ("schema", '{"name": "A", "age": 3}', False),
        ("schema", '{"name": "A", "age": true, "member": true}', False),
        ("schema", '{"name": "A", "age": 130, "member": true}', False),
        ("schema", '{"name": "A", "age": 3', False),
        ("schema", "[]", False),
        ("regex", "AB-1234-xyz", True),
        ("regex", "AB-1234-xyz\n", False),
        ("none", "", True),
    ],
)
def test_answers_are_checked_without_their_grammar(shape: Any, text: str, holds: bool) -> None:
    assert SHAPES[shape].holds(text) is holds


PERSONS = [
    ('{"name": "A", "age": 0, "member": true}', True),
    ('{"name": "A", "age": 120, "member": false}', True),
    ('{"name": "A", "age": 121, "member": false}', False),
    ('{"name": "A", "age": -1, "member": false}', False),
    ('{"name": "A", "age": 3.0, "member": false}', False),
    ('{"name": "%s", "age": 3, "member": false}' % ("x" * 20), True),
    ('{"name": "%s", "age": 3, "member": false}' % ("x" * 21), False),
    ('{"age": 3, "name": "A", "member": false}', False),  # in the order of the schema
    ('{"name": "A", "age": 3, "member": false, "x": 1}', False),
    ('{"name": "A", "age": 3, "member": 1}', False),
    ("", False),
]


@pytest.mark.parametrize(("text", "holds"), PERSONS)
def test_persons(text: str, holds: bool) -> None:
    assert SHAPES["schema"].holds(text) is holds


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("AB-1234", True),
        ("AB-1234-xyz", True),
        ("AB-1234-", False),
        ("aB-1234", False),
        ("", False),
    ],
)
def test_texts_of_the_pattern(text: str, holds: bool) -> None:
    assert SHAPES["regex"].holds(text) is holds
