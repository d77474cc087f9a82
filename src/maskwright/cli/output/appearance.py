"""How a command shows things: the options that every command has."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from maskwright.settings import Option

ColourChoice: TypeAlias = Literal["auto", "always", "never"]


@dataclass(frozen=True, slots=True)
class Appearance:
    """What is chosen of how output looks."""

    color: Annotated[
        ColourChoice,
        Option(
            help="Colours in output; 'auto': on a terminal, unless NO_COLOR is set.",
            group="Output",
        ),
    ] = "auto"
    quiet: Annotated[
        bool,
        Option(
            "--quiet",
            short="-q",
            help="Write results and errors only: no progress, no remarks.",
            group="Output",
        ),
    ] = False


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
