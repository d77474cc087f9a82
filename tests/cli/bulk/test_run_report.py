from __future__ import annotations

import io
import sys
from collections import Counter

import pytest

from maskwright.cli.bulk.run_report import (
    Prices,
    RunCounts,
    note,
    progress_bar,
    report_row,
    report_text,
)
from maskwright.cli.bulk.work import TokenUse

COUNTS = RunCounts(
    total=2000,
    before=500,
    now=500,
    failures=Counter(timeout=3, cut_off=2),
    use=TokenUse(1_000_000, 400_000, 50_000),
    use_now=TokenUse(500_000, 200_000, 20_000),
)


def test_throughput_is_of_this_run_and_cost_of_all_results() -> None:
    row = report_row(COUNTS, 10.0, 4, Prices(prompt=2.0, completion=10.0, cached=1.0, hour=36.0))
    assert row["records_a_second"] == 50.0
    assert row["completion_tokens_a_second"] == 2000.0
    assert (row["valid"], row["failed"], row["left"]) == (995, 5, 1000)
    assert row["cost"] == 0.6 * 2 + 0.4 * 1 + 0.05 * 10 + 0.1
    assert row["cost_of_1000_records"] == row["cost"]


def test_cached_tokens_cost_what_others_do_unless_it_is_said() -> None:
    assert Prices(prompt=2.0).cost(COUNTS.use, 0.0) == 2.0
    assert "cost" not in report_row(COUNTS, 10.0, 0, Prices())


def test_lines_for_people() -> None:
    assert report_text(report_row(COUNTS, 10.0, 4, Prices(prompt=2.0))) == (
        "records   2,000\n"
        "valid     995\n"
        "failed    5: cut_off 2, timeout 3\n"
        "this run  500 in 10.0 s, 50.0 a second; 500 were done before\n"
        "tokens    1,000,000 of prompts (400,000 cached), 50,000 of answers, 2,000 a second\n"
        "left      1,000\n"
        "repeated  4 requests\n"
        "cost      2.0000, 2.0000 for 1,000 records"
    )


def test_a_run_that_did_nothing() -> None:
    assert report_row(RunCounts(), 0.0, 0, Prices(hour=1.0))["cost_of_1000_records"] == 0.0


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("stream", "shown"), [(Terminal(), True), (io.StringIO(), False)])
def test_only_a_terminal_shows_it(
    monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, shown: bool
) -> None:
    monkeypatch.setattr(sys, "stderr", stream)
    with progress_bar(RunCounts(total=3, before=1)) as bar:
        note("The server answers again")
        bar.update()
    assert ("1/3" in stream.getvalue()) == shown
    assert "The server answers again\n" in stream.getvalue()
    assert stream.getvalue().endswith("\r" if shown else "\n")
