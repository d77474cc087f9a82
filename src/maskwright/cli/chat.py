"""Chat with a model in the terminal, with a shape for its answers if one is given.

Each line is a message; the answer is printed while it is generated. `/shape SHAPE` gives further
answers another shape and `/shape` none, `/clear` forgets the chat, `/exit` or Ctrl-D ends it.
Ctrl-C ends an answer. Where standard input is no terminal, each of its lines is a message.

`--url` names a server; without it the model is served in this process.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from maskwright.cli.arguments import Argument
from maskwright.cli.options import (
    CACHE_HELP,
    KIND_HELP,
    MODEL_HELP,
    MOST_TOKENS_HELP,
    NAME_HELP,
    SHAPE_HELP,
    TEMPERATURE_HELP,
    URL_HELP,
    USER_CACHE,
)
from maskwright.cli.process.server_access import ServerAccess
from maskwright.settings import Option
from maskwright.workbench.choices import Kind


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """What `maskwright chat` is given."""

    shape: Annotated[str | None, Argument(help=SHAPE_HELP)] = None
    system: Annotated[str | None, Option(help="A system message before the chat.")] = None
    url: Annotated[str | None, Option(help=URL_HELP)] = None
    name: Annotated[str | None, Option(help=NAME_HELP)] = None
    access: ServerAccess = field(default_factory=ServerAccess)
    model: Annotated[
        str | None, Option(help=MODEL_HELP, show_default="the demo model, without --url")
    ] = None
    kind: Annotated[Kind, Option(help=KIND_HELP)] = "auto"
    max_tokens: Annotated[int | None, Option(least=1, help=MOST_TOKENS_HELP)] = None
    temperature: Annotated[float | None, Option(least=0.0, help=TEMPERATURE_HELP)] = None
    seed: Annotated[int | None, Option(help="Seed of the samples.")] = None
    cache: Annotated[str, Option(envvar="MASKWRIGHT_CACHE", help=CACHE_HELP)] = str(USER_CACHE)
