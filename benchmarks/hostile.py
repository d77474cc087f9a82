"""Hostile shapes, one after another, beside one stream: what each does to it and to the memory.

    python benchmarks/hostile.py [--shapes 40] [--random 100] [--grammar-processes 1] [--save]

Each shape of `tests/hostile/table/` is sent to a server of the demo model in processes of its own,
while a client streams a long array of strings again and again. A row says what the shape's client
got and after how many seconds, the longest and the 99th percentile of the times in which its client
read no text meanwhile ("gaps", in milliseconds), the longest of them without what the client itself
waited for a processor (`unserved_ms`: then the text was there, and only the machine was busy), how
late the machine meanwhile let a process work that needs little (`machine_ms`, the worst case: on a
machine that does other work, gaps are some times as long), and the resident memory of all processes
of the server after it (pages that several share counted once). The last rows hold the gaps of the
stream alone, the gaps of all shapes together, and the memory before the first shape and some
seconds after the last.

A stall that a shape causes comes again, one of the machine rarely does. So shapes beside which the
stream had nothing to read for more than 100 ms are sent again to a fresh server, and what was so
again once more, `--again N` times at the most: `again_ms` is that time in the best such trial, and
the shapes beside which it was that long every time are listed at the end.

`--shapes N --seed S` takes a sample, `--match TEXT` the shapes whose name contains a text, and
`--random N` adds shapes that are made at random, from number S on. What is wrong (an outcome that
the table doesn't allow, an answer that is not of the shape, a broken stream) is listed at the end.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.report import Report
from maskwright.cli.output.tables import output_width, paragraph
from tests.hostile.process import ServerProcess, options_of, serving, settled_bytes
from tests.hostile.pulse import Pulse
from tests.hostile.random_shapes import random_shape
from tests.hostile.shape import HostileShape
from tests.hostile.table.whole import SHAPES, sample
from tests.hostile.trial import Trial, attempt
from tests.hostile.watch import LONG, Gap, Watch, longest_ms, p99_ms, unserved_ms

ALONE_ANSWERS: Final = 4
"""Answers of the watched stream before its gaps alone are measured: its masks are known then."""
LATE_MS: Final = 100.0
"""A watched stream that had nothing to read for longer is looked into, in milliseconds."""


def main() -> None:
    options = arguments()
    settings = {"grammar_processes": options.grammar_processes or "default"}
    report = Report("hostile", packages=("torch",), **settings)
    with beside_a_stream(options) as (server, watch, pulse):
        alone, late = watched_alone(watch, pulse, options.alone)
        first = server.resident_bytes()
        trials = [*tried(server, watch, pulse, chosen(options), options.patience)]
        last = settled_bytes(server, options.settle)
    again = tried_again(options, trials)
    for trial in trials:
        name = trial.shape.name
        report.add(
            name,
            answer=trial.reply.outcome,
            s=round(trial.seconds, 2),
            gap_ms=trial.longest_ms,
            unserved_ms=trial.unserved_ms,
            p99_ms=trial.p99_ms,
            machine_ms=trial.machine_ms,
            MB=round(trial.megabytes),
            **({"again_ms": min(again[name])} if name in again else {}),
        )
    beside = [gap for trial in trials for gap in trial.gaps]
    report.add(
        "stream alone",
        gap_ms=longest_ms(alone),
        unserved_ms=unserved_ms(alone),
        p99_ms=p99_ms(alone),
        machine_ms=1e3 * max(late, default=0.0),
        MB=round(first / 1e6),
    )
    report.add(
        f"all, and {options.settle:g} s later",
        s=round(max((trial.seconds for trial in trials), default=0.0), 2),
        gap_ms=longest_ms(beside),
        unserved_ms=unserved_ms(beside),
        p99_ms=p99_ms(beside),
        machine_ms=max((trial.machine_ms for trial in trials), default=0.0),
        MB=round(last / 1e6),
    )
    report.finish(save=options.save)
    tell(trials, again, [f"the watched stream: {fault}" for fault in watch.faults])


@contextmanager
def beside_a_stream(
    options: argparse.Namespace,
) -> Generator[tuple[ServerProcess, Watch, Pulse]]:
    """A fresh server, a client that streams from it, and a process that shows how late the machine
    lets work be done."""
    with (
        serving(*options_of(options.grammar_processes), own_session=False) as server,
        Watch(server.url, (options.strings, options.strings * 5 // 3)) as watch,
        Pulse() as pulse,
    ):
        yield server, watch, pulse


def tried_again(options: argparse.Namespace, trials: list[Trial]) -> dict[str, list[float]]:
    """For how many milliseconds the stream had nothing to read in further trials of the shapes
    beside which it was late, by name."""
    gaps: dict[str, list[float]] = {}
    late = [trial.shape for trial in trials if trial.unserved_ms > LATE_MS]
    for _ in range(options.again):
        if not late:
            break
        with beside_a_stream(options) as (server, watch, pulse):
            watch.wait_for_answers(ALONE_ANSWERS)
            further = [*tried(server, watch, pulse, late, options.patience)]
        for trial in further:
            gaps.setdefault(trial.shape.name, []).append(trial.unserved_ms)
        late = [trial.shape for trial in further if trial.unserved_ms > LATE_MS]
    return gaps


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--shapes", type=int, default=len(SHAPES), help="size of the sample")
    parser.add_argument("--seed", type=int, default=0, help="of the sample and of random shapes")
    parser.add_argument("--match", default="", help="only shapes whose subject or name contains it")
    parser.add_argument("--random", type=int, default=0, help="number of random shapes")
    parser.add_argument("--grammar-processes", type=int, help="default: the server's own")
    parser.add_argument("--patience", type=float, default=60.0, help="seconds for an answer")
    parser.add_argument(
        "--strings", type=int, default=LONG[0], help="least number in an answer of the stream"
    )
    parser.add_argument("--alone", type=float, default=10.0, help="seconds of the stream alone")
    parser.add_argument("--settle", type=float, default=15.0, help="seconds before the last row")
    parser.add_argument("--again", type=int, default=2, help="further trials of what was late")
    parser.add_argument("--save", action="store_true", help="append the rows to results/")
    return parser.parse_args()


def chosen(options: argparse.Namespace) -> list[HostileShape]:
    """The shapes that the options ask for, in the order of the table."""
    whole = options.shapes >= len(SHAPES)
    shapes = list(SHAPES) if whole else sample(options.shapes, options.seed)
    shapes = [shape for shape in shapes if options.match in f"{shape.subject}: {shape.name}"]
    numbers = range(options.seed, options.seed + options.random)
    return shapes + [random_shape(number) for number in numbers]


def watched_alone(
    watch: Watch, pulse: Pulse, seconds: float
) -> tuple[Sequence[Gap], Sequence[float]]:
    """Gaps of the stream with nothing beside it, once its masks are known, and how late the pulse
    was meanwhile."""
    watch.wait_for_answers(ALONE_ANSWERS)
    begin = time.monotonic()
    time.sleep(seconds)
    end = time.monotonic()
    return watch.during(begin, end), pulse.during(begin, end)


def tried(
    server: ServerProcess,
    watch: Watch,
    pulse: Pulse,
    shapes: Iterable[HostileShape],
    patience: float,
) -> Iterable[Trial]:
    """Each shape sent once; progress goes to standard error. It ends with the server."""
    for shape in shapes:
        trial = attempt(server, watch, pulse, shape, patience)
        print(
            f"{shape.subject}: {shape.name}: {trial.reply.outcome} {trial.seconds:.2f} s, "
            f"gap {trial.longest_ms:.0f} ms (unserved {trial.unserved_ms:.0f}, "
            f"machine {trial.machine_ms:.0f}), "
            f"{trial.megabytes:.0f} MB" + (f" -- {trial.fault}" if trial.fault else ""),
            file=sys.stderr,
            flush=True,
        )
        yield trial
        if not server.alive:
            print(f"the server has ended:\n{server.log_tail()}", file=sys.stderr)
            return


def tell(trials: list[Trial], again: dict[str, list[float]], faults: list[str]) -> None:
    """Print how many outcomes there were of each kind, beside which shapes the stream was late in
    every trial, and what was wrong: `faults`, and the trials' faults."""
    faults = [
        f"{trial.shape.subject}: {trial.shape.name}: {trial.fault}"
        for trial in trials
        if trial.fault is not None
    ] + faults
    width = output_width()
    outcomes = Counter(trial.reply.outcome for trial in trials)
    verdicts = Counter(trial.verdict for trial in trials if trial.verdict)
    counted = ", ".join(f"{count} {name}" for name, count in outcomes.most_common())
    checked = ", ".join(
        f"{verdicts[name]} {name}" for name in ("valid", "unchecked") if verdicts[name]
    )
    print(paragraph(f"{len(trials)} shapes: {counted}; answers: {checked or 'none'}", width))
    late = {
        trial.shape.name: [trial.unserved_ms, *again.get(trial.shape.name, [])]
        for trial in trials
        if trial.unserved_ms > LATE_MS
    }
    always = {name: gaps for name, gaps in late.items() if min(gaps) > LATE_MS}
    print(
        f"{len(late)} shapes with nothing to read for over {LATE_MS:g} ms, "
        f"{len(always)} in every trial"
    )
    for name, gaps in always.items():
        print(paragraph(f"- {name}: {', '.join(f'{gap:.0f}' for gap in gaps)} ms", width))
    print(f"{len(faults)} faults")
    for fault in faults:
        print(paragraph(f"- {fault}", width))


if __name__ == "__main__":
    main()
