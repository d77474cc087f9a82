"""Chat with a model in the terminal, with a shape for its answers if one is given.

Each line is a message; the answer is printed while it is generated. `/shape SHAPE` gives further
answers another shape and `/shape` none, `/clear` forgets the chat, `/exit` or Ctrl-D ends it.
Ctrl-C ends an answer. Where standard input is no terminal, each of its lines is a message.

`--url` names a server; without it the model is served in this process.
"""

from __future__ import annotations

from dataclasses import dataclass, field

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
from maskwright.settings import argument, option
from maskwright.workbench.choices import Kind


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """What `maskwright chat` is given."""

    shape: str | None = argument(SHAPE_HELP, None)
    system: str | None = option(None, "A system message before the chat.")
    url: str | None = option(None, URL_HELP)
    name: str | None = option(None, NAME_HELP)
    access: ServerAccess = field(default_factory=ServerAccess)
    model: str | None = option(None, MODEL_HELP, show_default="the demo model, without --url")
    kind: Kind = option("auto", KIND_HELP)
    max_tokens: int | None = option(None, MOST_TOKENS_HELP, least=1)
    temperature: float | None = option(None, TEMPERATURE_HELP, least=0.0)
    seed: int | None = option(None, "Seed of the samples.")
    cache: str = option(str(USER_CACHE), CACHE_HELP, envvar="MASKWRIGHT_CACHE")
