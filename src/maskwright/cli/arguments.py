"""Arguments of commands: declared at the fields of a dataclass, parsed by `argparse`.

A field that `settings.argument` makes is positional, one that `settings.option` makes is an option,
whose name is that of the field. The types are `str`, `int`, `float`, `bool`, `Path`, a `Literal`, a
mapping (given as a JSON object), each of these or None, and lists and tuples of strings. A field
whose type is a dataclass adds the fields of that class, and gets an object of it: so a command has
the settings of an engine as they are described there. Any other field is no option.

A value comes from the option; else from the variable, else from the file of `--config`, if the
command is `Configurable`; else it is the default. Every command has the options of `Appearance`,
too. Typer reads such declarations as well, but imports pydantic to do so, which takes a fifth of a
second.
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from difflib import SequenceMatcher, get_close_matches
from functools import partial
from inspect import get_annotations
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    Any,
    Final,
    Literal,
    NamedTuple,
    NoReturn,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
)

from maskwright.cli.output.appearance import Appearance, choose
from maskwright.errors import InputError
from maskwright.settings import Argument, Option, description_of, option
from maskwright.sizing.units import binary_size, size_of

Options = TypeVar("Options")

WIDEST: Final = 100
"""Columns of help texts at most."""
VARIABLE_PREFIX: Final = "MASKWRIGHT_"
LINKED: Final = "tcp://"
"""How Kubernetes begins the variable NAME_PORT, which it sets for each service NAME. It isn't meant
for the program, though a service may have its name."""
TRUTHS: Final = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
"""What a variable may say for a setting that is either on or off."""
APPEARANCE: Final = frozenset(each.name for each in fields(Appearance))
WRONG: Final[dict[Any, str]] = {
    int: "is no whole number",
    float: "is no number",
    bool: "is neither true nor false",
}
"""What is said of a value that is none of a kind."""
DOCUMENT_TYPES: Final[dict[Any, tuple[type, ...]]] = {int: (int,), float: (int, float), bool: ()}
"""How a file writes values that aren't texts, but for true and false."""


@dataclass(frozen=True)
class Configurable:
    """A command whose options may also stand in variables and in a file."""

    config: str | None = option(
        None,
        'A TOML file of settings, by the names of these options: kv-bytes = "2GB". Each may stand '
        "in a variable, too: MASKWRIGHT_KV_BYTES. An option counts before the variable, and the "
        "variable before the file.",
        metavar="FILE",
        group="Where settings come from",
    )


class Parameter(NamedTuple):
    """What may be given, read off a field. `kind`: the type of one value."""

    name: str
    declared: Argument | Option
    kind: Any
    is_list: bool
    is_required: bool
    default: Any

    @property
    def is_size(self) -> bool:
        """Whether it is a number of bytes, which may have a unit."""
        return isinstance(self.declared, Option) and self.declared.is_size

    @property
    def flag(self) -> str:
        """The flag of an option."""
        assert isinstance(self.declared, Option)
        return self.declared.flag_of(self.name)

    @property
    def setting(self) -> str:
        """The name of an option in a file of settings."""
        return self.flag.removeprefix("--")

    @property
    def variable(self) -> str:
        """The environment variable of a setting of a `Configurable` command."""
        return VARIABLE_PREFIX + self.setting.replace("-", "_").upper()


class CommandParser(argparse.ArgumentParser):
    """A parser whose errors are one line, and say where help is."""

    def __init__(self, prog: str, description: str) -> None:
        super().__init__(
            prog=prog, description=description, formatter_class=_Formatter, allow_abbrev=False
        )
        self.named: dict[str, str] = {}
        """The flags of options by the names of their fields."""
        self.places: dict[str, str] = {}
        """Where a value comes from that is no option's, by the name of its field."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}; '{self.prog} --help' says what can be given\n")

    def check_flags(self, given: list[str]) -> None:
        """End the program for an option that there isn't, with the one that is like it."""
        before = given[: given.index("--")] if "--" in given else given
        for word in before:
            flag = word.partition("=")[0]
            known = self._option_string_actions
            if not flag.startswith("--") or " " in word or flag in known:
                continue
            near = nearest(flag, known)
            hint = f"; did you mean {near}?" if near else ""
            self.error(f"there is no option {flag}{hint}")


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


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that is most like `word`; None if none is like it. A word that begins with
    `word` comes first, then one with the same letters: they are often exchanged."""
    words = [*known]
    begun = [each for each in words if each.startswith(word)]
    if begun:
        return begun[0]

    def likeness(each: str) -> tuple[bool, float]:
        return sorted(each) == sorted(word), SequenceMatcher(None, each, word).ratio()

    return max(get_close_matches(word, words, n=3), key=likeness, default=None)


def read_options(options: type[Options], parser: CommandParser, given: list[str]) -> Options:
    """Parse the arguments that a class declares into an object of it. Ends the program after help,
    and with exit code 2 after a mistake in an option. Raises InputError for a mistake elsewhere, or
    for what the class itself refuses."""
    own = list(parameters_of(options))
    parameters = [*own, *parameters_of(Appearance)]
    groups: dict[str, Any] = {}
    for parameter in parameters:
        title = parameter.declared.group if isinstance(parameter.declared, Option) else None
        if title is not None and title not in groups:
            groups[title] = parser.add_argument_group(title)
        _declare(parser if title is None else groups[title], parameter)
        if isinstance(parameter.declared, Option):
            parser.named[parameter.name] = parameter.flag
    parser.usage = " ".join((parser.prog, "[OPTIONS]", *_usage(parameters)))
    parser.check_flags(given)
    values = vars(parser.parse_intermixed_args(given))
    in_file = _file_values(options, parser, own, values)
    for parameter in parameters:
        if parameter.name not in values:
            values[parameter.name] = _value_elsewhere(options, parser, parameter, in_file)
    choose(_made(Appearance, values))
    missing = [each.flag for each in own if values[each.name] is MISSING]
    if missing:
        parser.error(f"the following arguments are required: {', '.join(missing)}")
    return _made(options, values)


def parameters_of(options: type[Any]) -> Iterator[Parameter]:
    """What the fields of a class declare, and the fields of the classes in it."""
    for field in fields(options):
        annotation, declared = _annotation(options, field), description_of(field)
        if declared is None:
            if is_dataclass(annotation):
                yield from parameters_of(cast(type[Any], annotation))
            continue
        if get_origin(annotation) in (Union, UnionType):
            (annotation,) = (each for each in get_args(annotation) if each is not NoneType)
        is_list = get_origin(annotation) in (list, tuple)
        default = field.default if field.default_factory is MISSING else field.default_factory()
        kind = get_args(annotation)[0] if is_list else annotation
        if get_origin(kind) is not None and get_origin(kind) is not Literal:
            kind = get_origin(kind)
        yield Parameter(field.name, declared, kind, is_list, default is MISSING, default)


def _annotation(options: type[Any], field: Field[Any]) -> Any:
    """The annotation of a field as an object; None for one that describes nothing. That may name
    what is imported for checkers of types only, so that it can't be evaluated."""
    if not isinstance(field.type, str):
        return field.type
    owner = next(each for each in options.__mro__ if field.name in get_annotations(each))
    names = vars(sys.modules[owner.__module__])
    if description_of(field) is not None:
        return eval(field.type, dict(names))
    return names.get(field.type)


def _made(options: type[Options], values: Mapping[str, Any]) -> Options:
    """An object of a class, and of the classes in it."""
    given: dict[str, Any] = {}
    for field in fields(cast(type[Any], options)):
        annotation = _annotation(options, field)
        if is_dataclass(annotation):
            given[field.name] = _made(cast(type[Any], annotation), values)
        elif field.name in values:
            value = values[field.name]
            given[field.name] = tuple(value) if get_origin(annotation) is tuple else value
    return options(**given)


def _declare(parser: Any, parameter: Parameter) -> None:
    declared = parameter.declared
    about: dict[str, Any] = {"help": _help(parameter).replace("%", "%%")}
    if parameter.kind is not bool:
        about |= {"type": partial(_read, parameter), "metavar": _metavar(parameter)}
    if isinstance(declared, Argument):
        count = "?" if not parameter.is_required else None
        if parameter.is_list:
            count = "+" if parameter.is_required else "*"
        parser.add_argument(parameter.name, nargs=count, default=parameter.default, **about)
        return
    flags = [declared.short, parameter.flag] if declared.short else [parameter.flag]
    if parameter.kind is bool:
        about["action"] = "store_true" if declared.flag else argparse.BooleanOptionalAction
    elif parameter.is_list:
        about |= {"action": "extend", "nargs": 1}
    action = parser.add_argument(*flags, dest=parameter.name, default=argparse.SUPPRESS, **about)
    action.help = about["help"]  # without what `BooleanOptionalAction` adds


def _usage(parameters: list[Parameter]) -> Iterator[str]:
    """What has to be given, and the positional arguments that may be."""
    for parameter in parameters:
        declared = parameter.declared
        if isinstance(declared, Option):
            if parameter.is_required:
                yield f"{parameter.flag} {_metavar(parameter)}"
            continue
        shown = _metavar(parameter) + (" ..." if parameter.is_list else "")
        yield shown if parameter.is_required else f"[{shown}]"


def _file_values(
    options: type[Any],
    parser: CommandParser,
    parameters: list[Parameter],
    values: Mapping[str, Any],
) -> Mapping[str, Any]:
    """The settings that stand in the file of `--config`, by the names of their fields. Raises
    InputError."""
    if not issubclass(options, Configurable):
        return {}
    file = values.get("config", os.environ.get(f"{VARIABLE_PREFIX}CONFIG"))
    if not file:
        return {}
    known = {each.setting: each for each in parameters if each.name != "config"}
    found: dict[str, Any] = {}
    for name, value, place in read_settings(file, known):
        parameter = known[name]
        if parameter.name not in values:
            parser.places[parameter.name] = place
        try:
            found[parameter.name] = _of_document(parameter, value)
        except argparse.ArgumentTypeError as error:
            raise InputError(f"{place}: {name}: {error}", param=parameter.name) from None
    return found


def read_settings(path: str, known: Iterable[str]) -> list[tuple[str, object, str]]:
    """Read a TOML file whose keys are among `known`: the name of each, its value, and its place,
    `FILE:LINE`. Raises InputError for a file that can't be read and for another key, with its place
    and the name that is like it."""
    # Only here, because most runs have no such file.
    import tomllib  # noqa: PLC0415

    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"can't read {path}: {error.strerror}", param="config") from None
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path} is no UTF-8: byte {error.start} is wrong", param="config"
        ) from None
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: {error}", param="config") from None
    names = list(known)
    entries: list[tuple[str, object, str]] = []
    for name, value in table.items():
        place = f"{path}:{_line(text, name)}"
        if name not in names:
            near = nearest(name.replace("_", "-"), names)
            hint = f"did you mean {near}?" if near else "--help lists the settings"
            raise InputError(f"{place}: there is no setting {name}; {hint}", param="config")
        entries.append((name, value, place))
    return entries


def _line(text: str, name: str) -> int:
    """The line of a key: `name = …`, `"name" = …` or `[name]`. The parser doesn't say."""
    key = rf"[\"']?{re.escape(name)}[\"']?"
    found = re.search(rf"^[ \t]*(?:\[[ \t]*)?{key}[ \t]*[=\].]", text, re.MULTILINE)
    return 1 if found is None else text.count("\n", 0, found.start()) + 1


def _value_elsewhere(
    options: type[Any], parser: CommandParser, parameter: Parameter, in_file: Mapping[str, Any]
) -> Any:
    """The value of an option that isn't given: that of its variable, else that in the file, else
    its default. Raises InputError for a variable with another kind of value."""
    declared = parameter.declared
    assert isinstance(declared, Option)
    name = declared.envvar
    if issubclass(options, Configurable) and parameter.name not in APPEARANCE:
        name = parameter.variable
    text = os.environ.get(name) if name else None
    if text is not None and (
        parameter.kind in (str, Path) or (text and not text.startswith(LINKED))
    ):
        parser.places[parameter.name] = f"the variable {name}"
        try:
            if parameter.is_list:
                return [_read(parameter, each.strip()) for each in text.split(",")]
            return _read(parameter, text)
        except argparse.ArgumentTypeError as error:
            raise InputError(f"the variable {name}: {error}", param=parameter.name) from None
    return in_file.get(parameter.name, parameter.default)


def _of_document(parameter: Parameter, value: object) -> Any:
    """The value of an option as a TOML file has it."""
    if parameter.is_list:
        if isinstance(value, dict):  # NAME=VALUE is a table there
            entries = cast(dict[str, object], value)
            return [f"{name}={each}" for name, each in entries.items()]
        if not isinstance(value, list):
            raise argparse.ArgumentTypeError(f"{value!r} is no array of texts")
        return [_one_of_document(parameter, each) for each in cast(list[object], value)]
    return _one_of_document(parameter, value)


def _one_of_document(parameter: Parameter, value: object) -> Any:
    kind = parameter.kind
    if kind is Mapping and isinstance(value, dict):
        return cast(dict[str, object], value)
    if kind is bool and isinstance(value, bool):
        return value
    wanted = (int, str) if parameter.is_size else DOCUMENT_TYPES.get(kind, (str,))
    if isinstance(value, bool) or not isinstance(value, wanted):
        raise argparse.ArgumentTypeError(f"{value!r} {WRONG.get(kind, 'is no text')}")
    return _read(parameter, str(value))


def _metavar(parameter: Parameter) -> str:
    if parameter.declared.metavar is not None:
        return parameter.declared.metavar
    if isinstance(parameter.declared, Argument):
        return parameter.name.upper()
    if parameter.is_size:
        return "SIZE"
    if get_origin(parameter.kind) is Literal:
        return "|".join(map(str, get_args(parameter.kind)))
    names = {str: "TEXT", int: "N", float: "NUMBER", Path: "FOLDER", Mapping: "JSON"}
    return names[parameter.kind]


def _read(parameter: Parameter, text: str) -> Any:
    """The value that the text of an argument stands for. Its errors are argparse's."""
    kind = parameter.kind
    if get_origin(kind) is Literal:
        known = get_args(kind)
        if text not in known:
            raise argparse.ArgumentTypeError(f"{text!r} is none of {', '.join(known)}")
        return text
    if kind is Mapping:
        return _json_object(text)
    if parameter.is_size:
        value = size_of(text)
    else:
        try:
            value = TRUTHS[text.lower()] if kind is bool else kind(text)
        except (ValueError, KeyError):
            value = None
    if value is None:
        wrong = "is no size such as 512MiB or 2GB" if parameter.is_size else WRONG[kind]
        raise argparse.ArgumentTypeError(f"{text!r} {wrong}")
    if isinstance(parameter.declared, Option):
        if (least := parameter.declared.least) is not None and not value >= least:
            raise argparse.ArgumentTypeError(f"{value} is less than {least}")
        if (most := parameter.declared.most) is not None and not value <= most:
            raise argparse.ArgumentTypeError(f"{value} is more than {most}")
    return value


def _json_object(text: str) -> dict[str, object]:
    # Only here, because few commands take one.
    from maskwright.json_faults import json_reason  # noqa: PLC0415

    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        reason = json_reason(error, one_line=True)
        raise argparse.ArgumentTypeError(f"it is not JSON: {reason}") from None
    if not isinstance(value, dict):
        raise argparse.ArgumentTypeError("it must be a JSON object")
    return cast(dict[str, object], value)


def shown_default(parameter: Parameter) -> str | None:
    """The default of an option as help and documents show it; None where there is none."""
    declared, default = parameter.declared, parameter.default
    assert isinstance(declared, Option)
    if declared.show_default is not None:
        return declared.show_default
    if default is MISSING or default is None or default is False or default in ("", [], (), {}):
        return None
    if declared.is_size:
        return binary_size(default).replace(".0 ", " ")
    return "yes" if default is True else str(default)


def _help(parameter: Parameter) -> str:
    declared = parameter.declared
    if isinstance(declared, Argument):
        return declared.help
    shown = shown_default(parameter)
    notes = [f"default: {shown}"] if shown is not None else []
    notes += [f"variable: {declared.envvar}"] if declared.envvar else []
    return f"{declared.help} [{'; '.join(notes)}]" if notes else declared.help
