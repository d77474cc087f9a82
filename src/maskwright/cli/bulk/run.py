"""The run: asks for what is not done yet, and keeps each result.

A record is done once its line is on the disk, among the results or the failures. A run that was
killed is continued by the next one, which reads both files first. A record whose answer was under
way is asked for again, and is written once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from maskwright.cli.bulk.progress_bar import progress_bar
from maskwright.cli.bulk.run_report import RunCounts
from maskwright.cli.bulk.sender import Sender
from maskwright.cli.bulk.work import Key, RecordWork, WorkItem, WorkResult
from maskwright.errors import InputError
from maskwright.records.group_commit import GroupCommit
from maskwright.records.journal import Journal, line_of
from maskwright.records.workers import run_all


@dataclass(slots=True)
class Done:
    """What earlier runs have done: the digest of the request of each record."""

    digests: dict[Key, object] = field(default_factory=dict[Key, object])

    def read(
        self, journal: Journal, work: RecordWork, note: Callable[[dict[str, object]], None]
    ) -> None:
        """Add the lines of a journal, each of which `note` gets too. Raises InputError for a line
        of another kind, and for a record that is done twice."""
        for number, line in enumerate(journal.objects(), 1):
            key = work.key_of(line)
            if key is None:
                raise InputError(
                    f"{journal.path}:{number} is no line of such results; give another file"
                )
            if key in self.digests:
                raise InputError(f"{journal.path}:{number}: the record {key!r} is done twice")
            self.digests[key] = line.get("digest")
            note(line)


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
            self._done.read(self._results, work, self._note_result)
            self._done.read(self._failures, work, self._note_failure)
            self._check(results)
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
        return (item for item in self._work.items() if item.key not in self._done.digests)

    def _check(self, results: Path) -> None:
        """Count the records, and see that those which are done are still what they were."""
        seen = 0
        for item in self._work.items():
            self.counts.total += 1
            if item.key in self._done.digests:
                seen += 1
                if self._done.digests[item.key] != item.digest:
                    raise InputError(
                        f"{results} has results of other requests: the record {item.key!r}, the "
                        "schema or an option has changed; --overwrite begins anew"
                    )
        if seen < len(self._done.digests):
            raise InputError(
                f"{results} has results of records that the input doesn't have; "
                "--overwrite begins anew"
            )

    def _note_result(self, line: dict[str, object]) -> None:
        self.counts.before += 1
        self.counts.unchecked += "unchecked" in line
        self.counts.use += self._work.use_of(line)

    def _note_failure(self, line: dict[str, object]) -> None:
        self._note_result(line)
        self.counts.failures[_code_of(line)] += 1

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
