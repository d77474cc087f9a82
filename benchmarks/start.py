"""What a cold start takes: of each command's help, of commands, of the library, of a server.

    python benchmarks/start.py [--runs 5] [--parts help,commands,library,server] [--save]

Each run is a process of its own with a home of its own. "first time" means that the home is empty,
"later" that the same was started in it once before. The byte code of the package is there, as pip
leaves it (`make` compiles it as well), and so are the files in the system's own cache.

- `help`: `--help` of each command.
- `commands`: `check`, `match` and `next` of a small schema.
- `library`: a program that reads the tokens of a vocabulary with 131,072 entries, whose tables are
  on disk, compiles a small schema and fills its first mask.
- `server`: `serve` with the demo model until it says that it is ready, and its memory then.

Rows hold seconds until the process ends (`wall_s`), or until the server is ready, and the processor
time of all its processes (`processor_s`); the median and the largest of `n` runs. `goal_s` is what
either may take. `MB` is the memory that all processes of the server hold together, pages that
several of them share counted once, and `own_rss_MB` what the system calls resident of the server's
own process.
"""

from __future__ import annotations

import argparse
import compileall
import os
import pickle
import re
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.report import Report, some_of
from benchmarks.vocabularies import tekken
from maskwright.cli.output.tables import Figure
from maskwright.cli.program import COMMANDS
from tests.hostile.process import proportional_bytes, started_with

PROGRAM: Final = (sys.executable, "-m", "maskwright")
SCHEMA: Final = (
    '{"type": "object", "properties": {"id": {"type": "integer"}, "name": {"type": "string"}},'
    ' "required": ["id", "name"], "additionalProperties": false}'
)
CASES: Final[dict[str, tuple[str, ...]]] = {
    "check": ("check", SCHEMA),
    "match": ("match", SCHEMA, "--text", '{"id": 1, "name": 2}'),
    "next": ("next", SCHEMA, "--text", '{"id": 1'),
}
FIRST_MASK: Final = f"""\
import pickle, sys
from pathlib import Path
import numpy as np
import maskwright
tokens, special, eos = pickle.loads(Path(sys.argv[1]).read_bytes())
vocabulary = maskwright.Vocabulary(tokens, special=special, eos=eos, cache=Path(sys.argv[2]))
matcher = maskwright.compile_json_schema({SCHEMA!r}, vocabulary).matcher()
row = np.zeros(vocabulary.words, np.int32)
matcher.fill_mask(row)
assert row.any()
"""
GOALS: Final = {"help": 0.15, "commands": 0.4, "library": 0.5, "server": 4.0}
STOP_SECONDS: Final = 20.0
MARK: Final = "MASKWRIGHT_TESTED_SERVER"


class Cost(NamedTuple):
    """What one start has taken: seconds, and of a server bytes."""

    wall: float
    processor: float
    held: int = 0
    own: int = 0


def main() -> None:
    options = arguments()
    for folder in ("maskwright", "maskwright/kernels"):  # compile_dir doesn't follow links
        compileall.compile_dir(ROOT / "src" / folder, quiet=1)
    report = Report("start", packages=("numpy", "torch", "tokenizers", "transformers"))
    for part in options.parts:
        PARTS[part](report, options.runs)
    report.finish(save=options.save)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=5, help="runs of each case")
    parser.add_argument("--parts", type=some_of(PARTS), default=list(PARTS))
    parser.add_argument("--save", action="store_true", help="append the rows to results/")
    return parser.parse_args()


def helps(report: Report, runs: int) -> None:
    for command in ("", *COMMANDS):
        words = (*PROGRAM, *command.split(), "--help")
        with home() as environment:
            costs = [ended(words, environment) for _ in range(runs)]
        add(report, f"{command} --help".strip(), costs, "help")


def commands(report: Report, runs: int) -> None:
    for name, given in CASES.items():
        first_and_later(report, name, "commands", runs, lambda at, given=given: ended(
            (*PROGRAM, *given), at
        ))  # fmt: skip


def library(report: Report, runs: int) -> None:
    with tempfile.TemporaryDirectory() as folder, home() as environment:
        vocabulary, tokens = tekken(), Path(folder, "tokens")
        tokens.write_bytes(
            pickle.dumps((vocabulary.tokens, sorted(vocabulary.special), vocabulary.eos))
        )
        words = (sys.executable, "-c", FIRST_MASK, str(tokens), str(Path(folder, "cache")))
        ended(words, environment)  # writes the tables
        costs = [ended(words, environment) for _ in range(runs)]
    add(report, "import and first mask", costs, "library")


def server(report: Report, runs: int) -> None:
    first_and_later(report, "demo server ready", "server", runs, ready)


def first_and_later(
    report: Report, case: str, part: str, runs: int, start: Callable[[Mapping[str, str]], Cost]
) -> None:
    """Rows of a start in an empty home, and of another one in the same home."""
    first: list[Cost] = []
    later: list[Cost] = []
    for _ in range(runs):
        with home() as environment:
            first.append(start(environment))
            later.append(start(environment))
    add(report, f"{case}, first time", first, part)
    add(report, f"{case}, later", later, part)


class home(tempfile.TemporaryDirectory[str]):
    """The environment of a shell whose user has a new home."""

    def __enter__(self) -> dict[str, str]:  # type: ignore[override]
        folder = super().__enter__()
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        own = {"HOME": folder, "XDG_CACHE_HOME": f"{folder}/.cache"}
        return {**kept, **own, "PYTHONPATH": str(ROOT / "src")}


def ended(words: Sequence[str], environment: Mapping[str, str]) -> Cost:
    """Run a command to its end, which may be that something doesn't match."""
    begin = time.perf_counter()
    process = subprocess.Popen(
        words, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode in (0, 1), f"{' '.join(words)} ended with {process.returncode}"
    return Cost(wall, used.ru_utime + used.ru_stime)


def ready(environment: Mapping[str, str]) -> Cost:
    """Start a server of the demo model, and end it when it is ready."""
    mark, begin = str(uuid.uuid4()), time.perf_counter()
    process = subprocess.Popen(
        (*PROGRAM, "serve", "--port", "0"),
        env={**environment, MARK: mark},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        wall = time.perf_counter() - begin
        assert " is ready: " in line, "the server did not start"
        pids = started_with(mark)
        held = sum(map(proportional_bytes, pids))
        return Cost(wall, sum(map(processor_seconds, pids)), held, resident_bytes(process.pid))
    finally:
        process.terminate()
        process.communicate(timeout=STOP_SECONDS)


def processor_seconds(pid: int) -> float:
    """The processor time of a process and of its children that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def resident_bytes(pid: int) -> int:
    """The resident memory of a process."""
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return 1024 * int(found[1]) if found else 0


def add(report: Report, case: str, costs: Sequence[Cost], part: str) -> None:
    row: dict[str, Figure] = {"n": len(costs), "goal_s": GOALS[part]}
    for name, values in (
        ("wall_s", [cost.wall for cost in costs]),
        ("processor_s", [cost.processor for cost in costs]),
    ):
        row[f"{name} p50"] = statistics.median(values)
        row[f"{name} max"] = max(values)
    if part == "server":
        row["MB"] = round(statistics.median(cost.held for cost in costs) / 1e6)
        row["own_rss_MB"] = round(statistics.median(cost.own for cost in costs) / 1e6)
    report.add(case, **row)
    print(f"{case}: {row['wall_s p50']:.2f} s", file=sys.stderr, flush=True)


PARTS: Final[dict[str, Callable[[Report, int], None]]] = {
    "help": helps,
    "commands": commands,
    "library": library,
    "server": server,
}


if __name__ == "__main__":
    main()
