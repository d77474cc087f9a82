"""Colours, on a terminal only."""

from __future__ import annotations

import os
import sys
from typing import Final, Literal

Colour = Literal["red", "green", "yellow", "blue", "dim", "bold"]
_CODES: Final = {"red": 31, "green": 32, "yellow": 33, "blue": 34, "dim": 2, "bold": 1}


def has_colours() -> bool:
    """Whether standard output shows colours: it is a terminal, which `NO_COLOR` doesn't forbid."""
    return (
        sys.stdout.isatty()
        and os.environ.get("NO_COLOR") is None
        and os.environ.get("TERM") != "dumb"
    )


def coloured(text: str, colour: Colour) -> str:
    """The text in a colour where there are colours; otherwise as it is."""
    return f"\x1b[{_CODES[colour]}m{text}\x1b[0m" if text and has_colours() else text
