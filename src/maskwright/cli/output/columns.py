"""Names with what they stand for, in two columns within the width of the terminal."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Mapping
from typing import Final

WIDEST: Final = 100
"""Columns of a line at most."""


def described(rows: Mapping[str, str], indent: str = "  ") -> str:
    """A line for each name, with its description beside it; long descriptions are continued."""
    width = min(WIDEST, shutil.get_terminal_size().columns)
    left = max(map(len, rows), default=0) + 2
    lines: list[str] = []
    for name, text in rows.items():
        first, *more = textwrap.wrap(text, max(20, width - left - len(indent))) or [""]
        lines.append(f"{indent}{name:{left}}{first}".rstrip())
        lines += [" " * (left + len(indent)) + line for line in more]
    return "\n".join(lines)
