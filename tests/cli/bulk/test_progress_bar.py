from __future__ import annotations

import asyncio
import io
import sys
from collections import Counter

import pytest

from maskwright.cli.bulk.progress_bar import bar_line, clock, progress_bar
from maskwright.cli.bulk.run_report import RunCounts


def test_a_line_tells_how_far_it_is() -> None:
    counts = RunCounts(total=1000, before=200, now=300, failures=Counter(timeout=2))
    line = bar_line(counts, 60.0, 70)
    assert line == "500/1,000  [##############               ]  5.0/s  1:40 left  2 failed"
    assert bar_line(counts, 60.0, 30) == "500/1,000  5.0/s  1:40 left  2"
    assert len(line) == 70
    assert "? left" in bar_line(RunCounts(total=5), 0.0, 80)
    assert all(len(bar_line(counts, 60.0, width)) <= width for width in range(1, 120))


def test_durations() -> None:
    assert [clock(s) for s in (0.4, 61, 3600)] == ["0:00", "1:01", "1:00:00"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("stream", "shown"), [(Terminal(), True), (io.StringIO(), False)])
def test_only_a_terminal_shows_it(
    monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, shown: bool
) -> None:
    async def run() -> None:
        async with progress_bar(RunCounts(total=3)):
            await asyncio.sleep(0.01)

    monkeypatch.setattr(sys, "stderr", stream)
    asyncio.run(run())
    assert ("0/3" in stream.getvalue()) == shown
    assert stream.getvalue().endswith("\r\x1b[K") == shown
