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
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Final

import httpx

from maskwright.cli.asking import BatchOptions, sampling_fields
from maskwright.cli.bulk.run import BatchRun, Prices, ask_server, report_row, report_text
from maskwright.cli.bulk.sources import format_of, require_pyarrow, table_rows, write_parquet
from maskwright.cli.bulk.work import (
    PromptTemplate,
    RecordWork,
    extraction_of,
    journals_of,
    template_of,
)
from maskwright.cli.options import cache_folder
from maskwright.cli.process.reaching import ClientArguments, client_arguments
from maskwright.errors import AddressError, InputError

RESERVED: Final = frozenset(
    {"index", "output", "usage", "digest", "unchecked", "code", "reason", "attempts", "answer"}
)
"""Fields that lines of results and failures have anyway."""
SHOWN_OF_REASON: Final = 300
"""Most characters of a reason that the report shows."""
OF_REQUESTS: Final = (
    *("schema", "prompt_template", "system", "max_tokens", "temperature", "seed", "body", "carry"),
)
"""Options that would change requests which stand in the input."""


def run(options: BatchOptions) -> int:
    _check_server(options.url, options.model)
    connection = client_arguments(options.access)
    if options.output.endswith(".parquet"):
        require_pyarrow()  # before anything is asked
    path = Path(options.input)
    source = format_of(path, options.input_format)
    if clash := sorted(RESERVED & set(options.carry)):
        raise InputError(f"--carry {clash[0]}: each result has a field of this name", param="carry")
    work: RecordWork
    if source == "openai":
        for name in OF_REQUESTS:
            if getattr(options, name) not in (None, {}, []):
                raise InputError(
                    f"--{name.replace('_', '-')}: the input has whole requests, which are sent as "
                    "they stand",
                    param=name,
                )
        # Only here, because it imports the models of requests.
        from maskwright.cli.bulk.batch_file import BatchFile  # noqa: PLC0415

        work = BatchFile(path)
    else:
        fields = sampling_fields(replace(options, temperature=options.temperature or 0.0))
        if options.name is not None:
            fields["model"] = options.name
        template = PromptTemplate(template_of(options.prompt_template), options.system)
        work = extraction_of(
            path, source, template, options.schema, {**fields, **options.body}, options.carry
        )
    results, failed = journals_of(options.output, options.failures)
    prices = Prices(
        options.price_prompt, options.price_completion, options.price_cached, options.price_hour
    )
    with closing(
        BatchRun(
            work, results, failed, overwrite=options.overwrite, retry_failed=options.retry_failed
        )
    ) as run:
        seconds, sent_again = _ask_all(run, options, connection)
    if options.output.endswith(".parquet"):
        write_parquet(Path(options.output), table_rows(results))
    row = report_row(run.counts, seconds, sent_again, prices)
    print(json.dumps(row) if options.as_json else report_text(row))
    if run.counts.failed:
        print(f"the failures are in {failed}{_first_reason(failed)}", file=sys.stderr)
    return 1 if run.counts.failed else 0


def _ask_all(
    run: BatchRun, options: BatchOptions, connection: ClientArguments
) -> tuple[float, int]:
    """Ask for all that is left; returns the seconds it took, and how often requests were sent
    again. Serves the model in this process if there is no address."""
    if run.counts.finished == run.counts.total:
        return 0.0, 0
    begun = time.monotonic()
    try:
        with ExitStack() as closing:
            address = options.url
            if address is None:
                # Imports torch, which is not needed to ask another server.
                from maskwright.cli.own_server import own_server  # noqa: PLC0415

                own = own_server(options.model, cache_folder(options.cache))
                address = closing.enter_context(own)
            asked = time.monotonic()
            how = options.concurrency, options.retries, options.timeout
            sent_again = asyncio.run(ask_server(run, address, connection, *how))
            return time.monotonic() - asked, sent_again
    except (AddressError, KeyboardInterrupt):
        done, total = run.counts.finished, run.counts.total
        print(
            f"stopped after {time.monotonic() - begun:.0f} s with {done:,} of {total:,} records "
            "done; the same command continues",
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
