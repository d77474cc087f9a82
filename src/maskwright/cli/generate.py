"""Generate one answer that has the shape of a JSON Schema, a grammar or a pattern.

SHAPE is a file, the shape itself, or the name of a schema or grammar that ships with the package; a
file of that name comes first. The answer goes to standard output while it is generated. The model
sees a schema beside the prompt. It doesn't see a grammar or a pattern, which the prompt should
therefore describe. Without `--prompt`, the prompt is read from standard input.

`--url` asks a server instead of a model in this process; its own settings then say how white space
and numbers are written.

Where the token limit has shortened the answer, which is whole all the same if there is a shape,
standard error says so.

With `--json`, the answer is printed when it is complete, with each of its tokens: how many were
allowed in its place, the logarithms of its probability, what the model would rather have written,
and when it arrived; with `--url`, with why it ended and what the server counted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from maskwright.automaton.value.whitespace import WhitespaceName
from maskwright.cli.arguments import Argument
from maskwright.cli.options import (
    BACKEND_HELP,
    CACHE_HELP,
    DEVICE_HELP,
    DTYPE_HELP,
    JSON_HELP,
    KIND_HELP,
    MODEL_HELP,
    NAME_HELP,
    NUMBERS_HELP,
    SHAPE_HELP,
    URL_HELP,
    USER_CACHE,
    WHITESPACE_HELP,
)
from maskwright.cli.process.server_access import ServerAccess
from maskwright.grammar.schema.options import Numbers
from maskwright.model_options import DEMO_PATH, Backend, Dtype, local_checkpoint
from maskwright.settings import Option
from maskwright.workbench.choices import Kind


@dataclass(frozen=True, slots=True)
class GenerateOptions:
    """What `maskwright generate` is given."""

    shape: Annotated[str, Argument(help=SHAPE_HELP)]
    prompt: Annotated[
        str | None,
        Option(
            help="The user's message to the model; '-' is standard input, which is also read "
            "without this option."
        ),
    ] = None
    url: Annotated[str | None, Option(help=f"{URL_HELP} Default: a model here.")] = None
    name: Annotated[str | None, Option(help=NAME_HELP)] = None
    access: ServerAccess = field(default_factory=ServerAccess)
    model: Annotated[str, Option(help=MODEL_HELP, show_default="the demo model")] = str(DEMO_PATH)
    backend: Annotated[Backend, Option(help=BACKEND_HELP)] = "auto"
    device: Annotated[str, Option(help=DEVICE_HELP)] = "cpu"
    dtype: Annotated[Dtype, Option(help=DTYPE_HELP)] = "auto"
    kind: Annotated[Kind, Option(help=KIND_HELP)] = "auto"
    max_tokens: Annotated[
        int | None,
        Option(least=1, help="Most tokens of the answer. Default: what the context has left."),
    ] = None
    temperature: Annotated[
        float, Option(help="Temperature of sampling; 0 takes the likeliest token each time.")
    ] = 0.0
    whitespace: Annotated[WhitespaceName, Option(help=WHITESPACE_HELP)] = "spaced"
    numbers: Annotated[Numbers, Option(help=NUMBERS_HELP)] = "plain"
    seed: Annotated[
        int | None, Option(help="Seed of the samples, which makes the answer repeatable.")
    ] = None
    cache: Annotated[str, Option(envvar="MASKWRIGHT_CACHE", help=CACHE_HELP)] = str(USER_CACHE)
    as_json: Annotated[bool, Option("--json", help=JSON_HELP)] = False

    def __post_init__(self) -> None:
        if self.url is None:
            local_checkpoint(self.model)
