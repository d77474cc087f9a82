"""The options of the commands that ask a model, which are read before a command is imported."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from maskwright.automaton.value.whitespace import WhitespaceName
from maskwright.cli.options import (
    BACKEND_HELP,
    CACHE_HELP,
    DEVICE_HELP,
    DTYPE_HELP,
    JSON_HELP,
    KIND_HELP,
    MODEL_HELP,
    MOST_TOKENS_HELP,
    NAME_HELP,
    NUMBERS_HELP,
    SHAPE_HELP,
    TEMPERATURE_HELP,
    URL_HELP,
    USER_CACHE,
    WHITESPACE_HELP,
    ServerAccess,
)
from maskwright.grammar.schema.options import Numbers
from maskwright.model_options import DEMO_PATH, Backend, Dtype, local_checkpoint
from maskwright.settings import argument, option
from maskwright.workbench.choices import Kind

SourceFormat: TypeAlias = Literal["auto", "jsonl", "csv", "tsv", "parquet", "folder", "openai"]
"""How the input of `batch` is written."""


@dataclass(frozen=True, slots=True)
class BatchOptions:
    """What `maskwright batch` is given."""

    input: str = argument("A file of records, or a folder of texts.")
    output: str = argument("A file *.jsonl or *.parquet for the answers.")
    schema: str | None = option(
        None,
        "The JSON Schema of each answer: a file, the text itself, or the name of one that ships. "
        "Without it answers are any text.",
    )
    prompt_template: str | None = option(
        None,
        "The prompt about each record: a file, or a text with {{FIELD}} for fields of the record. "
        "Without it the field 'messages', 'prompt' or 'text' is the prompt.",
    )
    system: str | None = option(None, "A system message before each prompt.")
    url: str | None = option(None, URL_HELP)
    model: str | None = option(
        None,
        "Folder of a checkpoint, or its id on the Hugging Face hub, to be served in this process.",
        show_default="the demo model, without --url",
    )
    name: str | None = option(
        None, "Name of the model in requests. Default: the first that the server lists."
    )
    access: ServerAccess = field(default_factory=ServerAccess)
    concurrency: int = option(32, "Requests that are sent at a time.", least=1)
    retries: int = option(6, "How often a request that failed by chance is sent again.", least=0)
    timeout: float = option(
        600.0, "Seconds to wait for an answer before it is asked again.", least=0.1
    )
    max_tokens: int | None = option(None, MOST_TOKENS_HELP, least=1)
    temperature: float | None = option(None, TEMPERATURE_HELP, show_default="0", least=0.0)
    seed: int | None = option(None, "Seed of the samples of each request.")
    body: Mapping[str, object] = option({}, "Further fields of each request, as a JSON object.")
    carry: list[str] = option(
        [], "A field of the record that its line repeats. May be repeated.", metavar="FIELD"
    )
    input_format: SourceFormat = option(
        "auto", "Format of INPUT; 'auto' decides by its name and first line."
    )
    failures: str | None = option(
        None, "File for the records that failed. Default: OUTPUT with .failures.jsonl."
    )
    overwrite: bool = option(False, "Begin anew, and forget earlier results.", flag="--overwrite")
    retry_failed: bool = option(
        False, "Ask again about records that failed earlier.", flag="--retry-failed"
    )
    price_prompt: float = option(
        0.0, "Price of a million tokens of prompts, for the report.", least=0
    )
    price_cached: float | None = option(
        None, "Price of a million cached tokens of prompts.", least=0
    )
    price_completion: float = option(0.0, "Price of a million tokens of answers.", least=0)
    price_hour: float = option(
        0.0, "Price of the machine for an hour; counts for this run.", least=0
    )
    as_json: bool = option(False, JSON_HELP, flag="--json")
    cache: str = option(str(USER_CACHE), CACHE_HELP, envvar="MASKWRIGHT_CACHE")


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


@dataclass(frozen=True, slots=True)
class ReplayOptions:
    """What `maskwright replay` is given."""

    trace: str = argument("File of traces with requests.")
    model: str = option(str(DEMO_PATH), MODEL_HELP, show_default="the demo model")
    backend: Backend = option("auto", BACKEND_HELP)
    adapter: list[str] = option(
        [], "A LoRA adapter, as for serve. May be repeated.", metavar="NAME=FOLDER"
    )
    request: list[str] = option(
        [], "Replay only the request with this id. May be repeated.", metavar="ID"
    )
    cache: str = option(str(USER_CACHE), CACHE_HELP, envvar="MASKWRIGHT_CACHE")

    def __post_init__(self) -> None:
        local_checkpoint(self.model)


def sampling_fields(
    options: BatchOptions | ChatOptions | GenerateOptions,
) -> dict[str, object]:
    """The fields of a request for an answer of a chat that options give."""
    given = {
        "max_completion_tokens": options.max_tokens,
        "temperature": options.temperature,
        "seed": options.seed,
    }
    return {name: value for name, value in given.items() if value is not None}
