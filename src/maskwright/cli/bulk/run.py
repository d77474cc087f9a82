"""The run: asks for what is not done yet, and keeps each result.

A record is done once its line is on the disk, among the results or the failures. A run that was
killed is continued by the next one, which reads both files first. A record whose answer was under
way is asked for again, and is written once.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from maskwright.cli.bulk.run_report import RunCounts, note, progress_bar
from maskwright.cli.bulk.sender import Sender
from maskwright.cli.bulk.work import Key, RecordWork, WorkItem, WorkResult
from maskwright.cli.process.reaching import ClientArguments, base_address
from maskwright.errors import InputError
from maskwright.records.journal import GroupCommit, Journal, line_of
from maskwright.records.workers import run_all


@dataclass(slots=True)
class Done:
    """What earlier runs have done: the digests of the requests of records that have a result, and
    of those that have failed."""

    results: dict[Key, object] = field(default_factory=dict[Key, object])
    failures: dict[Key, object] = field(default_factory=dict[Key, object])

    def __contains__(self, key: Key) -> bool:
        return key in self.results or key in self.failures

    def read(self, journal: Journal, digests: dict[Key, object], work: RecordWork) -> None:
        """Add the lines of a journal to one of the two. Raises InputError for a line of another
        kind, and for a record that is done twice."""
        for number, line in enumerate(journal.objects(), 1):
            key = work.key_of(line)
            if key is None:
                raise InputError(
                    f"{journal.path}:{number} is no line of such results; give another file"
                )
            if key in self:
                raise InputError(f"{journal.path}:{number}: the record {key!r} is done twice")
            digests[key] = line.get("digest")


class BatchRun:
    """One run over a piece of work, which writes to two journals."""

    def __init__(
        self,
        work: RecordWork,
        results: Path,
        failures: Path,
        *,
        overwrite: bool = False,
        retry_failed: bool = False,
    ) -> None:
        """Open the journals, read what is done, and check all of the input, before anything is
        sent. `overwrite`: forget what is done; `retry_failed`: forget the failures. Raises
        InputError."""
        self.counts = RunCounts()
        self._work = work
        self._done = Done()
        with ExitStack() as opened:
            self._results = Journal(results)
            opened.callback(self._results.close)
            self._failures = Journal(failures)
            opened.callback(self._failures.close)
            if overwrite:
                self._results.clear()
            if overwrite or retry_failed:
                self._failures.clear()
            self._done.read(self._results, self._done.results, work)
            self._done.read(self._failures, self._done.failures, work)
            self._forget(self._check(results))
            self._note()
            self._close = opened.pop_all().close

    def close(self) -> None:
        """Close the journals, which releases their locks."""
        self._close()

    async def ask_all(self, sender: Sender, concurrency: int) -> None:
        """Ask for every record that is not done. Raises what `Sender.send` raises, after which
        another run can go on."""
        results, failures = GroupCommit(self._results), GroupCommit(self._failures)

        async def ask(item: WorkItem) -> None:
            outcome = await self._ask(item, sender)
            journal = results if outcome.code is None else failures
            await journal.append(line_of(outcome.line))
            self._count(outcome)

        try:
            async with progress_bar(self.counts):
                await run_all(self._left(), ask, concurrency)
        finally:
            await results.settle()
            await failures.settle()

    async def _ask(self, item: WorkItem, sender: Sender) -> WorkResult:
        if item.body is None:
            return self._work.refused(item, "invalid_record", item.problem or "")
        answer = await sender.send(item.path, item.body)
        if answer is None:
            return self._work.refused(item, "timeout", "no answer came in time")
        return self._work.result(item, answer)

    def _left(self) -> Iterator[WorkItem]:
        return (item for item in self._work.items() if item.key not in self._done)

    def _check(self, results: Path) -> set[Key]:
        """Count the records, and see that those which have results are still what they were;
        returns those that have failed and are no longer what they were.

        Raises InputError also if there is nothing that could be asked, so that nothing is kept of a
        run whose prompt or whose file is not what was meant."""
        changed = set(self._done.failures)
        seen = impossible = 0
        problem = ""
        for item in self._work.items():
            self.counts.total += 1
            seen += item.key in self._done.results
            if self._done.results.get(item.key, item.digest) != item.digest:
                raise InputError(
                    f"{results} has results of other requests: the record {item.key!r}, the "
                    "schema or an option has changed; --overwrite begins anew"
                )
            if self._done.failures.get(item.key, item) == item.digest:
                changed.discard(item.key)
            if item.body is None:
                impossible += 1
                problem = problem or item.problem or ""
        if seen < len(self._done.results):
            raise InputError(
                f"{results} has results of records that the input doesn't have; "
                "--overwrite begins anew"
            )
        if impossible and impossible == self.counts.total:
            which = "the record can't" if impossible == 1 else "none of the records can"
            raise InputError(f"{which} be asked about; {problem}", param="input")
        return changed

    def _forget(self, changed: set[Key]) -> None:
        """Forget failures of requests that have changed since, to ask about their records again."""
        if not changed:
            return
        kept = [line for line in self._failures.objects() if self._work.key_of(line) not in changed]
        self._failures.clear()
        self._failures.append(b"".join(map(line_of, kept)))
        for key in changed:
            del self._done.failures[key]

    def _note(self) -> None:
        """Count what is done."""
        for line in self._results.objects():
            self._note_result(line)
        for line in self._failures.objects():
            self._note_result(line)
            self.counts.failures[_code_of(line)] += 1

    def _note_result(self, line: dict[str, object]) -> None:
        self.counts.before += 1
        self.counts.unchecked += "unchecked" in line
        self.counts.use += self._work.use_of(line)

    def _count(self, outcome: WorkResult) -> None:
        use = self._work.use_of(outcome.line)
        self.counts.now += 1
        self.counts.unchecked += outcome.is_unchecked
        self.counts.use += use
        self.counts.use_now += use
        if outcome.code is not None:
            self.counts.failures[outcome.code] += 1


def _code_of(line: dict[str, object]) -> str:
    """The code of a failure in a line of either format."""
    match line:
        case {"code": str(code)} | {"error": {"code": str(code)}}:
            return code
        case {"response": {"status_code": status}}:
            return f"http_{status}"
        case _:
            return "unknown"


@dataclass(frozen=True, slots=True)
class Sending:
    """How requests are sent. `concurrency`: how many at a time. `retries`: how often one is sent
    again. `timeout`: seconds to wait for an answer."""

    concurrency: int
    retries: int
    timeout: float
    connection: ClientArguments


async def ask_server(run: BatchRun, sending: Sending, url: str) -> int:
    """Ask a server for all that is left of a run; returns how often requests were sent again.
    `url`: with or without `/v1`."""
    limits = httpx.Limits(max_connections=sending.concurrency)
    timeout = httpx.Timeout(sending.timeout, connect=10.0)
    async with httpx.AsyncClient(
        base_url=base_address(url), limits=limits, timeout=timeout, **sending.connection
    ) as client:
        sender = Sender(client, retries=sending.retries, tell=note)
        await sender.find_model()
        await run.ask_all(sender, sending.concurrency)
        return sender.sent_again
