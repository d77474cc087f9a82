"""The description of one setting, which stands at its field.

A dataclass describes a setting where it has it: `port: int = option(8000, "Port to listen on.")`.
The option of the command line, the environment variable, the name in a file, the help, the checks
of a value and the row in the documents all follow from this one line (`maskwright.cli.arguments`).
"""

from __future__ import annotations

from dataclasses import MISSING, Field, dataclass, field
from typing import Any, Final, TypeVar

DESCRIBED: Final = "maskwright.setting"
"""Under which name the metadata of a field have its description."""
REQUIRED: Final[Any] = MISSING
"""The default of what has to be given."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Argument:
    """A positional argument, required unless its field has a default."""

    help: str
    metavar: str | None = None


@dataclass(frozen=True, slots=True)
class Option:
    """A setting that may be given. `flag` is `--` and the name of its field unless given; `least`
    and `most` bound a number, both included; `is_size` takes bytes, with a unit or without;
    `envvar` names the environment variable that replaces the default; `show_default` is shown as
    the default; `group` is the heading under which help and documents have it."""

    help: str
    flag: str | None = None
    short: str | None = None
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


def option(default: T, help: str, *, hash: bool | None = None, **about: Any) -> T:
    """A field of a dataclass that is an option. `about`: further fields of `Option`; `hash`: as for
    `dataclasses.field`. A list or an object as the default is copied for each object."""
    return _field(default, Option(help, **about), hash)


def argument(help: str, default: Any = REQUIRED, metavar: str | None = None) -> Any:
    """A field of a dataclass that is a positional argument, in the order of the fields."""
    return _field(default, Argument(help, metavar))


def description_of(field: Field[Any]) -> Argument | Option | None:
    """How a field is described; None for one that nobody can give."""
    return field.metadata.get(DESCRIBED)


def _field(default: Any, declared: Argument | Option, hash: bool | None = None) -> Any:
    about: dict[str, Any] = {"metadata": {DESCRIBED: declared}, "hash": hash}
    if isinstance(default, list | dict):
        return field(default_factory=default.copy, **about)
    return field(default=default, **about)
