"""Runs batches, and continues them after a restart.

The input of a batch is checked before anything is asked. Then the application is called in this
process, as a client would: each request of a batch is a request like any other, in its answer, in
metrics and in traces. Each answer is on the disk before it counts. After a kill, requests whose
answers are there are not sent again; requests that were under way are.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, TypeAlias

import httpx
from starlette.types import ASGIApp, Receive, Scope, Send

from maskwright.errors import InputError
from maskwright.immutable import Immutable
from maskwright.records.batch_lines import (
    BatchLine,
    error_line,
    numbered_lines,
    parse_batch_line,
    result_line,
)
from maskwright.records.journal import GroupCommit, Journal, line_of
from maskwright.records.workers import run_all
from maskwright.server.batches.stores import BatchStatus, BatchStore, FileStore, StoredBatch
from maskwright.server.exchange import OWNER
from maskwright.server.json import Json

ADDRESS: Final = "http://127.0.0.1"


class AppAnswer(Immutable):
    """What the application has answered. `retry_after`: seconds, 0 if it named none."""

    status: int
    request_id: str | None
    retry_after: float
    body: object


async def call_app(
    app: ASGIApp, path: str, body: dict[str, object], owner: str | None
) -> AppAnswer:
    """Send a request with a JSON body for the key with the name `owner`, None on a server without
    keys. Cancelling the call cancels the request."""

    async def owned(scope: Scope, receive: Receive, send: Send) -> None:
        await app({**scope, OWNER: owner}, receive, send)

    transport = httpx.ASGITransport(owned)
    async with httpx.AsyncClient(transport=transport, base_url=ADDRESS, timeout=None) as client:
        response = await client.post(path, json=body)
    headers = response.headers
    return AppAnswer(
        response.status_code,
        headers.get("x-request-id"),
        float(headers.get("retry-after", 0)),
        response.json(),
    )


MOST_REQUESTS: Final = 50_000
MOST_ERRORS: Final = 100
"""Errors of one batch that are listed."""


def input_errors(path: Path, endpoint: str, line_bytes: int) -> tuple[int, list[Json]]:
    """Return how many requests an input has, and what is wrong with it, as OpenAI tells it. With
    errors, no request is sent. `line_bytes`: upper bound on the bytes of one request."""
    errors: list[Json] = []
    known: set[str] = set()
    count = 0
    for number, line in numbered_lines(path):
        count += 1
        if count > MOST_REQUESTS:
            return count, [
                *errors,
                _error("too_many_requests", f"there are more than {MOST_REQUESTS:,} requests"),
            ]
        found = _line_error(line, endpoint, line_bytes, known, number)
        if found is not None:
            errors.append(found)
            if len(errors) == MOST_ERRORS:
                break
    if count == 0:
        errors.append(_error("empty_file", "the input has no requests"))
    return count, errors


def requests_of(path: Path) -> Iterator[BatchLine]:
    """The requests of an input that was checked."""
    return (parse_batch_line(line) for _, line in numbered_lines(path))


def _line_error(
    line: bytes, endpoint: str, line_bytes: int, known: set[str], number: int
) -> Json | None:
    if len(line) > line_bytes:
        return _error("line_too_large", f"the line is larger than {line_bytes} bytes", None, number)
    try:
        request = parse_batch_line(line)
    except InputError as error:
        return _error(error.code, error.message, error.param, number)
    if request.url != endpoint:
        message = f"'url' is {request.url}, and the batch is for {endpoint}"
        return _error("mismatched_endpoint", message, "url", number)
    if request.custom_id in known:
        message = f"the custom_id {request.custom_id!r} comes twice"
        return _error("duplicate_custom_id", message, "custom_id", number)
    known.add(request.custom_id)
    return None


def _error(code: str, message: str, param: str | None = None, line: int | None = None) -> Json:
    return {"code": code, "message": message, "param": param, "line": line}


Ask: TypeAlias = Callable[[BatchLine, str | None], Awaitable[AppAnswer]]

BUSY: Final = frozenset({429, 503})
"""Statuses after which a request waits: they say nothing about it."""
LEAST_WAIT_S: Final = 0.2
EXPIRED: Final = "the request was not answered before the completion window ended"

log = logging.getLogger(__name__)


class BatchWorker:
    """Runs batches in the event loop of the server. `ask` sends one request of an owner.
    `concurrency`: how many requests of all batches are under way at a time. `line_bytes`: upper
    bound on the bytes of one."""

    def __init__(
        self, files: FileStore, batches: BatchStore, ask: Ask, *, concurrency: int, line_bytes: int
    ) -> None:
        self._files = files
        self._batches = batches
        self._ask = ask
        self._concurrency = concurrency
        self._line_bytes = line_bytes
        self._room = asyncio.Semaphore(concurrency)
        self._running: dict[str, asyncio.Task[None]] = {}
        self._asking: dict[str, asyncio.Task[None]] = {}

    def go_on(self) -> None:
        """Begin with every batch that has not ended."""
        for batch in self._batches.unfinished():
            self.begin(batch)

    def begin(self, batch: StoredBatch) -> None:
        """Run a batch in a task of its own."""
        task = asyncio.create_task(self._run(batch))
        self._running[batch.id] = task
        task.add_done_callback(lambda _: self._running.pop(batch.id, None))

    def cancel(self, batch: StoredBatch) -> None:
        """End a batch that runs; its answers so far become a file."""
        self._batches.enter(batch, "cancelling")
        asking = self._asking.get(batch.id)
        if asking is not None:
            asking.cancel()

    async def stop(self) -> None:
        """Stop all work. What is done is on the disk; `go_on` continues with the rest."""
        tasks = list(self._running.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _run(self, batch: StoredBatch) -> None:
        try:
            if batch.status == "validating":
                await self._validate(batch)
            if batch.status == "in_progress":
                await self._end(batch, await self._ask_all(batch))
            elif batch.status == "cancelling":
                await self._end(batch, "cancelled")
            elif batch.status == "finalizing":
                await self._end(batch, batch.outcome or "completed")
        except Exception:
            log.exception("the batch %s failed", batch.id)
            batch.errors = [_error("internal_error", "the server failed on this batch")]
            self._batches.enter(batch, "failed")

    async def _validate(self, batch: StoredBatch) -> None:
        path = self._files.path(batch.input_file_id)
        batch.total, batch.errors = await asyncio.to_thread(
            input_errors, path, batch.endpoint, self._line_bytes
        )
        if batch.status == "validating":  # it may have been cancelled meanwhile
            self._batches.enter(batch, "failed" if batch.errors else "in_progress")

    async def _ask_all(self, batch: StoredBatch) -> BatchStatus:
        """Ask all that is left; returns with which status the batch ends."""
        asking = self._asking[batch.id] = asyncio.create_task(self._ask_rest(batch))
        try:
            left = batch.expires_at - time.time()
            done, _ = await asyncio.wait({asking}, timeout=max(0.0, left))
            if done and not asking.cancelled():
                asking.result()
                return "completed"
            return "cancelled" if done else "expired"
        finally:
            del self._asking[batch.id]
            asking.cancel()
            with suppress(asyncio.CancelledError):
                await asking

    async def _ask_rest(self, batch: StoredBatch) -> None:
        paths = self._batches.journals(batch)
        journals = [Journal(path) for path in paths]
        answers, failures = (GroupCommit(journal) for journal in journals)
        try:
            done = self._recount(batch, journals)

            async def ask(request: BatchLine) -> None:
                answer = await self._answer(request, batch.owner)
                line = result_line(request.custom_id, answer.status, answer.request_id, answer.body)
                if answer.status == 200:
                    await answers.append(line_of(line))
                    batch.answered += 1
                else:
                    await failures.append(line_of(line))
                    batch.failed += 1

            await run_all(self._left(batch, done), ask, self._concurrency)
        finally:
            for commit in (answers, failures):
                await commit.settle()
            for journal in journals:
                journal.close()

    async def _answer(self, request: BatchLine, owner: str | None) -> AppAnswer:
        """The answer to one request, which waits as long as the server is busy."""
        while True:
            async with self._room:
                answer = await self._ask(request, owner)
            if answer.status not in BUSY:
                return answer
            await asyncio.sleep(max(LEAST_WAIT_S, answer.retry_after))

    def _left(self, batch: StoredBatch, done: set[object]) -> Iterator[BatchLine]:
        path = self._files.path(batch.input_file_id)
        return (request for request in requests_of(path) if request.custom_id not in done)

    def _recount(self, batch: StoredBatch, journals: list[Journal]) -> set[object]:
        """Count what is done by its journals; returns the names of those requests."""
        done = [{line["custom_id"] for line in journal.objects()} for journal in journals]
        batch.answered, batch.failed = map(len, done)
        return set[object]().union(*done)

    async def _end(self, batch: StoredBatch, outcome: BatchStatus) -> None:
        """Make the results of a batch files. After a kill, this does what is missing."""
        if batch.outcome is None:
            await asyncio.to_thread(self._complete, batch, outcome)
            batch.outcome = outcome
            if outcome == "cancelled":
                self._batches.save(batch)
            else:
                self._batches.enter(batch, "finalizing")
        output, errors = self._batches.journals(batch)
        for id, path, kind in (
            (batch.output_file_id, output, "output"),
            (batch.error_file_id, errors, "error"),
        ):
            if id is not None:
                name = f"{batch.id}_{kind}.jsonl"
                self._files.adopt(
                    id, path, filename=name, purpose="batch_output", owner=batch.owner
                )
        self._batches.enter(batch, batch.outcome)

    def _complete(self, batch: StoredBatch, outcome: BatchStatus) -> None:
        """Count the results, and choose the ids of their files before any file moves, so that a
        kill leaves no doubt. If the batch has expired, each request without an answer gets a
        failure."""
        journals = [Journal(path) for path in self._batches.journals(batch)]
        try:
            done = self._recount(batch, journals)
            for request in self._left(batch, done) if outcome == "expired" else ():
                line = error_line(request.custom_id, "batch_expired", EXPIRED)
                journals[1].append(line_of(line))
                batch.failed += 1
        finally:
            for journal in journals:
                journal.close()
        batch.output_file_id = self._files.new_id() if batch.answered else None
        batch.error_file_id = self._files.new_id() if batch.failed else None
