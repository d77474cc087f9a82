from __future__ import annotations

import os
from pathlib import Path

import pytest

from maskwright.sizing.processors import usable_processors


@pytest.fixture(autouse=True)
def _eight_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("max 100000\n", 8),
        ("200000 100000\n", 2),
        ("150000 100000\n", 1),
        ("50000 100000\n", 1),
        ("6400000 100000\n", 8),
        ("", 8),
        ("0 0", 8),
    ],
)
def test_a_quota_of_the_control_group(text: str, expected: int, tmp_path: Path) -> None:
    (tmp_path / "cpu.max").write_text(text)
    assert usable_processors(tmp_path) == expected


@pytest.mark.parametrize(("quota", "expected"), [("-1\n", 8), ("300000\n", 3)])
def test_a_quota_of_the_first_version(quota: str, expected: int, tmp_path: Path) -> None:
    (tmp_path / "cpu").mkdir()
    (tmp_path / "cpu" / "cpu.cfs_quota_us").write_text(quota)
    (tmp_path / "cpu" / "cpu.cfs_period_us").write_text("100000\n")
    assert usable_processors(tmp_path) == expected


def test_no_control_group(tmp_path: Path) -> None:
    assert usable_processors(tmp_path) == 8


def test_a_system_that_says_nothing_of_a_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert usable_processors(tmp_path) == 1
