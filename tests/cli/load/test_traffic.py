"""Which requests are sent, and when."""

from __future__ import annotations

import random
from typing import Any

import pytest

from maskwright.cli.load.shapes import SHAPES
from maskwright.cli.load.traffic import BURST, Cell, arrivals, matrix

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
