"""The program `maskwright`: its subcommands, and the exit codes of its failures.

The options of a subcommand are declared as a dataclass, in a module that is imported only when the
subcommand is given. What it does is the function `run` of another one, which is imported when the
options have been read, so that help and a wrong option take no longer than for any other command:
of the module beside it, `NAME_work`; of the module named for the command, where several have their
options in one; or of the same module, if it needs little.
"""

from __future__ import annotations

import errno
import importlib
import importlib.util
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Final, NamedTuple

from maskwright.cli.arguments import WIDEST, CommandParser, nearest, read_options
from maskwright.cli.output.appearance import shown_json
from maskwright.cli.output.progress import loading
from maskwright.cli.process.environment import prepare_environment
from maskwright.errors import AddressError, InputError, MaskwrightError
from maskwright.version import VERSION

SIMULATOR: Final = "maskwright_sim"
"""The package of the simulator, a distribution of its own."""


class Subcommand(NamedTuple):
    """Where a subcommand is, and the class of its options. A subcommand may have two words.
    `declared`: the module that declares the options, if that is another one."""

    module: str
    options: str
    package: str = "maskwright"
    declared: str = ""

    @property
    def installed(self) -> bool:
        """Whether its package is there."""
        return importlib.util.find_spec(self.package) is not None

    @property
    def about(self) -> str:
        """Its help: the docstring of its module, which is read and not imported."""
        package = importlib.util.find_spec(self.package)
        if package is None or package.origin is None:
            return f"Part of {self.package.replace('_', '-')}, which isn't installed."
        file = Path(package.origin).parent.joinpath("cli", *self.module.split("."))
        return file.with_suffix(".py").read_text(encoding="utf-8").split('"""', 2)[1]

    @property
    def does(self) -> str:
        """What it does, in one line."""
        return self.about.partition("\n")[0]

    def option_class(self) -> type[Any]:
        """The class of its options. Raises InputError if its package isn't there."""
        if not self.installed:
            raise InputError(
                f"this command is part of {self.package.replace('_', '-')}, which isn't installed; "
                "in a clone of Maskwright's repository: pip install ./simulator"
            )
        return getattr(self._imported(self.declared or self.module), self.options)

    def work(self) -> ModuleType:
        """The module that has its function `run`."""
        module = self._imported(self.module)
        return module if hasattr(module, "run") else self._imported(f"{self.module}_work")

    def _imported(self, module: str) -> ModuleType:
        return importlib.import_module(f"{self.package}.cli.{module}")


def _of_shapes(module: str, options: str) -> Subcommand:
    return Subcommand(f"shape.{module}", options, declared="shape.options")


COMMANDS: Final = {
    "serve": Subcommand("serving.serve", "ServeOptions"),
    "route": Subcommand("fleet.route", "RouteOptions"),
    "key": Subcommand("key", "KeyOptions"),
    "check": _of_shapes("check", "CheckOptions"),
    "generate": Subcommand("generate", "GenerateOptions", declared="asking"),
    "chat": Subcommand("chat", "ChatOptions", declared="asking"),
    "batch": Subcommand("batch", "BatchOptions", declared="asking"),
    "convert": _of_shapes("convert", "ConvertOptions"),
    "from-pydantic": Subcommand("shape.from_pydantic", "FromPydanticOptions"),
    "draw": _of_shapes("draw", "DrawOptions"),
    "match": _of_shapes("match", "MatchOptions"),
    "next": _of_shapes("following", "NextOptions"),
    "explain": _of_shapes("explain", "ExplainOptions"),
    "diff": _of_shapes("diff", "DiffOptions"),
    "sample": _of_shapes("sample", "SampleOptions"),
    "test": _of_shapes("cases", "CasesOptions"),
    "trace": _of_shapes("trace", "TraceOptions"),
    "bench": Subcommand("bench.shape", "BenchOptions", declared="bench.options"),
    "bench serve": Subcommand("bench.serve", "BenchServeOptions", declared="bench.options"),
    "replay": Subcommand("replay", "ReplayOptions", declared="asking"),
    "status": Subcommand("observe.status", "StatusOptions", declared="options"),
    "diagnose": Subcommand("observe.diagnose", "DiagnoseOptions"),
    "plan": Subcommand("plan", "PlanOptions"),
    "place": Subcommand("place", "PlaceOptions", SIMULATOR),
    "simulate": Subcommand("simulate", "SimulateOptions", SIMULATOR),
    "completion": Subcommand("completion", "CompletionOptions"),
    "doctor": Subcommand("doctor", "DoctorOptions", declared="options"),
}

WORDS: Final = {
    "help": "Print what a command takes, as COMMAND --help does.",
    "version": "Print the version.",
}
"""The words that stand for options of the program."""

UNWRITTEN: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})
"""Errors of standard output: it is a file, and its disk is full, say."""
USAGE_ERROR = 2
ADDRESS_TAKEN = 3
INTERRUPTED = 130
PIPE_CLOSED = 141

HELP: Final = """\
Usage: maskwright COMMAND [OPTIONS] [ARGUMENTS]

Generated text that always has the shape you asked for.

Commands:
{commands}

Options:
  --version  Print the version.
  --help     Print this text; after a command, what the command takes.
"""


def main() -> None:
    """Run the command line.

    A mistake of the user's ends it with one line on stderr and exit code 2; an address that can't
    be listened on, or at which no server answers, with exit code 3.
    """
    _open_streams()
    prepare_environment()  # before a subcommand imports torch
    try:
        code = _run_or_tell(sys.argv[1:])
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:  # `maskwright … | head`: nobody reads what is left
        _drop_output()
        code = PIPE_CLOSED
    except OSError as error:
        if error.errno not in UNWRITTEN or error.filename is not None:
            raise
        _drop_output()
        print(f"maskwright: what it prints can't be written: {error.strerror}", file=sys.stderr)
        code = USAGE_ERROR
    sys.exit(code)


def _open_streams() -> None:
    """Where the program is started with a standard stream that is closed, which Python has as None,
    have reading meet the end and writing go nowhere."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - to the end


def _drop_output() -> None:
    """Have what is still to be printed go nowhere: Python would try again at the end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run_or_tell(arguments: list[str]) -> int:
    """Run the command, and return the exit code. If it fails, say what was wrong; with `--json`
    also to the program that reads standard output."""
    try:
        return _run(arguments)
    except MaskwrightError as error:
        if "--json" in sys.argv:
            # Only here, because most runs have no error.
            from maskwright.cli.input.faults import error_data  # noqa: PLC0415

            print(shown_json(error_data(error)), flush=True)
        print(f"maskwright: {error}", file=sys.stderr)
        return ADDRESS_TAKEN if isinstance(error, AddressError) else USAGE_ERROR


def _run(arguments: list[str]) -> int:
    if arguments[:1] == ["help"]:
        arguments = [*arguments[1:], "--help"]
    if not arguments or arguments[0] in ("--help", "-h"):
        rows = {name: command.does for name, command in COMMANDS.items()} | WORDS
        print(HELP.format(commands=described(rows)), end="")
        return 0 if arguments else USAGE_ERROR
    if arguments[0] in ("--version", "version"):
        print(f"maskwright {VERSION}")
        return 0
    name, rest = divided(arguments)
    if name not in COMMANDS:
        print(_unknown(name), file=sys.stderr)
        return USAGE_ERROR
    command = COMMANDS[name]
    with loading():
        option_class = command.option_class()
    parser = CommandParser(f"maskwright {name}", command.about)
    try:
        options = read_options(option_class, parser, rest)
        with loading():
            work = command.work()
        return work.run(options) or 0
    except InputError as error:
        error.args = (_by_option(error, parser),)
        raise


def divided(arguments: Sequence[str]) -> tuple[str, list[str]]:
    """Divide at least one argument into the name of a subcommand, which may have two words, and
    what comes after it."""
    two = " ".join(arguments[:2])
    name, after = (two, 2) if two in COMMANDS else (arguments[0], 1)
    return name, list(arguments[after:])


def _by_option(error: InputError, parser: CommandParser) -> str:
    """The message of an error about an option, in which settings have the names of their options,
    and the place of a value that no option gives."""
    message = str(error)
    if error.param not in parser.named:
        return message
    for name, flag in parser.named.items():
        if "_" in name:
            message = re.sub(rf"(?<![\w-]){name}(?![\w-])", flag, message)
    place = parser.places.get(error.param)
    if place is None or place in message:
        return message
    return f"{message} ({parser.named[error.param]} is set by {place})"


def _unknown(name: str) -> str:
    near = nearest(name, [*COMMANDS, *WORDS, "--help", "--version"])
    hint = f"did you mean '{near}'?" if near else "'maskwright --help' names the commands"
    what = "option" if name.startswith("-") else "command"
    return f"maskwright: there is no {what} {name!r}; {hint}"


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
