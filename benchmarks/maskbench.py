"""MaskBench: does each text of a schema get the right answer, and what does a mask cost?

    python benchmarks/maskbench.py --cases 150 --engines maskwright,llguidance --save

Every engine gets equal cases and equal tokens: `json.dumps(data, ensure_ascii=False)` in a
vocabulary of 131,072 entries. At each token the mask is filled and the
token accepted, both timed through the engine's public Python API. A valid text must be accepted to
its end, an invalid one refused. Each engine runs in a process of its own on one thread. The engines
take turns case by case, so that other load on the machine slows all of them; what an engine needs
has then left the processor's caches by its next turn, as in a server between two requests. With
`--turn 25` each engine takes 25 cases in a row. If a process takes too long or dies, its engine
loses that case, and the process is started again.

A schema passes if it compiles and all its texts get the right answer. Other schemas are counted as
refused              the engine doesn't compile the schema
timed out, failed    the process had to be stopped; it died, or raised an error during a text
invalid accepted, valid refused   at least one text got the wrong answer

Every engine's first pass is cold: the process has compiled one trivial schema and knows no other.
In a second pass Maskwright compiles each schema again in that process (warm). The other engines
share nothing between two compilations; in their second pass the schema stays compiled, and its
texts are read for a second time (kept), as in a server that keeps grammars. The second pass follows
the first after every hundred cases: Maskwright remembers schemas up to a bound of memory.
`maskwright` has the default order of properties, "schema"; `maskwright-any` accepts any order.

Each process collects garbage between cases alone, as a grammar process of Maskwright's server does
between jobs, so that there is none during a case. With `--collector python` it does so by Python's
defaults, which may be in the middle of a text; the coverage has the longest collection during a
case, and their share of the time.

Ratios to llguidance's times are those over the schemas that both pass, and over all that each of
them compiles. A schema is slower if it takes longer to its first mask, or for all masks of its
texts together, than with llguidance; slower by token, if a mask and accepted token take longer on
average: llguidance keeps the schema's order of properties, and refuses texts with another order
before `maskwright-any` does, so that all masks together are not equally many. The dearest schemas
are those with the longest time to the first mask, the most time for masks, and the most time beyond
that of llguidance for both.

    python benchmarks/maskbench.py --memory --cases 0 --engines maskwright-any --limit 60 --save

`--memory` runs one pass of one engine. After each tenth of the cases it notes how much memory the
process holds beyond what it held before the first case, and how the cases went.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.peers.comparison import Run, collections, dearest, pairs
from benchmarks.peers.engines import ENGINES
from benchmarks.peers.worker import COLLECTORS, Case, Outcome, Text, Worker
from benchmarks.report import Report, need, percentile, some_of
from benchmarks.vocabularies import tekken_encoding
from maskwright.cli.output.tables import Figure

DATA: Final = ROOT.parent / "shared" / "data" / "maskbench-dev.jsonl.gz"
PERCENTILES: Final = (25, 50, 75, 90, 99, 99.9)
TOGETHER: Final = 100
"""Cases that are read twice before the next ones, so that what an engine keeps still has them."""
PACKAGES: Final = ("numpy", "llguidance", "xgrammar", "glrmask")


def main() -> None:
    options = parse_options()
    load = os.getloadavg()[0]
    cases = [read_case(line) for line in sample(read_lines(need(options.data)), options)]
    settings: dict[str, Figure] = {
        "load_at_start": round(load, 1),
        "collector": options.collector,
        "cases": len(cases),
        "limit_s": options.limit,
        "seed": options.seed,
        "turn": options.turn,
    }
    if options.memory:
        report = Report("maskbench_memory", PACKAGES, **settings)
        memory(report, cases, options)
        report.finish(save=options.save)
        return
    runs = list(measure(cases, options))
    for name, add in REPORTS.items():
        report = Report(f"maskbench_{name}", PACKAGES, **settings)
        add(report, runs)
        report.finish(save=options.save)
    if options.list_failures:
        list_failures(cases, runs, options.list_failures)


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=DATA, help="the cases, .jsonl or .jsonl.gz")
    parser.add_argument("--cases", type=int, default=150, help="number of cases; 0 for all of them")
    parser.add_argument(
        "--seed", type=int, default=0, help="case of the file at which the stride begins"
    )
    parser.add_argument("--match", default="", help="only cases whose id contains this")
    parser.add_argument(
        "--engines", type=some_of(ENGINES), default=list(ENGINES), help="names, with commas"
    )
    parser.add_argument("--limit", type=float, default=10.0, help="seconds a schema may take")
    parser.add_argument("--cold", action="store_true", help="no second pass")
    parser.add_argument(
        "--collector", choices=COLLECTORS, default="server", help="when garbage is collected"
    )
    parser.add_argument("--turn", type=int, default=1, help="cases in a row; default: 1")
    parser.add_argument("--memory", action="store_true", help="memory of one engine during a pass")
    parser.add_argument("--list-failures", metavar="ENGINE", help="print its cases that don't pass")
    parser.add_argument("--save", action="store_true", help="append the rows to results/")
    options = parser.parse_args()
    if options.turn < 1:
        parser.error("--turn takes at least one case")
    if options.memory and len(options.engines) != 1:
        parser.error("--memory takes one engine")
    return options


def read_lines(path: Path) -> list[str]:
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    return text.removesuffix("\n").split("\n")


def sample(lines: list[str], options: argparse.Namespace) -> list[str]:
    """Lines in equal strides over the whole file, which is sorted by where the schemas are from."""
    if options.match:
        lines = [line for line in lines if options.match in json.loads(line)["id"]]
    stride = len(lines) / min(options.cases or len(lines), len(lines))
    shift = options.seed % int(stride)
    return [lines[shift + int(number * stride)] for number in range(round(len(lines) / stride))]


def read_case(line: str) -> Case:
    encode = tekken_encoding().encode_ordinary
    case = json.loads(line)
    texts = [
        Text(test["valid"], tuple(encode(json.dumps(test["data"], ensure_ascii=False))))
        for test in case["tests"]
    ]
    return Case(case["id"], case["schema"], tuple(texts))


def measure(cases: Sequence[Case], options: argparse.Namespace) -> Iterator[Run]:
    """The passes of all engines, which take turns."""
    workers = {name: Worker(name, options.limit, options.collector) for name in options.engines}
    passes = (1,) if options.cold else (1, 2)
    runs = {
        (name, number): Run(name, cache_state(name, number), {}, 0, 0.0)
        for number in passes
        for name in workers
    }
    turns = [
        (number, turn)
        for together in batched(cases, TOGETHER)
        for number in passes
        for turn in batched(together, options.turn)
    ]
    done = 0
    for number, turn in turns:
        for name, worker in workers.items():
            run = runs[name, number]
            for case in turn:
                run.outcomes[case.id] = worker.run(case, kept=run.cache == "kept")
        done += len(turn)
        progress(f"{len(passes)} passes", done, len(passes) * len(cases))
    for (name, _), run in runs.items():
        worker = workers[name]
        yield replace(run, restarts=worker.restarts, megabytes=worker.megabytes)
    for worker in workers.values():
        worker.close()


def batched(cases: Sequence[Case], most: int) -> Iterator[Sequence[Case]]:
    """The cases in their order, at most so many at a time."""
    for first in range(0, len(cases), most):
        yield cases[first : first + most]


def cache_state(engine: str, number_of_pass: int) -> str:
    """What an engine knows of a schema in a pass, as `Run.cache` says it."""
    if number_of_pass == 1:
        return "cold"
    return "warm" if engine.startswith("maskwright") else "kept"


def memory(report: Report, cases: Sequence[Case], options: argparse.Namespace) -> None:
    """Run one engine's pass, and add a row for each tenth of it. After a case that took too long
    the process is started again, and holds nothing."""
    name = options.engines[0]
    worker = Worker(name, options.limit, options.collector)
    found: dict[str, Outcome] = {}
    most = 0.0
    for number, case in enumerate(cases, start=1):
        found[case.id] = replace(worker.run(case), first_mask_us=(), step_us=())
        most = max(most, worker.megabytes)
        if number * 10 // len(cases) > (number - 1) * 10 // len(cases):
            run = Run(name, "", found, worker.restarts, worker.megabytes)
            report.add(f"{name} {number}", **counts(run), most_MB=round(most))
            progress(f"{round(worker.megabytes)} MB after a", number, len(cases))
    worker.close()
    if options.list_failures:
        list_failures(cases, [Run(name, "", found, 0, 0.0)], options.list_failures)


def progress(what: str, done: int, cases: int) -> None:
    """Print the progress: on a terminal one line that is overwritten, else a line each tenth."""
    text = f"{what}: {done} of {cases} cases"
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="" if done < cases else "\n", file=sys.stderr, flush=True)
    elif done * 10 // cases > (done - 1) * 10 // cases:
        print(text, file=sys.stderr, flush=True)


def coverage(report: Report, runs: Iterable[Run]) -> None:
    for run in runs:
        report.add(run.label, **counts(run))


def counts(run: Run) -> dict[str, Figure]:
    """How the cases that an engine has run so far went."""
    outcomes = list(run.outcomes.values())
    passing = sum(outcome.passes for outcome in outcomes)
    return {
        "passing": passing,
        "passing_%": round(100 * passing / len(outcomes), 2),
        "refused": sum(outcome.status == "refused" for outcome in outcomes),
        "timed_out": sum(outcome.status == "timed out" for outcome in outcomes),
        "failed": sum(outcome.status == "failed" for outcome in outcomes),
        "invalid_accepted": sum(outcome.has_wrong(valid=False) for outcome in outcomes),
        "valid_refused": sum(outcome.has_wrong(valid=True) for outcome in outcomes),
        "MB_over_vocabulary": round(run.megabytes),
        "restarts": run.restarts,
        **collections(run),
    }


def mask_times(report: Report, runs: Iterable[Run]) -> None:
    """Times of mask and accept for every token."""
    for run in runs:
        times = [time for outcome in run.outcomes.values() for time in outcome.step_us]
        report.add(run.label, **spread(times, "us"))


def compile_times(report: Report, runs: Iterable[Run]) -> None:
    """The time from a schema to its first mask, for schemas that compile."""
    for run in runs:
        if run.cache != "kept":
            times = [time for outcome in run.outcomes.values() for time in outcome.first_mask_us]
            report.add(run.label, **spread(times, "us"))


def ratios(report: Report, runs: Sequence[Run]) -> None:
    """Times beside the baseline's on the cases that both pass, and on all that compile."""
    for pair in pairs(runs):
        report.add(f"{pair.label}, both pass", **pair.row(all_cases=False))
        report.add(f"{pair.label}, all", **pair.row(all_cases=True))


def dearest_cases(report: Report, runs: Sequence[Run]) -> None:
    """The dearest cases of this project's runs, which explain its ratios."""
    for pair in pairs(runs):
        if pair.run.engine.startswith("maskwright"):
            for name, row in dearest(pair):
                report.add(name, **row)


def spread(times: Iterable[float], unit: str) -> dict[str, Figure]:
    ordered = sorted(times)
    if not ordered:
        return {"n": 0}
    named = {f"p{percent:g}_{unit}": percentile(ordered, percent) for percent in PERCENTILES}
    ends = {f"max_{unit}": ordered[-1], f"avg_{unit}": sum(ordered) / len(ordered)}
    return {"n": len(ordered), **{name: round(time, 2) for name, time in (named | ends).items()}}


REPORTS: Final[dict[str, Callable[[Report, Sequence[Run]], None]]] = {
    "coverage": coverage,
    "mask": mask_times,
    "compile": compile_times,
    "ratios": ratios,
    "dearest": dearest_cases,
}


def list_failures(cases: Sequence[Case], runs: Iterable[Run], engine: str) -> None:
    """Print every case of an engine's first pass that doesn't pass, and where answers are wrong."""
    run = next(run for run in runs if run.engine == engine)
    reasons: Counter[str] = Counter()
    for case in cases:
        outcome = run.outcomes[case.id]
        if outcome.passes:
            continue
        reasons[re.sub(r"'[^']*'|\(at .*\)|\d+", "…", outcome.reason)[:120]] += outcome.reason != ""
        print(f"{case.id}: {outcome.status} {outcome.reason}")
        for wrong in outcome.wrong:
            text = case.texts[wrong.text]
            before, after = text.around(wrong.token)
            answer = "valid, refused" if text.valid else "invalid, accepted"
            print(f"  text {wrong.text} {answer} at {pointer(before) or 'the root'}")
            print(f"    …{before[-80:]}‸{after[:40]}…")
    for reason, count in reasons.most_common():
        print(f"{count:6} × {reason}")


def pointer(before: str) -> str:
    """The JSON Pointer of the value that a text is in after `before`."""
    path: list[list[Any]] = []
    for match in re.finditer(r'"(?:[^"\\]|\\.)*("?)|[\[\]{},]', before, re.DOTALL):
        sign = match[0][0]
        if sign in "[{":
            path.append([sign, 0 if sign == "[" else None])
        elif sign in "]}":
            path.pop()
        elif path and sign == "," and path[-1][0] == "[":
            path[-1][1] += 1
        elif path and sign == ",":
            path[-1] = ["{", None]
        elif path and sign == '"' and path[-1] == ["{", None] and match[1]:
            path[-1][1] = json.loads(match[0])
    keys = [str(key).replace("~", "~0").replace("/", "~1") for _, key in path if key is not None]
    return "".join(f"/{key}" for key in keys)


if __name__ == "__main__":
    main()
