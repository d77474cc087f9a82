"""A line on a terminal that says what a command is doing, while that takes more than a moment; that
it starts, too, while it is imported.
"""

from __future__ import annotations

import gc
import shutil
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final, TypeAlias

from maskwright.cli.output.appearance import shows_progress

MOMENT_S: Final = 0.7
"""Seconds for which nothing is shown: most work is done by then, and a line that is gone before it
can be read only flickers."""
PERIOD_S: Final = 0.2

Tell: TypeAlias = Callable[[str], None]


@contextmanager
def progress(doing: str) -> Generator[Tell]:
    """Show on standard error what is being done and for how many seconds, while the block runs, and
    clear the line after it. What the block gets replaces the text. Nothing is written where
    standard error is no terminal that can clear a line."""
    if not shows_progress():
        yield lambda _: None
        return
    line = _Line(doing)
    painting = threading.Thread(target=line.paint, daemon=True)
    painting.start()
    try:
        yield line.tell
    finally:
        line.done.set()
        painting.join()


class _Line:
    """The line, which a thread of its own paints until `done` is set."""

    def __init__(self, doing: str) -> None:
        self.done = threading.Event()
        self._doing = doing
        self._begun = time.monotonic()

    def tell(self, doing: str) -> None:
        self._doing = doing

    def paint(self) -> None:
        if self.done.wait(MOMENT_S):
            return
        while not self.done.is_set():
            seconds = time.monotonic() - self._begun
            width = shutil.get_terminal_size().columns - 1
            _write(f"{self._doing} … {seconds:.0f} s"[:width])
            self.done.wait(PERIOD_S)
        _write("")


def _write(text: str) -> None:
    sys.stderr.write(f"\r{text}\x1b[K")
    sys.stderr.flush()


@contextmanager
def loading() -> Generator[None]:
    """Import modules in this block: it says on a terminal that the command starts, and keeps the
    garbage collector from running. What is imported stays, and looking for garbage in it is a tenth
    of the start time of `check`."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        with progress("starting"):
            yield
    finally:
        if was_enabled:
            gc.enable()
