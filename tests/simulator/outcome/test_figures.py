"""Figures of a run, from times that are known."""

from __future__ import annotations

import math

import pytest

from maskwright_sim.load.demand import Demand, text
from maskwright_sim.outcome.figures import Objectives, figures, percentile
from maskwright_sim.outcome.picture import draw_runs
from maskwright_sim.outcome.served import Served


def served(number: int, arrival: float, times: list[float], output: int = 3) -> Served:
    return Served(Demand(number, arrival, tuple(text(number, 10)), output), arrival, times)


RUN = [
    served(0, 0.0, [0.1, 0.2, 0.4]),
    served(1, 1.0, [1.5, 1.6, 1.7]),
    served(2, 1.0, [1.5]),
]


def test_times_of_a_request() -> None:
    first = RUN[0]
    assert (first.ttft, first.seconds) == (0.1, 0.4)
    assert first.tpot == pytest.approx(0.15)
    assert first.worst_gap == pytest.approx(0.2)
    assert first.normalized == pytest.approx(0.4 / 3)
    assert not RUN[2].whole


def test_goodput_counts_whole_answers_in_time() -> None:
    found = figures(RUN, (), Objectives(0.3, 1.0))
    assert (found.requests, found.answered) == (3, 2)
    assert found.goodput == pytest.approx(1 / 1.7)
    assert found.attained == pytest.approx(1 / 3)
    assert found.tokens_per_second == pytest.approx(6 / 1.7)
    assert figures(RUN, (), Objectives(tpot=0.12)).goodput == pytest.approx(1 / 1.7)
    assert figures([]).answered == 0


def test_percentiles_are_by_nearest_rank() -> None:
    assert [percentile([1, 2, 3, 4], share) for share in (0, 25, 26, 99)] == [1, 1, 2, 4]
    assert math.isclose(percentile([], 50), 0.0)


def test_a_picture_has_a_line_for_each_run() -> None:
    drawn = draw_runs({"a & b": RUN, "c": RUN[:1]}, "two <runs>")
    assert drawn.count("<polyline") == 4
    assert "a &amp; b" in drawn
    assert "two &lt;runs&gt;" in drawn
