"""The figures that every benchmark prints."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import report
from benchmarks.report import Report, figures, percentile


@given(
    st.lists(st.integers(), min_size=1, max_size=200, unique=True),
    st.sampled_from([1, 25, 50, 90, 99, 99.9, 100]),
)
def test_percentile(samples: list[int], percent: float) -> None:
    value = percentile(sorted(samples), percent)
    at_most = sum(sample <= value for sample in samples)
    assert (at_most - 1) / len(samples) < percent / 100 <= at_most / len(samples)


def test_figures_do_not_depend_on_order() -> None:
    row = figures([5.0, 1.0, 3.0], "mask_us")
    five = ("p90", "p99", "p99.9", "max")
    assert row == {
        "n": 3,
        "mask_us mean": 3.0,
        "mask_us p50": 3.0,
        **{f"mask_us {name}": 5.0 for name in five},
    }


def test_rows_are_printed_and_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    made = Report("masks", packages=("numpy",), load="idle")
    made.add("plain object", engine="ours", mask_us=12345.678, refused=None)
    made.finish(save=False)
    assert list(tmp_path.iterdir()) == []
    made.finish(save=True)
    made.add("another", engine="ours", mask_us=1)
    made.finish(save=True)
    printed = capsys.readouterr().out
    assert "plain object" in printed
    assert "12,346" in printed
    rows = [json.loads(line) for line in (tmp_path / "masks.jsonl").read_text().splitlines()]
    assert [row["case"] for row in rows] == ["plain object", "another"], "each row once"
    assert rows[0]["mask_us"] == 12345.678
    assert rows[0]["load"] == "idle"
    assert rows[0]["versions"] == {"numpy": np.__version__}
