"""What surrounds the import of a command, or of what it does."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager

from maskwright.cli.output.progress import progress


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
