"""How much of the package takes part in one mask: few classes, so that a reader can follow it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tools import first_mask_classes

SCRIPT = Path(__file__).resolve().parents[2] / "tools" / "first_mask_classes.py"
MOST_CLASSES = 12
"""Fewer are better: lower it whenever the count falls."""


def test_a_first_mask_takes_few_classes() -> None:
    """In a fresh process, for what other tests have computed would be known."""
    run = subprocess.run(
        [sys.executable, str(SCRIPT)], capture_output=True, text=True, check=True, timeout=120
    )
    counts = re.search(r"^first mask: (\d+) classes", run.stdout, flags=re.MULTILINE)
    assert counts is not None, run.stdout
    assert "  mask.recognizer.Recognizer\n" in run.stdout
    assert 5 < int(counts[1]) <= MOST_CLASSES, run.stdout


class Plain:
    """Something of a package that is watched."""

    def __init__(self) -> None:
        self.value = 1

    @property
    def twice(self) -> int:
        return sum(self.value for _ in range(2))


def unrelated() -> int:
    return Plain().twice


@pytest.mark.parametrize("watched", [True, False])
def test_what_is_noted(watched: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path(__file__).parent if watched else SCRIPT.parent
    monkeypatch.setattr(first_mask_classes, "PACKAGE", f"{folder}{os.sep}")
    found = first_mask_classes.touched(unrelated)
    assert found.classes == ({"test_first_mask.Plain"} if watched else set())
    names = {"unrelated", "Plain.__init__", "Plain.twice", "Plain.twice.<locals>.<genexpr>"}
    assert found.functions == ({f"test_first_mask:{each}" for each in names} if watched else set())
    assert sys.getprofile() is None


def test_what_runs_both_times() -> None:
    both = first_mask_classes.Touched({"a"}, {"b", "c"}, {"d"}, {"e", "f"})
    other = first_mask_classes.Touched({"a", "b"}, {"c"}, set(), {"f", "g"})
    assert both & other == first_mask_classes.Touched({"a"}, {"c"}, set(), {"f"})
