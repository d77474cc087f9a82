"""How much of a long line is shown."""

from __future__ import annotations

import shutil
import sys
from typing import Final

from maskwright.workbench.pointer import WINDOW

NARROWEST: Final = 20
AROUND: Final = 4
"""Columns that an excerpt has around it: two of its indentation, and two for the signs that it is
cut."""


def excerpt_width() -> int:
    """Characters of a long line that are shown of it: what the terminal has room for."""
    if not (sys.stdout.isatty() or sys.stderr.isatty()):
        return WINDOW
    return max(NARROWEST, shutil.get_terminal_size().columns - AROUND)
