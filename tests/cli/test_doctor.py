from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from maskwright.cli import doctor
from maskwright.models.batch_invariance import BatchInvariance
from maskwright.vocab.array_cache import ArrayCache
from tests.cli.conftest import Run


def test_what_this_machine_is(run: Run) -> None:
    found = run("doctor", "--json")
    rows = {row["name"]: row for row in json.loads(found.stdout)["examined"]}
    assert {
        "system",
        "cores",
        "instructions",
        "python",
        "torch",
        "vocabulary tables",
        "gpu",
        "equal bits",
    } <= set(rows)
    assert found.returncode == (1 if any(row["advice"] for row in rows.values()) else 0)


def test_advice_stands_below_what_it_is_about(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0}, raising=False)
    monkeypatch.setattr(
        doctor, "probe_batch_invariance", lambda _: BatchInvariance("a product of 3 inputs")
    )
    found = run("doctor")
    assert found.returncode == 1
    lines = found.stdout.splitlines()
    at = next(i for i, line in enumerate(lines) if "cores" in line)
    assert lines[at].startswith("! cores  ")
    assert lines[at + 1].strip().startswith("→ with a second core")
    assert "not in a product of 3 inputs" in found.stdout


def test_memory_is_read_from_the_system(tmp_path: Path) -> None:
    file = tmp_path / "meminfo"
    file.write_text("MemTotal:       2048 kB\nMemFree: 1 kB\nMemAvailable:   1024 kB\n")
    assert doctor.memory(file) == (2 << 20, 1 << 20)
    assert doctor.memory(tmp_path / "nothing") == (0, 0)


def test_a_folder_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder in (None, tmp_path / "file" / "cache"):
        row = doctor.tables(folder)
        assert "XDG_CACHE_HOME" in row.advice
    cache = tmp_path / "cache"
    ArrayCache(cache, 32 * "0").arrays("name", lambda: {"a": np.zeros(3 << 17)})
    (cache / "notes").write_text("mine")
    row = doctor.tables(cache)
    assert (row.found, row.advice) == (f"1 files, 3 MiB in {cache}", "")
