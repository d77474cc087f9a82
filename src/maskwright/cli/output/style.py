"""Colours, where output shows them."""

from __future__ import annotations

from typing import Final, Literal

from maskwright.cli.output.appearance import has_colours

Colour = Literal["red", "green", "yellow", "blue", "dim", "bold"]
_CODES: Final = {"red": 31, "green": 32, "yellow": 33, "blue": 34, "dim": 2, "bold": 1}


def coloured(text: str, colour: Colour) -> str:
    """The text in a colour where there are colours; otherwise as it is."""
    return f"\x1b[{_CODES[colour]}m{text}\x1b[0m" if text and has_colours() else text
