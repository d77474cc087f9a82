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
from typing import Annotated

from maskwright.cli.arguments import Argument
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
from maskwright.settings import Option


@dataclass(frozen=True, slots=True)
class BatchOptions:
    """What `maskwright batch` is given."""

    input: Annotated[str, Argument(help="A file of records, or a folder of texts.")]
    output: Annotated[str, Argument(help="A file *.jsonl or *.parquet for the answers.")]
    schema: Annotated[
        str | None,
        Option(
            help="The JSON Schema of each answer: a file, the text itself, or the name of one that "
            "ships. Without it answers are any text."
        ),
    ] = None
    prompt_template: Annotated[
        str | None,
        Option(
            help="The prompt about each record: a file, or a text with {{FIELD}} for fields of the "
            "record. Without it the field 'messages', 'prompt' or 'text' is the prompt."
        ),
    ] = None
    system: Annotated[str | None, Option(help="A system message before each prompt.")] = None
    url: Annotated[str | None, Option(help=URL_HELP)] = None
    model: Annotated[
        str | None,
        Option(
            help="Folder of a checkpoint, or its id on the Hugging Face hub, to be served in this "
            "process.",
            show_default="the demo model, without --url",
        ),
    ] = None
    name: Annotated[
        str | None,
        Option(help="Name of the model in requests. Default: the first that the server lists."),
    ] = None
    access: ServerAccess = field(default_factory=ServerAccess)
    concurrency: Annotated[int, Option(least=1, help="Requests that are sent at a time.")] = 32
    retries: Annotated[
        int, Option(least=0, help="How often a request that failed by chance is sent again.")
    ] = 6
    timeout: Annotated[
        float, Option(least=0.1, help="Seconds to wait for an answer before it is asked again.")
    ] = 600.0
    max_tokens: Annotated[int | None, Option(least=1, help=MOST_TOKENS_HELP)] = None
    temperature: Annotated[float, Option(least=0.0, help=TEMPERATURE_HELP)] = 0.0
    seed: Annotated[int | None, Option(help="Seed of the samples of each request.")] = None
    body: Annotated[
        str | None, Option(help="Further fields of each request, as a JSON object.", metavar="JSON")
    ] = None
    carry: Annotated[
        list[str],
        Option(
            help="A field of the record that its line repeats. May be repeated.", metavar="FIELD"
        ),
    ] = field(default_factory=list[str])
    input_format: Annotated[
        SourceFormat, Option(help="Format of INPUT; 'auto' decides by its name and first line.")
    ] = "auto"
    failures: Annotated[
        str | None,
        Option(help="File for the records that failed. Default: OUTPUT with .failures.jsonl."),
    ] = None
    overwrite: Annotated[
        bool, Option("--overwrite", help="Begin anew, and forget earlier results.")
    ] = False
    retry_failed: Annotated[
        bool, Option("--retry-failed", help="Ask again about records that failed earlier.")
    ] = False
    price_prompt: Annotated[
        float, Option(least=0, help="Price of a million tokens of prompts, for the report.")
    ] = 0.0
    price_cached: Annotated[
        float | None, Option(least=0, help="Price of a million cached tokens of prompts.")
    ] = None
    price_completion: Annotated[
        float, Option(least=0, help="Price of a million tokens of answers.")
    ] = 0.0
    price_hour: Annotated[
        float, Option(least=0, help="Price of the machine for an hour; counts for this run.")
    ] = 0.0
    as_json: Annotated[bool, Option("--json", help=JSON_HELP)] = False
    cache: Annotated[str, Option(envvar="MASKWRIGHT_CACHE", help=CACHE_HELP)] = str(USER_CACHE)
