"""The program `maskwright`: its subcommands, and how failures end it.

A subcommand's module is imported when it is run, not before: `check` must not wait the seconds
that importing torch takes for `serve`.
"""

from __future__ import annotations

import importlib
import sys
from importlib.metadata import version
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from maskwright.cli.environment import prepare_environment
from maskwright.errors import AddressError, MaskwrightError

# Name -> what `--help` says of it; the module and its function have the same name.
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
    """Reads the literal above for help; imports a module to run it."""

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
        typer.Option("--version", callback=_say_version, is_eager=True, help="Say which this is."),
    ] = False,
) -> None:
    """Generated text that always has the shape you asked for."""


def main() -> None:
    """Run the command line. What the user got wrong is one line on stderr and exit code 2; an
    address that can't be listened on, or where nobody answers, is exit code 3."""
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
