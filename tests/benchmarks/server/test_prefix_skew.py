"""The load of the benchmark: equal for both routers except for the caches that they fill."""

from __future__ import annotations

import argparse

from benchmarks.server.prefix_skew import Turns, figures_of, requests

OPTIONS = argparse.Namespace(beginnings=4, requests=60, tokens=90, answer=3)


def test_requests_of_a_round_are_equal_except_for_their_salt() -> None:
    ours, theirs = requests(1, "a", OPTIONS), requests(1, "b", OPTIONS)
    assert {one["cache_salt"] for one in theirs} == {"b"}
    assert ours == [{**one, "cache_salt": "a"} for one in theirs]
    assert [one["messages"] for one in requests(2, "a", OPTIONS)] != [
        one["messages"] for one in ours
    ]


def test_a_few_beginnings_are_frequent() -> None:
    begins = [one["messages"][0]["content"] for one in requests(1, "a", OPTIONS)]
    counts = sorted(begins.count(text) for text in set(begins))
    assert len(counts) == 4
    assert counts[-1] > 2 * counts[0]


def test_figures_compare_rounds_with_each_other() -> None:
    ours = Turns([[10.0, 20.0], [10.0, 30.0]], asked=200.0, cached=150.0)
    theirs = Turns([[40.0, 40.0], [60.0, 100.0]], asked=200.0, cached=50.0)
    row = figures_of(ours, theirs)
    assert row["ttft_ms p99"] == 30.0
    assert row["cached_%"] == 75.0
    assert row["ratio p99"] == 0.3
    assert row["rounds p99"] == 0.4
