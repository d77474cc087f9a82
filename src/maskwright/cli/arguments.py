"""Arguments of commands: declared at the parameters of a function, parsed by `argparse`.

A parameter annotated with `Annotated[type, Argument(...)]` is positional, one with
`Annotated[type, Option(...)]` is an option, whose name is that of the parameter. The types are
`str`, `int`, `float`, `bool`, a `Literal`, each of these or None, and a list of strings. Typer
reads such declarations too, but imports pydantic to do so, which takes a fifth of a second.
"""

from __future__ import annotations

import argparse
import inspect
import os
import re
import shutil
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    NamedTuple,
    NoReturn,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from maskwright.errors import InputError
from maskwright.sizing.units import binary_size, size_of

WIDEST: Final = 100
"""Columns of help texts at most."""
LINKED: Final = "tcp://"
"""How Kubernetes begins the variable NAME_PORT, which it sets for each service NAME. It isn't meant
for the program, though a service may have its name."""


@dataclass(frozen=True, slots=True)
class Argument:
    """A positional argument, required unless its parameter has a default."""

    help: str
    metavar: str | None = None


@dataclass(frozen=True, slots=True)
class Option:
    """An option. `flag` is `--` and the name of its parameter unless given; `least` and `most`
    bound a number, both included; `is_size` takes bytes, with a unit or without; `envvar` names the
    environment variable that replaces the default; `show_default` is shown as the default."""

    flag: str | None = None
    short: str | None = None
    help: str = ""
    metavar: str | None = None
    least: float | None = None
    most: float | None = None
    is_size: bool = False
    envvar: str | None = None
    show_default: str | None = None


class _Parameter(NamedTuple):
    name: str
    declared: Argument | Option
    kind: Any
    """The type of one value: `str`, `int`, `float`, `bool` or a `Literal`."""
    is_list: bool
    is_required: bool
    default: Any


class CommandParser(argparse.ArgumentParser):
    """A parser whose errors are one line, and say where help is."""

    def __init__(self, prog: str, description: str) -> None:
        super().__init__(
            prog=prog, description=description, formatter_class=_Formatter, allow_abbrev=False
        )

    def flags(self) -> dict[str, str]:
        """The options by the names of their parameters."""
        named = ((action.dest, [*action.option_strings]) for action in self._actions)
        return {name: strings[0] for name, strings in named if strings}

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}; '{self.prog} --help' says what can be given\n")


class _Formatter(argparse.HelpFormatter):
    """Help with the paragraphs of a docstring, within the width of the terminal."""

    def __init__(self, prog: str) -> None:
        width = min(WIDEST, shutil.get_terminal_size().columns)
        super().__init__(prog, max_help_position=28, width=width)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        paragraphs = re.split(r"\n\s*\n", inspect.cleandoc(text))
        return "\n\n".join(
            textwrap.fill(
                " ".join(paragraph.split()),
                width,
                initial_indent=indent,
                subsequent_indent=indent,
                break_on_hyphens=False,
            )
            for paragraph in paragraphs
        )


def call_with(function: Callable[..., int | None], parser: CommandParser, given: list[str]) -> int:
    """Parse the arguments that a function declares, and call it; returns its exit code, 0 for
    None. Ends the program after help, and with exit code 2 after a mistake."""
    for parameter in _parameters(function):
        _declare(parser, parameter)
    values = vars(parser.parse_intermixed_args(given))
    return function(**values) or 0


def _parameters(function: Callable[..., object]) -> Iterator[_Parameter]:
    hints = get_type_hints(function, include_extras=True)
    for name, parameter in inspect.signature(function).parameters.items():
        annotation = hints[name]
        assert get_origin(annotation) is Annotated, f"{name} declares no argument"
        annotation, declared = get_args(annotation)
        if get_origin(annotation) in (Union, UnionType):
            (annotation,) = (each for each in get_args(annotation) if each is not NoneType)
        is_list = get_origin(annotation) is list
        yield _Parameter(
            name,
            declared,
            get_args(annotation)[0] if is_list else annotation,
            is_list,
            parameter.default is inspect.Parameter.empty,
            None if parameter.default is inspect.Parameter.empty else parameter.default,
        )


def _declare(parser: CommandParser, parameter: _Parameter) -> None:
    declared = parameter.declared
    told: dict[str, Any] = {
        "help": _help(parameter).replace("%", "%%"),
        "metavar": declared.metavar,
    }
    if parameter.kind is not bool:
        told["type"] = _reader(parameter)
        told["metavar"] = declared.metavar or _metavar(parameter)
    if isinstance(declared, Argument):
        count = "?" if not parameter.is_required else None
        if parameter.is_list:
            count = "+" if parameter.is_required else "*"
        default = parameter.default
        parser.add_argument(parameter.name, nargs=count, default=default, **told)
        return
    flag = declared.flag or f"--{parameter.name.replace('_', '-')}"
    flags = [declared.short, flag] if declared.short else [flag]
    default = _default(parameter, declared)
    if parameter.kind is bool:
        told["action"] = "store_true" if declared.flag else argparse.BooleanOptionalAction
        told.pop("metavar")
    elif parameter.is_list:
        told["action"] = "extend"
        told["nargs"] = 1
    action = parser.add_argument(
        *flags, dest=parameter.name, default=default, required=parameter.is_required, **told
    )
    action.help = told["help"]  # without what `BooleanOptionalAction` adds


def _default(parameter: _Parameter, declared: Option) -> Any:
    """The value of an option that isn't given: that of its variable, if there is one. Ends the
    program for a variable with another kind of value."""
    text = os.environ.get(declared.envvar) if declared.envvar else None
    if text is None or (parameter.kind is not str and (not text or text.startswith(LINKED))):
        return parameter.default
    try:
        return _reader(parameter)(text)
    except argparse.ArgumentTypeError as error:
        raise InputError(f"the variable {declared.envvar}: {error}", param=parameter.name) from None


def _metavar(parameter: _Parameter) -> str:
    if isinstance(parameter.declared, Argument):
        return parameter.name.upper()
    if parameter.declared.is_size:
        return "SIZE"
    if get_origin(parameter.kind) is Literal:
        return "|".join(map(str, get_args(parameter.kind)))
    return {str: "TEXT", int: "N", float: "NUMBER"}[parameter.kind]


def _reader(parameter: _Parameter) -> Callable[[str], Any]:
    """What turns the text of an argument into its value. Its errors are argparse's."""

    def read(text: str) -> Any:
        if get_origin(parameter.kind) is Literal:
            known = get_args(parameter.kind)
            if text not in known:
                raise argparse.ArgumentTypeError(f"{text!r} is none of {', '.join(known)}")
            return text
        if isinstance(parameter.declared, Option) and parameter.declared.is_size:
            value = size_of(text)
            if value is None:
                raise argparse.ArgumentTypeError(f"{text!r} is no size such as 512MiB or 2GB")
            _check_bounds(parameter.declared, value)
            return value
        try:
            value = parameter.kind(text)
        except ValueError:
            kind = "whole number" if parameter.kind is int else "number"
            raise argparse.ArgumentTypeError(f"{text!r} is no {kind}") from None
        if isinstance(parameter.declared, Option):
            _check_bounds(parameter.declared, value)
        return value

    return read


def _check_bounds(option: Option, value: Any) -> None:
    if option.least is not None and not value >= option.least:
        raise argparse.ArgumentTypeError(f"{value} is less than {option.least}")
    if option.most is not None and not value <= option.most:
        raise argparse.ArgumentTypeError(f"{value} is more than {option.most}")


def _help(parameter: _Parameter) -> str:
    declared = parameter.declared
    if isinstance(declared, Argument):
        return declared.help
    shown = declared.show_default
    if shown is None and parameter.default not in (None, False, [], ""):
        shown = "yes" if parameter.default is True else str(parameter.default)
        if declared.is_size:
            shown = binary_size(parameter.default).replace(".0 ", " ")
    notes = [f"default: {shown}"] if shown is not None else []
    notes += [f"variable: {declared.envvar}"] if declared.envvar else []
    return f"{declared.help} [{'; '.join(notes)}]" if notes else declared.help
