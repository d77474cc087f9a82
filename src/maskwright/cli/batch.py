"""Ask a model about thousands of records, and keep every answer that has the shape of a schema.

INPUT has the records: JSON lines, CSV, Parquet, or a folder of texts; or requests in OpenAI's batch
format. OUTPUT gets a line of JSON for each record as soon as it is answered, or is a Parquet file.
What fails goes to a file of its own, with the reason. A run that was stopped, in whatever way, is
continued by the same command: nothing is lost, and nothing is there twice.

Exit codes: 0 if every record has a valid answer, 1 if some failed, 2 if the input or an option
can't be used, 3 if no server answers.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Annotated, Final

import httpx

from maskwright.cli.arguments import Argument, Option
from maskwright.cli.bulk.batch_file import BatchFile
from maskwright.cli.bulk.given_work import (
    extraction_of,
    journals_of,
    object_of,
    refuse_beside_requests,
    template_of,
)
from maskwright.cli.bulk.parquet import require_pyarrow, table_rows, write_parquet
from maskwright.cli.bulk.prompt_template import PromptTemplate
from maskwright.cli.bulk.run import BatchRun
from maskwright.cli.bulk.run_report import Prices, report_row, report_text
from maskwright.cli.bulk.server_run import Sending, ask_server
from maskwright.cli.bulk.sources import SourceFormat, format_of
from maskwright.cli.bulk.work import RecordWork
from maskwright.cli.options import CACHE_HELP, JSON_HELP, USER_CACHE, cache_folder
from maskwright.cli.process.reaching import CA_HELP, INSECURE_HELP, Trust
from maskwright.errors import AddressError, InputError

RESERVED: Final = frozenset(
    {"index", "output", "usage", "digest", "unchecked", "code", "reason", "attempts", "answer"}
)
"""Fields that lines of results and failures have anyway."""
SHOWN_OF_REASON: Final = 300
"""Most characters of a reason that the report shows."""


def batch(
    input: Annotated[str, Argument(help="A file of records, or a folder of texts.")],
    output: Annotated[str, Argument(help="A file *.jsonl or *.parquet for the answers.")],
    schema: Annotated[
        str | None,
        Option(
            help="The JSON Schema of each answer: a file, the text itself, or the name of one that "
            "ships. Without it answers are any text."
        ),
    ] = None,
    prompt_template: Annotated[
        str | None,
        Option(
            help="The prompt about each record: a file, or a text with {{FIELD}} for fields of the "
            "record. Without it the field 'messages', 'prompt' or 'text' is the prompt."
        ),
    ] = None,
    system: Annotated[str | None, Option(help="A system message before each prompt.")] = None,
    url: Annotated[
        str | None, Option(help="Address of a server, such as http://127.0.0.1:8000.")
    ] = None,
    model: Annotated[
        str | None,
        Option(
            help="Folder of a checkpoint, or its id on the Hugging Face hub, to be served in this "
            "process.",
            show_default="the demo model, without --url",
        ),
    ] = None,
    name: Annotated[
        str | None,
        Option(help="Name of the model in requests. Default: the first that the server lists."),
    ] = None,
    api_key: Annotated[
        str | None,
        Option(envvar="MASKWRIGHT_API_KEY", help="Key for the server.", show_default="none"),
    ] = None,
    ca: Annotated[str | None, Option(help=CA_HELP, metavar="FILE")] = None,
    insecure: Annotated[bool, Option("--insecure", help=INSECURE_HELP)] = False,
    concurrency: Annotated[int, Option(least=1, help="Requests that are sent at a time.")] = 32,
    retries: Annotated[
        int, Option(least=0, help="How often a request that failed by chance is sent again.")
    ] = 6,
    timeout: Annotated[
        float, Option(least=0.1, help="Seconds to wait for an answer before it is asked again.")
    ] = 600.0,
    max_tokens: Annotated[int | None, Option(least=1, help="Most tokens of an answer.")] = None,
    temperature: Annotated[
        float, Option(least=0.0, help="Temperature; 0 takes the likeliest token each time.")
    ] = 0.0,
    seed: Annotated[int | None, Option(help="Seed of the samples of each request.")] = None,
    body: Annotated[
        str | None,
        Option(help="Further fields of each request, as a JSON object.", metavar="JSON"),
    ] = None,
    carry: Annotated[
        list[str],
        Option(
            help="A field of the record that its line repeats. May be repeated.", metavar="FIELD"
        ),
    ] = [],  # noqa: B006 - read by the parser, never changed
    input_format: Annotated[
        SourceFormat, Option(help="Format of INPUT; 'auto' decides by its name and first line.")
    ] = "auto",
    failures: Annotated[
        str | None,
        Option(help="File for the records that failed. Default: OUTPUT with .failures.jsonl."),
    ] = None,
    overwrite: Annotated[
        bool, Option("--overwrite", help="Begin anew, and forget earlier results.")
    ] = False,
    retry_failed: Annotated[
        bool, Option("--retry-failed", help="Ask again about records that failed earlier.")
    ] = False,
    price_prompt: Annotated[
        float, Option(least=0, help="Price of a million tokens of prompts, for the report.")
    ] = 0.0,
    price_cached: Annotated[
        float | None, Option(least=0, help="Price of a million cached tokens of prompts.")
    ] = None,
    price_completion: Annotated[
        float, Option(least=0, help="Price of a million tokens of answers.")
    ] = 0.0,
    price_hour: Annotated[
        float, Option(least=0, help="Price of the machine for an hour; counts for this run.")
    ] = 0.0,
    as_json: Annotated[bool, Option("--json", help=JSON_HELP)] = False,
    cache: Annotated[str, Option(envvar="MASKWRIGHT_CACHE", help=CACHE_HELP)] = str(USER_CACHE),
) -> int:
    _check_server(url, model)
    verify = Trust(ca, insecure).verify()
    if output.endswith(".parquet"):
        require_pyarrow()  # before anything is asked
    given = {"model": name, "max_completion_tokens": max_tokens, "seed": seed}
    fields = {"temperature": temperature} | {k: v for k, v in given.items() if v is not None}
    path = Path(input)
    source = format_of(path, input_format)
    if clash := sorted(RESERVED & set(carry)):
        raise InputError(f"--carry {clash[0]}: each result has a field of this name", param="carry")
    work: RecordWork
    if source == "openai":
        refuse_beside_requests(schema=schema, prompt_template=prompt_template, system=system)
        work = BatchFile(path)
    else:
        template = PromptTemplate(template_of(prompt_template), system)
        work = extraction_of(path, source, template, schema, fields | object_of(body), carry)
    results, failed = journals_of(output, failures)
    prices = Prices(price_prompt, price_completion, price_cached, price_hour)
    sending = Sending(concurrency, retries, timeout, api_key, verify)
    with closing(
        BatchRun(work, results, failed, overwrite=overwrite, retry_failed=retry_failed)
    ) as run:
        seconds, sent_again = _ask_all(run, sending, url, model, cache)
    if output.endswith(".parquet"):
        write_parquet(Path(output), table_rows(results))
    row = report_row(run.counts, seconds, sent_again, prices)
    print(json.dumps(row) if as_json else report_text(row))
    if run.counts.failed:
        print(f"the failures are in {failed}{_first_reason(failed)}", file=sys.stderr)
    return 1 if run.counts.failed else 0


def _ask_all(
    run: BatchRun, sending: Sending, url: str | None, model: str | None, cache: str
) -> tuple[float, int]:
    """Ask for all that is left; returns the seconds it took, and how often requests were sent
    again. Serves the model in this process if there is no address."""
    if run.counts.finished == run.counts.total:
        return 0.0, 0
    begun = time.monotonic()
    try:
        if url is not None:
            return _timed(run, sending, url)
        # Imports torch, which is not needed to ask another server.
        from maskwright.cli.own_server import DEMO_PATH, own_server  # noqa: PLC0415

        with own_server(model or str(DEMO_PATH), cache=cache_folder(cache)) as address:
            return _timed(run, sending, address)
    except (AddressError, KeyboardInterrupt):
        done, total = run.counts.finished, run.counts.total
        print(
            f"stopped after {time.monotonic() - begun:.0f} s with {done:,} of {total:,} records "
            "done; the same command goes on",
            file=sys.stderr,
        )
        raise
    except OSError as error:
        raise InputError(f"a result can't be written: {error.strerror or error}") from None


def _first_reason(failed: Path) -> str:
    """The reason of the first failure, to be added to a message."""
    with failed.open(encoding="utf-8") as lines:
        match json.loads(next(lines)):
            case {"id": record, "index": index, "reason": str(reason)}:
                which = f"with index {index}" if record in (index, None) else f"of record {record}"
            case {"custom_id": record, "error": {"message": str(reason)}} | {
                "custom_id": record,
                "response": {"body": {"error": {"message": str(reason)}}},
            }:
                which = f"of request {record}"
            case _:
                return ""
    return f"; the first, {which}: {reason[:SHOWN_OF_REASON]}"


def _check_server(url: str | None, model: str | None) -> None:
    """Check that at most one server is named, and that it can have this address. Raises
    InputError."""
    if url is None:
        return
    if model is not None:
        raise InputError("--url and --model are two servers; give one", param="url")
    if not url.startswith(("http://", "https://")):
        raise InputError(f"--url {url}: an address begins with http:// or https://", param="url")
    try:
        named = bool(httpx.URL(url).host)
    except httpx.InvalidURL:
        named = False
    if not named:
        raise InputError(f"--url {url}: this is no address of a server", param="url")


def _timed(run: BatchRun, sending: Sending, address: str) -> tuple[float, int]:
    begun = time.monotonic()
    sent_again = asyncio.run(ask_server(run, sending, address))
    return time.monotonic() - begun, sent_again
