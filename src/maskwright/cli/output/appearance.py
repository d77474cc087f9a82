"""How a command shows things: the options that every command has, colours where output shows them,
and JSON.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from maskwright.settings import option

ColourChoice: TypeAlias = Literal["auto", "always", "never"]


@dataclass(frozen=True, slots=True)
class Appearance:
    """What is chosen of how output looks."""

    color: ColourChoice = option(
        "auto", "Colours in output; 'auto': on a terminal, unless NO_COLOR is set.", group="Output"
    )
    quiet: bool = option(
        False,
        "Write results and errors only: no progress, no remarks.",
        flag="--quiet",
        short="-q",
        group="Output",
    )


_chosen = [Appearance()]
"""The appearance of this process, which has one command."""


def choose(appearance: Appearance) -> None:
    """Have what is shown from now on look like this."""
    _chosen[0] = appearance


def has_colours() -> bool:
    """Whether standard output shows colours: as chosen, else if it is a terminal, which `NO_COLOR`
    doesn't forbid."""
    if _chosen[0].color != "auto":
        return _chosen[0].color == "always"
    return (
        sys.stdout.isatty()
        and os.environ.get("NO_COLOR") is None
        and os.environ.get("TERM") != "dumb"
    )


def shows_progress() -> bool:
    """Whether standard error is a terminal that can clear a line, and nobody wants quiet."""
    is_terminal = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
    return is_terminal and not _chosen[0].quiet


def remark(message: str) -> None:
    """Write a line on standard error that nobody needs to act on; nothing with `--quiet`."""
    if not _chosen[0].quiet:
        print(message, file=sys.stderr, flush=True)


def shown_json(value: object) -> str:
    """What `--json` prints: a value as JSON in lines, its text as it is."""
    return json.dumps(value, ensure_ascii=False, indent=2)


Colour = Literal["red", "green", "yellow", "blue", "dim", "bold"]
_CODES: Final = {"red": 31, "green": 32, "yellow": 33, "blue": 34, "dim": 2, "bold": 1}


def coloured(text: str, colour: Colour) -> str:
    """The text in a colour where there are colours; otherwise as it is."""
    return f"\x1b[{_CODES[colour]}m{text}\x1b[0m" if text and has_colours() else text
