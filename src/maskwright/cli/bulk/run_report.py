"""What a run has done: counts, throughput, cost; and how that is shown meanwhile."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import time
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Final, NoReturn

from msgspec import Struct, field
from tqdm import tqdm

from maskwright.cli.bulk.work import TokenUse
from maskwright.cli.output.appearance import shows_progress
from maskwright.immutable import Immutable


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

    def of_tokens(self, use: TokenUse) -> float:
        cached = self.prompt if self.cached is None else self.cached
        fresh = use.prompt - use.cached
        return (fresh * self.prompt + use.cached * cached + use.completion * self.completion) / 1e6

    def cost(self, use: TokenUse, seconds: float) -> float:
        """The cost of tokens, and of a machine for some seconds."""
        return self.of_tokens(use) + self.hour * seconds / 3600

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
        row["cost"] = round(prices.cost(counts.use, seconds), 6)
        finished = counts.finished
        row["cost_of_1000_records"] = (
            round(1000 * prices.cost(counts.use, seconds) / finished, 6) if finished else 0.0
        )
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
