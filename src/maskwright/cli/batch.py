"""Ask a model about thousands of records, and keep every answer that has the shape of a schema.

INPUT has the records: JSON lines, CSV, Parquet, or a folder of texts; or requests in OpenAI's batch
format. OUTPUT gets a line of JSON for each record as soon as it is answered, or is a Parquet file.
What fails goes to a file of its own, with the reason. A run that was stopped, in whatever way, is
continued by the same command: nothing is lost, and nothing is there twice.

Exit codes: 0 if every record has a valid answer, 1 if some failed, 2 if the input or an option
can't be used, 3 if no server answers.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from maskwright.cli.bulk.sources import SourceFormat
from maskwright.cli.options import (
    CACHE_HELP,
    JSON_HELP,
    MOST_TOKENS_HELP,
    TEMPERATURE_HELP,
    URL_HELP,
    USER_CACHE,
)
from maskwright.cli.process.server_access import ServerAccess
from maskwright.settings import argument, option


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
    temperature: float = option(0.0, TEMPERATURE_HELP, least=0.0)
    seed: int | None = option(None, "Seed of the samples of each request.")
    body: str | None = option(
        None, "Further fields of each request, as a JSON object.", metavar="JSON"
    )
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
