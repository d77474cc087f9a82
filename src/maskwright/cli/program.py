"""The program `maskwright`: its subcommands, and the exit codes of its failures.

The module of a subcommand is imported only when the subcommand is given, and declares its options
as a dataclass. What it does is the function `run` of a module beside it, `NAME_work`, which is
imported when the options have been read, so that help and a wrong option take no longer than for
any other command; or of the same module, if it needs little.
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
from typing import Final, NamedTuple

from maskwright.cli.arguments import CommandParser, read_options
from maskwright.cli.input.spelling import nearest
from maskwright.cli.output.progress import loading
from maskwright.cli.process.environment import prepare_environment
from maskwright.errors import AddressError, InputError, MaskwrightError
from maskwright.version import VERSION

SIMULATOR: Final = "maskwright_sim"
"""The package of the simulator, a distribution of its own."""


class Subcommand(NamedTuple):
    """Where a subcommand is, the class of its options there, and what it does. A subcommand may
    have two words."""

    module: str
    options: str
    does: str
    package: str = "maskwright"

    @property
    def installed(self) -> bool:
        """Whether its package is there."""
        return importlib.util.find_spec(self.package) is not None

    def imported(self) -> ModuleType:
        """The module that declares the options. Raises InputError if its package isn't there."""
        if not self.installed:
            raise InputError(
                f"this command is part of {self.package.replace('_', '-')}, which isn't installed; "
                "in a clone of Maskwright's repository: pip install ./simulator"
            )
        return importlib.import_module(f"{self.package}.cli.{self.module}")


COMMANDS: Final = {
    "serve": Subcommand(
        "serving.serve", "ServeOptions", "Serve a model over HTTP, in OpenAI's protocol."
    ),
    "route": Subcommand(
        "fleet.route", "RouteOptions", "Serve several running servers at one address."
    ),
    "key": Subcommand(
        "key", "KeyOptions", "Make a key for a client of a server, and its entry in a file."
    ),
    "check": Subcommand(
        "shape.check",
        "CheckOptions",
        "Check shapes: whether they can be used, and what in them is likely to be a mistake.",
    ),
    "generate": Subcommand(
        "generate",
        "GenerateOptions",
        "Generate one answer that has the shape of a JSON Schema, a grammar or a pattern.",
    ),
    "chat": Subcommand(
        "chat",
        "ChatOptions",
        "Chat with a model in the terminal, with a shape for its answers if one is given.",
    ),
    "batch": Subcommand(
        "batch",
        "BatchOptions",
        "Ask a model about thousands of records, and keep every answer that has the shape of a "
        "schema.",
    ),
    "convert": Subcommand(
        "shape.convert",
        "ConvertOptions",
        "Write a shape as a grammar: a JSON Schema, a pattern, or a grammar in another dialect.",
    ),
    "from-pydantic": Subcommand(
        "shape.from_pydantic",
        "FromPydanticOptions",
        "Print the JSON Schema of a Python type: a model of pydantic, a dataclass, a TypedDict.",
    ),
    "draw": Subcommand(
        "shape.draw",
        "DrawOptions",
        "Draw a shape as SVG: railroad diagrams, or the graph of its rules or states.",
    ),
    "match": Subcommand(
        "shape.match",
        "MatchOptions",
        "Say how far texts match a shape, what was allowed where they stop, and why.",
    ),
    "next": Subcommand(
        "shape.following",
        "NextOptions",
        "Say what may follow a prefix: characters, texts, tokens, and whether the text may end.",
    ),
    "explain": Subcommand(
        "shape.explain",
        "ExplainOptions",
        "Say of each keyword of a schema whether it is enforced, an annotation, or refused.",
    ),
    "diff": Subcommand(
        "shape.diff", "DiffOptions", "Say which texts only one of two shapes accepts."
    ),
    "sample": Subcommand(
        "shape.sample",
        "SampleOptions",
        "Write texts that match a shape: random, the shortest, a long one, one for each "
        "alternative.",
    ),
    "test": Subcommand(
        "shape.cases",
        "CasesOptions",
        "Run test cases of shapes: texts to accept, texts to reject, and beginnings of texts.",
    ),
    "trace": Subcommand(
        "shape.trace",
        "TraceOptions",
        "Follow a text token by token: how many tokens were allowed, which were forced, what masks "
        "took.",
    ),
    "bench": Subcommand(
        "bench.shape",
        "BenchOptions",
        "Measure what a shape costs: compiling it, its first mask, and the masks of texts.",
    ),
    "bench serve": Subcommand(
        "bench.serve",
        "BenchServeOptions",
        "Measure a running server under load: its operating envelope.",
    ),
    "replay": Subcommand(
        "replay",
        "ReplayOptions",
        "Generate traced answers again, and say whether they have equal tokens.",
    ),
    "status": Subcommand(
        "observe.status",
        "StatusOptions",
        "Say what a running server does now: requests, rates, times, blocks. The figures of its "
        "dashboard.",
    ),
    "diagnose": Subcommand(
        "observe.diagnose",
        "DiagnoseOptions",
        "Say from traces which stage makes the slowest requests slow, and whether the server keeps "
        "up.",
    ),
    "plan": Subcommand(
        "plan",
        "PlanOptions",
        "Compute on paper what a model can serve: sequences that fit, and how fast they decode at "
        "most.",
    ),
    "place": Subcommand(
        "place",
        "PlaceOptions",
        "Find how many devices, in which parallelism, serve a load within objectives.",
        SIMULATOR,
    ),
    "simulate": Subcommand(
        "simulate",
        "SimulateOptions",
        "Simulate a cluster under a load, and compare policies of scheduling.",
        SIMULATOR,
    ),
    "completion": Subcommand(
        "completion",
        "CompletionOptions",
        "Print a script with which a shell completes commands, options and their values.",
    ),
    "doctor": Subcommand(
        "doctor",
        "DoctorOptions",
        "Say what this machine is, and what to do where something slows Maskwright down or stops "
        "it.",
    ),
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
        code = _run(sys.argv[1:])
        sys.stdout.flush()
    except MaskwrightError as error:
        _tell(error)
        code = ADDRESS_TAKEN if isinstance(error, AddressError) else USAGE_ERROR
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


def _tell(error: MaskwrightError) -> None:
    """Say what was wrong; with `--json` also to the program that reads standard output."""
    if "--json" in sys.argv:
        # Only here, because most runs have no error.
        import json  # noqa: PLC0415

        from maskwright.cli.input.faults import error_data  # noqa: PLC0415

        print(json.dumps(error_data(error), ensure_ascii=False, indent=2), flush=True)
    print(f"maskwright: {error}", file=sys.stderr)


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
        module = command.imported()
    parser = CommandParser(f"maskwright {name}", module.__doc__ or "")
    try:
        options = read_options(getattr(module, command.options), parser, rest)
        if not hasattr(module, "run"):
            with loading():
                module = importlib.import_module(f"{module.__name__}_work")
        return module.run(options) or 0
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
