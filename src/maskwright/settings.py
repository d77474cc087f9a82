"""The description of one setting, which stands at its field.

A dataclass describes a setting where it has it: `port: Annotated[int, Option(help="…")] = 8000`.
The option of the command line, the environment variable, the name in a file, the help, the checks
of a value and the row in the documents all follow from this one line (`maskwright.cli.arguments`).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Option:
    """A setting that may be given. `flag` is `--` and the name of its field unless given; `least`
    and `most` bound a number, both included; `is_size` takes bytes, with a unit or without;
    `envvar` names the environment variable that replaces the default; `show_default` is shown as
    the default; `group` is the heading under which help and documents have it."""

    flag: str | None = None
    short: str | None = None
    help: str = ""
    metavar: str | None = None
    least: float | None = None
    most: float | None = None
    is_size: bool = False
    envvar: str | None = None
    show_default: str | None = None
    group: str | None = None

    def flag_of(self, field: str) -> str:
        """The option's flag; `field`: the name of the field that it describes."""
        return self.flag or f"--{field.replace('_', '-')}"
