"""The program `maskwright`: its subcommands, and the exit codes of its failures.

The module of a subcommand is imported only when the subcommand runs, so that `check` doesn't take
the seconds for importing torch, which `serve` needs.
"""

from __future__ import annotations

import importlib
import sys
from importlib.metadata import version
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from maskwright.cli.process.environment import prepare_environment
from maskwright.errors import AddressError, MaskwrightError

# Name -> its description in `--help`. The module of a command and its function have this name.
COMMANDS = {
    "serve": "Serve a model over HTTP, in OpenAI's protocol.",
    "check": "Say whether texts match a JSON Schema, a grammar or a pattern, and where they don't.",
    "generate": "Generate one answer that has the shape of a JSON Schema, a grammar or a pattern.",
    "convert": "Write a grammar in another dialect: Lark, GBNF or EBNF.",
    "bench": "Measure a running server under load: its operating envelope.",
}

USAGE_ERROR = 2
ADDRESS_TAKEN = 3
INTERRUPTED = 130


class _Subcommands(TyperGroup):
    """A group that lists its commands by the literal above, and imports the one that is run."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"maskwright.cli.{cmd_name}")
        single = typer.Typer(add_completion=False, rich_markup_mode=None)
        single.command(name=cmd_name, help=module.__doc__)(getattr(module, cmd_name))
        return typer.main.get_command(single)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


app = typer.Typer(
    cls=_Subcommands,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
)


def _say_version(asked: bool) -> None:
    if asked:
        typer.echo(f"maskwright {version('maskwright')}")
        raise typer.Exit


@app.callback()
def maskwright(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_say_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Generated text that always has the shape you asked for."""


def main() -> None:
    """Run the command line.

    A mistake of the user's ends it with one line on stderr and exit code 2; an address that can't
    be listened on, or at which no server answers, with exit code 3.
    """
    prepare_environment()  # before a subcommand imports torch
    try:
        app(prog_name="maskwright")
    except AddressError as error:
        print(f"maskwright: {error}", file=sys.stderr)
        sys.exit(ADDRESS_TAKEN)
    except MaskwrightError as error:
        print(f"maskwright: {error}", file=sys.stderr)
        sys.exit(USAGE_ERROR)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
