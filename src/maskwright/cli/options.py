"""What several commands have in common of their options: help texts, where the cache is, and how
a server is asked; and the few options of `doctor` and `status`, which import much."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, TypeAlias

from maskwright.cli.input.shipped import listed
from maskwright.settings import option
from maskwright.user_cache import user_cache

RoutePolicyName: TypeAlias = Literal["estimate", "round-robin"]
LogFormat: TypeAlias = Literal["text", "json"]
LogLevel: TypeAlias = Literal["debug", "info", "warning", "error"]

USER_CACHE: Final = user_cache() or Path("off")
"""Where commands keep what is computed once for each vocabulary, without `--cache`."""

SHAPE_HELP: Final = (
    "A JSON Schema, a grammar or a pattern: a file, '-' for standard input, the text itself, a "
    "part of a file (openapi.yaml#/components/schemas/Order), a Python type (module:Name), a list "
    f"of tools, or the name of one that ships: {listed()}."
)
KIND_HELP: Final = (
    "What SHAPE is. 'auto' decides by the name of the file and by the text; a pattern stands "
    "between slashes, in a file *.regex, or after --kind regex."
)
ORDER_HELP: Final = (
    "The order that properties must have; 'schema' is that of the schema, in which answers are "
    "generated."
)
TEXT_HELP: Final = "A text itself. May be repeated."
JSON_HELP: Final = "Print one JSON document instead of lines for people."
VOCABULARY_HELP: Final = (
    "Folder with a tokenizer.json, or 'demo' for the demo model: its tokens are counted as well."
)
MODEL_HELP: Final = "Folder of a checkpoint, or its id on the Hugging Face hub."
BACKEND_HELP: Final = (
    "What computes the model. 'auto' is the dense decoder, or transformers for models that it "
    "doesn't know."
)
DEVICE_HELP: Final = (
    "Where the model computes: cpu, cuda, cuda:N, or auto, which is the first GPU if there is one."
)
DTYPE_HELP: Final = (
    "Type of weights, keys and values. 'auto' is float32 on the CPU, bfloat16 on a GPU."
)
WEIGHT_DTYPE_HELP: Final = (
    "Type of the weights in products: 'auto' is that of --dtype; 'fp8' halves their memory, on a"
    " GPU that multiplies it."
)
WHITESPACE_HELP: Final = "White space in JSON answers; 'flexible' leaves it to the model."
URL_HELP: Final = "Address of a server, such as http://127.0.0.1:8000."
NAME_HELP: Final = "Name of the server's model. Default: the first that it lists."
MOST_TOKENS_HELP: Final = "Most tokens of an answer."
TEMPERATURE_HELP: Final = "Temperature; 0 takes the likeliest token each time."
BEFORE_HELP: Final = "With --probabilities: the user's message before the text."
NUMBERS_HELP: Final = "How numbers in JSON are written; 'plain' has no exponent."
CACHE_HELP: Final = (
    "Folder for what is computed once for each vocabulary, and for compiled kernels of GPUs; "
    "with 'off' no tables are kept, and kernels where Triton keeps them."
)


def cache_folder(cache: str) -> Path | None:
    """The folder that the option `--cache` names; None for 'off'."""
    return None if cache == "off" else Path(cache).expanduser()


@dataclass(frozen=True, slots=True)
class ServerAccess:
    """How a server is asked: with which key, and whom a command trusts to be the server."""

    api_key: str | None = option(
        None,
        "The key, if the server has keys. Other users of this machine can read options; they can't "
        "read variables.",
        envvar="MASKWRIGHT_API_KEY",
        metavar="KEY",
    )
    ca: str | None = option(
        None,
        "PEM file of the certificate of the server, or of its authority, if that isn't known here.",
        metavar="FILE",
    )
    insecure: bool = option(
        False,
        "Trust any certificate of the server: nothing shows that it is the one meant.",
        flag="--insecure",
    )


@dataclass(frozen=True, slots=True)
class StatusOptions:
    """What `maskwright status` is given."""

    url: str = option("http://127.0.0.1:8000", "Address of the server.")
    access: ServerAccess = field(default_factory=ServerAccess)
    seconds: float = option(1.0, "Seconds between the two moments.", least=0.1)
    watch: bool = option(
        False, "Ask again and again, every --seconds, until Ctrl-C.", flag="--watch"
    )
    as_json: bool = option(False, JSON_HELP, flag="--json")


@dataclass(frozen=True, slots=True)
class DoctorOptions:
    """What `maskwright doctor` is given."""

    as_json: bool = option(False, JSON_HELP, flag="--json")
