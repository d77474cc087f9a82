"""The run: asks for what is not done yet, and keeps each result.

A record is done once its line is on the disk, among the results or the failures. A run that was
killed is continued by the next one, which reads both files first. A record whose answer was under
way is asked for again, and is written once.

Requests that failed by chance are repeated. A failure of one request is an answer like any other.
What every request would meet ends the run, so that it can be continued later: no server, no
permission, a quota that is used up.

Meanwhile, counts, throughput and cost are shown.
"""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import sys
import time
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import ExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Final, NoReturn

import httpx
from msgspec import Struct, field
from tqdm import tqdm

from maskwright.cli.bulk.work import Key, RecordWork, ServerAnswer, TokenUse, WorkItem, WorkResult
from maskwright.cli.output.appearance import shows_progress
from maskwright.cli.output.progress import Tell
from maskwright.cli.process.reaching import (
    ClientArguments,
    base_address,
    is_final,
    said,
    unreachable,
)
from maskwright.errors import AddressError, InputError
from maskwright.immutable import Immutable
from maskwright.records.journal import GroupCommit, Journal, line_of
from maskwright.records.workers import run_all


class RunCounts(Struct):
    """Counts of a run. `total`: records of the input. `before`: those that earlier runs have done.
    `failures`: by the code of their reason, with earlier runs'. `use`: tokens of all results;
    `use_now`: tokens of this run's results. `unchecked`: answers that may or may not be valid,
    since it could not be decided."""

    total: int = 0
    before: int = 0
    now: int = 0
    failures: Counter[str] = field(default_factory=Counter[str])
    use: TokenUse = field(default_factory=TokenUse)
    use_now: TokenUse = field(default_factory=TokenUse)
    unchecked: int = 0

    @property
    def finished(self) -> int:
        return self.before + self.now

    @property
    def failed(self) -> int:
        return self.failures.total()


class Prices(Immutable):
    """What tokens cost, for a million each, and what the machine costs for an hour; in any
    currency. `cached`: None for the price of other tokens of prompts."""

    prompt: float = 0.0
    completion: float = 0.0
    cached: float | None = None
    hour: float = 0.0

    def cost(self, use: TokenUse, seconds: float) -> float:
        """The cost of tokens, and of a machine for some seconds."""
        cached = self.prompt if self.cached is None else self.cached
        fresh = use.prompt - use.cached
        tokens = fresh * self.prompt + use.cached * cached + use.completion * self.completion
        return tokens / 1e6 + self.hour * seconds / 3600

    @property
    def are_given(self) -> bool:
        return bool(self.prompt or self.completion or self.cached or self.hour)


def report_row(
    counts: RunCounts, seconds: float, sent_again: int, prices: Prices
) -> dict[str, object]:
    """The report as one JSON object. Throughput is this run's, without what earlier runs did;
    tokens and cost are for all results."""
    rate = 1 / seconds if seconds > 0 else 0.0
    row: dict[str, object] = {
        "records": counts.total,
        "valid": counts.finished - counts.failed,
        "failed": counts.failed,
        "unchecked": counts.unchecked,
        "failures": dict(sorted(counts.failures.items())),
        "done_before": counts.before,
        "done_now": counts.now,
        "left": counts.total - counts.finished,
        "sent_again": sent_again,
        "seconds": round(seconds, 3),
        "records_a_second": round(counts.now * rate, 3),
        "completion_tokens_a_second": round(counts.use_now.completion * rate, 1),
        "prompt_tokens": counts.use.prompt,
        "cached_tokens": counts.use.cached,
        "completion_tokens": counts.use.completion,
    }
    if prices.are_given:
        cost = prices.cost(counts.use, seconds)
        row["cost"] = round(cost, 6)
        each = cost / counts.finished if counts.finished else 0.0
        row["cost_of_1000_records"] = round(1000 * each, 6)
    return row


def report_text(row: dict[str, object]) -> str:
    """The report as lines for people."""
    failures = row["failures"]
    assert isinstance(failures, dict)
    lines = {
        "records": f"{row['records']:,}",
        "valid": f"{row['valid']:,}",
        "failed": f"{row['failed']:,}{': ' if failures else ''}"
        + ", ".join(f"{code} {count:,}" for code, count in failures.items()),
        "this run": (
            f"{row['done_now']:,} in {row['seconds']:,.1f} s, {row['records_a_second']:,.1f} a "
            f"second; {row['done_before']:,} were done before"
        ),
        "tokens": (
            f"{row['prompt_tokens']:,} of prompts ({row['cached_tokens']:,} cached), "
            f"{row['completion_tokens']:,} of answers, "
            f"{row['completion_tokens_a_second']:,.0f} a second"
        ),
    }
    if row["unchecked"]:
        lines["unchecked"] = f"{row['unchecked']:,}, whose schema jsonschema can't evaluate"
    if row["left"]:
        lines["left"] = f"{row['left']:,}"
    if row["sent_again"]:
        lines["repeated"] = f"{row['sent_again']:,} requests"
    if "cost" in row:
        lines["cost"] = f"{row['cost']:,.4f}, {row['cost_of_1000_records']:,.4f} for 1,000 records"
    return "\n".join(f"{name:<10}{text}" for name, text in lines.items())


PERIOD_S: Final = 0.5
BAR: Final = "{percentage:3.0f}%|{bar}| {n:,}/{total:,} [{elapsed}{postfix}]"


@asynccontextmanager
async def progress_bar(counts: RunCounts) -> AsyncGenerator[None]:
    """Show the counts as a bar on standard error while the block runs, if that is a terminal."""
    if not shows_progress():
        yield
        return
    with tqdm(
        total=counts.total,
        initial=counts.finished,
        bar_format=BAR,
        ncols=_columns(),
        nrows=2,  # enough for one bar, whatever the terminal says
        leave=False,
    ) as bar:
        painting = asyncio.create_task(_paint(bar, counts))
        try:
            yield
        finally:
            painting.cancel()
            with suppress(asyncio.CancelledError):
                await painting


async def _paint(bar: tqdm[NoReturn], counts: RunCounts) -> None:
    """Draw the bar anew again and again, also while no answer comes."""
    begun = time.monotonic()
    while True:
        await asyncio.sleep(PERIOD_S)
        bar.n = counts.finished
        bar.ncols = _columns()
        bar.set_postfix_str(figures(counts, time.monotonic() - begun), refresh=False)
        bar.refresh()


def _columns() -> int:
    """Columns of the terminal that are drawn on: all but the last, after which some begin a line.
    A terminal that doesn't know its size says 0."""
    try:
        columns = os.get_terminal_size(sys.stderr.fileno()).columns
    except OSError:
        columns = 0
    return (columns or shutil.get_terminal_size().columns) - 1


def figures(counts: RunCounts, seconds: float) -> str:
    """How fast a run is that has taken some seconds, how long it still takes, and what failed."""
    parts: list[str] = []
    if counts.now and seconds > 0:
        rate = counts.now / seconds
        parts.append(f"{rate:,.1f} records/s" if rate >= 1 else f"{1 / rate:,.1f} s/record")
        parts.append(f"{tqdm.format_interval((counts.total - counts.finished) / rate)} left")
    if counts.failed:
        parts.append(f"{counts.failed:,} failed")
    return ", ".join(parts)


def note(message: str) -> None:
    """Write a line on standard error, above the bar if there is one."""
    tqdm.write(message, file=sys.stderr)


FIRST_WAIT_S: Final = 0.5
LONGEST_WAIT_S: Final = 30.0
TOO_MANY: Final = 429
BY_CHANCE: Final = frozenset({408, 409, TOO_MANY, 500, 502, 503, 504})
"""Statuses after which a request is sent again."""
SAID_AFTER: Final = 3
"""Times in a row that a request meets trouble before that is said."""
OF_ALL: Final = frozenset({401, 403})
"""Statuses that every request would get."""


class Sender:
    """Sends requests to one server. `retries`: how often a request is sent again at most.
    `sent_again`: how often that has happened. `tell` gets a line for people when the server stays
    away or refuses for longer, and when it is back."""

    def __init__(
        self, client: httpx.AsyncClient, *, retries: int, tell: Tell = lambda _: None
    ) -> None:
        self._client = client
        self._retries = retries
        self._tell = tell
        self._answered = False
        self._is_away = False
        self._model: str | None = None
        self.sent_again = 0

    async def find_model(self) -> None:
        """Take the first model that the server lists for requests that name none. Raises as `send`
        does."""
        answer = await self._repeat(lambda: self._client.get("/v1/models"))
        match answer and answer.body:
            case {"data": [{"id": str(name)}, *_]}:
                self._model = name
            case _:
                pass

    async def send(self, path: str, body: dict[str, object]) -> ServerAnswer | None:
        """Send a request; None if it was given up because no answer came in time.

        Raises AddressError if no server answers or it takes no more requests, and InputError if
        it allows none.
        """
        named = body if self._model is None else {"model": self._model, **body}
        return await self._repeat(lambda: self._client.post(path, json=named))

    async def _repeat(
        self, request: Callable[[], Awaitable[httpx.Response]]
    ) -> ServerAnswer | None:
        for attempt in range(1, self._retries + 2):
            last = attempt > self._retries
            try:
                response = await request()
            except httpx.TimeoutException as error:
                if last:
                    return None
                trouble, asked_to_wait = f"no answer comes in time ({said(error)})", 0.0
            except httpx.TransportError as error:
                if last or is_final(error):
                    raise unreachable(self._client.base_url, error) from None
                trouble, asked_to_wait = f"no server answers ({said(error)})", 0.0
            else:
                self._answered = True
                if response.status_code not in BY_CHANCE or last:
                    if self._is_away:
                        self._is_away = False
                        self._tell(f"{self._client.base_url} answers again")
                    return _answer(response, attempt)
                trouble, asked_to_wait = f"{response.status_code}", _retry_after(response)
            wait = _wait(attempt, asked_to_wait)
            self._is_troubled(trouble, attempt, wait)
            self.sent_again += 1
            await asyncio.sleep(wait)
        raise AssertionError("the last attempt returns or raises")

    def _is_troubled(self, trouble: str, attempt: int, wait: float) -> None:
        """Say once that requests are sent again: at once while the server has never answered, and
        later if one meets trouble `SAID_AFTER` times in a row."""
        if self._is_away or (self._answered and attempt < SAID_AFTER):
            return
        self._is_away = True
        left = wait + sum(_own_wait(later) for later in range(attempt + 1, self._retries + 1))
        self._tell(
            f"{self._client.base_url}: {trouble}; asking again for {max(left, 1):.0f} s or more"
        )


def _answer(response: httpx.Response, attempts: int) -> ServerAnswer:
    if response.status_code in OF_ALL:
        raise InputError(f"the server refuses all requests: {response.text[:500]}")
    if response.status_code == TOO_MANY:
        raise AddressError(f"the server takes no more requests: {response.text[:500]}")
    try:
        body: object = response.json()
    except ValueError:
        body = response.text
    request_id = response.headers.get("x-request-id")
    return ServerAnswer(response.status_code, body, request_id, attempts)


def _retry_after(response: httpx.Response) -> float:
    """The seconds after which the server wants to be asked again; a date counts as none."""
    try:
        return max(0.0, float(response.headers.get("retry-after", "0")))
    except ValueError:
        return 0.0


def _wait(attempt: int, asked: float) -> float:
    """Seconds until the next attempt, never the same for two requests, which would come
    together again."""
    return max(asked, _own_wait(attempt)) * random.uniform(1.0, 1.5)


def _own_wait(attempt: int) -> float:
    """Twice as long each time."""
    return min(LONGEST_WAIT_S, FIRST_WAIT_S * 2 ** (attempt - 1))


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
        self._done: dict[Key, object] = {}
        self._failed: dict[Key, object] = {}
        with ExitStack() as opened:
            self._results = Journal(results)
            opened.callback(self._results.close)
            self._failures = Journal(failures)
            opened.callback(self._failures.close)
            if overwrite:
                self._results.clear()
            if overwrite or retry_failed:
                self._failures.clear()
            self._read(self._results, self._done)
            self._read(self._failures, self._failed)
            self._forget(self._check(results))
            self._note()
            self.close = opened.pop_all().close
            """Closes the journals, which releases their locks."""

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
                await run_all(filter(self._is_left, self._work.items()), ask, concurrency)
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

    def _is_left(self, item: WorkItem) -> bool:
        return item.key not in self._done and item.key not in self._failed

    def _read(self, journal: Journal, digests: dict[Key, object]) -> None:
        """Add the digests of the requests of a journal's records, by their keys. Raises InputError
        for a line of another kind, and for a record that is done twice."""
        for number, line in enumerate(journal.objects(), 1):
            key = self._work.key_of(line)
            if key is None:
                raise InputError(
                    f"{journal.path}:{number} is no line of such results; give another file"
                )
            if key in self._done or key in self._failed:
                raise InputError(f"{journal.path}:{number}: the record {key!r} is done twice")
            digests[key] = line.get("digest")

    def _check(self, results: Path) -> set[Key]:
        """Count the records, and see that those which have results are still what they were;
        returns those that have failed and are no longer what they were.

        Raises InputError also if there is nothing that could be asked, so that nothing is kept of a
        run whose prompt or whose file is not what was meant."""
        changed = set(self._failed)
        seen = impossible = 0
        problem = ""
        for item in self._work.items():
            self.counts.total += 1
            seen += item.key in self._done
            if self._done.get(item.key, item.digest) != item.digest:
                raise InputError(
                    f"{results} has results of other requests: the record {item.key!r}, the "
                    "schema or an option has changed; --overwrite begins anew"
                )
            if self._failed.get(item.key, item) == item.digest:
                changed.discard(item.key)
            if item.body is None:
                impossible += 1
                problem = problem or item.problem or ""
        if seen < len(self._done):
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
            del self._failed[key]

    def _note(self) -> None:
        """Count what is done."""
        for journal in (self._results, self._failures):
            for line in journal.objects():
                self.counts.before += 1
                self.counts.unchecked += "unchecked" in line
                self.counts.use += self._work.use_of(line)
                if journal is self._failures:
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


async def ask_server(
    run: BatchRun,
    url: str,
    connection: ClientArguments,
    concurrency: int,
    retries: int,
    seconds: float,
) -> int:
    """Ask a server for all that is left of a run; returns how often requests were sent again.
    `url`: with or without `/v1`. `concurrency`: requests at a time. `seconds`: to wait for an
    answer."""
    limits = httpx.Limits(max_connections=concurrency)
    timeout = httpx.Timeout(seconds, connect=10.0)
    async with httpx.AsyncClient(
        base_url=base_address(url), limits=limits, timeout=timeout, **connection
    ) as client:
        sender = Sender(client, retries=retries, tell=note)
        await sender.find_model()
        await run.ask_all(sender, concurrency)
        return sender.sent_again
