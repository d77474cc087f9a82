from __future__ import annotations

import asyncio
import io
import os
import sys
from collections import Counter

import pytest

from maskwright.cli.bulk.run import (
    Prices,
    RunCounts,
    figures,
    note,
    progress_bar,
    report_row,
    report_text,
)
from maskwright.cli.bulk.work import TokenUse
from tests.bounds import PATIENCE

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
    async def run() -> None:
        async with progress_bar(RunCounts(total=3, before=1)):
            note("The server answers again")

    monkeypatch.setattr(sys, "stderr", stream)
    asyncio.run(run())
    assert ("1/3" in stream.getvalue()) == shown
    assert "The server answers again\n" in stream.getvalue()
    assert stream.getvalue().endswith("\r" if shown else "\n")


def test_the_bar_goes_on_while_no_answer_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = RunCounts(total=1000, before=200)
    terminal = Terminal()

    async def is_drawn(text: str) -> None:
        before = len(terminal.getvalue())
        while text not in terminal.getvalue()[before:]:
            await asyncio.sleep(0.01)

    async def run() -> None:
        async with progress_bar(counts):
            await is_drawn("200/1,000 [00:01]")
            counts.now = 300
            await is_drawn("500/1,000 [00:0")
            counts.failures = Counter(timeout=2)
            await is_drawn(" left, 2 failed]")

    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr("maskwright.cli.bulk.run.PERIOD_S", 0.02)
    asyncio.run(asyncio.wait_for(run(), PATIENCE))


def test_a_terminal_without_a_size_has_that_of_the_variable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Or of 80 columns; however few lines it says it has."""

    async def run() -> None:
        async with progress_bar(RunCounts(total=3)):
            pass

    reading, writing = os.openpty()
    os.set_blocking(reading, False)
    assert os.get_terminal_size(writing).columns == 0
    monkeypatch.setenv("COLUMNS", "90")
    monkeypatch.delenv("LINES", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    with os.fdopen(writing, "w", encoding="utf-8") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        asyncio.run(run())
        drawn = os.read(reading, 10_000).decode().split("\r")
    os.close(reading)
    assert max(map(len, drawn)) == 89
    assert any("0/3 [00:00]" in each for each in drawn)


def test_figures_of_a_run() -> None:
    counts = RunCounts(total=1000, before=200, now=300, failures=Counter(timeout=2))
    assert figures(counts, 60.0) == "5.0 records/s, 01:40 left, 2 failed"
    assert figures(RunCounts(total=5, now=2), 6.1) == "3.0 s/record, 00:09 left"
    assert figures(RunCounts(total=5), 6.1) == ""
