"""How much of the package runs for one chat request: little, so that a reader can follow it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tools import first_mask_classes
from tools.request_functions import KINDS, Watch

SCRIPT = Path(__file__).resolve().parents[2] / "tools" / "request_functions.py"
MOST = {0: (1030, 140), 1: (630, 86)}
"""The most functions and modules, by grammar processes. Fewer are better: lower these whenever the
counts fall. Some functions run or not, as threads happen to meet: 30 more on a busy machine, where
masks come late."""


@pytest.mark.parametrize("processes", MOST)
def test_a_request_runs_few_functions(processes: int) -> None:
    """In a fresh process, for what other tests have computed would be known."""
    run = subprocess.run(
        [sys.executable, str(SCRIPT), "--processes", str(processes), "--list"],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    for kind in KINDS:
        counts = re.search(rf"^{kind}: (\d+) functions in (\d+) modules", run.stdout, re.MULTILINE)
        assert counts is not None, run.stdout
        functions, modules = map(int, counts.groups())
        most_functions, most_modules = MOST[processes]
        assert 300 < functions <= most_functions, run.stdout
        assert 50 < modules <= most_modules, run.stdout
    # What runs in the event loop's thread and in the engine's, and in which process masks are made.
    assert run.stdout.count("    server.starter:Starter.start\n") == len(KINDS)
    assert run.stdout.count("    engine.step.core:Core.step\n") == len(KINDS)
    masks = run.stdout.count("    mask.walker:Walker")
    assert (masks == 0) == (processes > 0), run.stdout


def watched() -> None:
    pass


def test_what_a_watch_notes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls in threads that began while it watched, made while it notes."""
    monkeypatch.setattr(first_mask_classes, "PACKAGE", f"{Path(__file__).parent}{os.sep}")
    watch, calls = Watch(), [threading.Barrier(2) for _ in range(3)]

    def run() -> None:
        for before in calls:
            before.wait()
            watched()
            before.wait()

    def call(before: threading.Barrier) -> None:
        before.wait()
        before.wait()

    with watch.watching():
        thread = threading.Thread(target=run)
        thread.start()
        call(calls[0])
        with watch.noting() as found:
            watched()  # in a thread that isn't watched
            assert found.functions == set()
            call(calls[1])
        call(calls[2])
        thread.join()
    with watch.noting() as late:
        other = threading.Thread(target=watched)
        other.start()
        other.join()
    assert found.functions == {"test_request_functions:watched"}
    assert late.functions == set()
