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

from maskwright.automaton.value.whitespace import WhitespaceName
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
from maskwright.settings import argument, option
from maskwright.workbench.choices import Kind


@dataclass(frozen=True, slots=True)
class GenerateOptions:
    """What `maskwright generate` is given."""

    shape: str = argument(SHAPE_HELP)
    prompt: str | None = option(
        None,
        "The user's message to the model; '-' is standard input, which is also read without this "
        "option.",
    )
    url: str | None = option(None, f"{URL_HELP} Default: a model here.")
    name: str | None = option(None, NAME_HELP)
    access: ServerAccess = field(default_factory=ServerAccess)
    model: str = option(str(DEMO_PATH), MODEL_HELP, show_default="the demo model")
    backend: Backend = option("auto", BACKEND_HELP)
    device: str = option("cpu", DEVICE_HELP)
    dtype: Dtype = option("auto", DTYPE_HELP)
    kind: Kind = option("auto", KIND_HELP)
    max_tokens: int | None = option(
        None, "Most tokens of the answer. Default: what the context has left.", least=1
    )
    temperature: float = option(
        0.0, "Temperature of sampling; 0 takes the likeliest token each time."
    )
    whitespace: WhitespaceName = option("spaced", WHITESPACE_HELP)
    numbers: Numbers = option("plain", NUMBERS_HELP)
    seed: int | None = option(None, "Seed of the samples, which makes the answer repeatable.")
    cache: str = option(str(USER_CACHE), CACHE_HELP, envvar="MASKWRIGHT_CACHE")
    as_json: bool = option(False, JSON_HELP, flag="--json")

    def __post_init__(self) -> None:
        if self.url is None:
            local_checkpoint(self.model)
