"""The servers of two checkouts in turns: how many times as many tokens a second one makes.

    python benchmarks/server/two_versions.py OTHER [--python PYTHON] [--rounds 8] [--save]

OTHER is another checkout, built (`make build`) with the interpreter PYTHON, by default its
`.venv/bin/python`. Both serve the demo model, each in a process of its own that is idle while the
other works. Requests of free text of 128 tokens come at one moment, and the next round begins when
all have ended; whole answers and streams are read by a client in a process of its own.

`tokens_s` and `other_tokens_s` are medians. `times` is the median over the rounds of the ratio
within a round, and `times_10`, `times_90` are its percentiles; `cpu_us` and `other_cpu_us` are
microseconds of processor time a token of all threads of the server's own process. Two rounds come
before those that count.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.report import Report, commit, percentile
from benchmarks.server.overhead import Load, ask_server
from tests.hostile.process import ServerProcess, serving

TOKENS: Final = 128
CASES: Final = (("64 streams", 64, True), ("16 streams", 16, True), ("16 whole", 16, False))
WARM: Final = 2


def main() -> None:
    options = arguments()
    python = options.python or options.other / ".venv/bin/python"
    report = Report("two_versions", packages=("torch",), other=commit(options.other))
    with ExitStack() as stack:
        ours = stack.enter_context(serving())
        theirs = stack.enter_context(serving(root=options.other, python=str(python)))
        for case, count, stream in CASES:
            found = [
                (asked(ours, count, stream), asked(theirs, count, stream))
                for _ in range(WARM + options.rounds)
            ][WARM:]
            times = sorted(mine[0] / other[0] for mine, other in found)
            report.add(
                case,
                tokens_s=round(statistics.median(mine[0] for mine, _ in found)),
                other_tokens_s=round(statistics.median(other[0] for _, other in found)),
                times=round(statistics.median(times), 2),
                times_10=round(percentile(times, 10), 2),
                times_90=round(percentile(times, 90), 2),
                cpu_us=round(statistics.median(mine[1] for mine, _ in found), 1),
                other_cpu_us=round(statistics.median(other[1] for _, other in found), 1),
            )
    report.finish(save=options.save)


def asked(server: ServerProcess, count: int, stream: bool) -> tuple[float, float]:
    """Tokens a second of one load, and microseconds of processor time a token."""
    before = processor_seconds(server.process.pid)
    timing = ask_server(server.url, Load([0.0] * count, TOKENS, floods=True), stream)
    spent = processor_seconds(server.process.pid) - before
    tokens = count * TOKENS
    return tokens / timing.seconds, 1e6 * spent / tokens


def processor_seconds(pid: int) -> float:
    """What all threads of a process that are there have run, in seconds."""
    threads = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((each / "schedstat").read_text().split()[0]) for each in threads) / 1e9


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("other", type=Path, metavar="OTHER")
    parser.add_argument("--python", type=Path)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--save", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
