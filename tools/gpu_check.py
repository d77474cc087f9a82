"""Run everything that needs a GPU: the tests, then the benchmarks. `make gpu-check` runs this.

python tools/gpu_check.py           # tests and benchmarks
python tools/gpu_check.py --save    # and keep the rows in benchmarks/results
python tools/gpu_check.py --list    # print the commands instead of running them

Without an NVIDIA GPU, or without Triton, it prints a message, and the exit code is 77. Otherwise
it is 1 if a test failed or a benchmark could not be run. Each folder of tests and each subject of
the benchmarks has a process of its own, whose rows are kept as soon as it ends: one that fails, or
leaves the device in a bad state, doesn't keep the others from running.
"""

from __future__ import annotations

import argparse
import importlib.util
import subprocess
import sys
import time
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.gpu.measure import SUBJECTS  # noqa: E402 - the path is needed first

SKIPPED = 77
"""Exit code on a machine without a GPU, as of benchmarks whose data isn't there."""
TESTED = ("tests/kernels", "tests/models/graphs", "tests/engine/step")
"""The folders with tests that need a GPU."""
LIMIT_S = 300
"""Seconds after which a part is stopped. The first run compiles the kernels."""


def commands(*, save: bool) -> dict[str, list[str]]:
    """Return the command of each part."""
    kept = ["--save"] if save else []
    tests = {folder: ["-m", "pytest", "-q", "-m", "gpu", folder] for folder in TESTED}
    measured = {
        subject: ["benchmarks/gpu/measure.py", "--subjects", subject, *kept] for subject in SUBJECTS
    }
    return {part: [sys.executable, *command] for part, command in (tests | measured).items()}


def lacking() -> str | None:
    """Return what this machine lacks, or None if it lacks nothing."""
    if not torch.cuda.is_available():
        return "torch sees no NVIDIA GPU"
    if importlib.util.find_spec("triton") is None:
        return "triton is not installed (the extra gpu)"
    return None


def run(part: str, command: list[str]) -> bool:
    """Whether the command of a part succeeds within its time."""
    print(f"\n== {part}: {' '.join(command[1:])}", flush=True)
    begin = time.monotonic()
    try:
        code = subprocess.run(command, cwd=ROOT, timeout=LIMIT_S, check=False).returncode
    except subprocess.TimeoutExpired:
        print(f"{part}: stopped after {LIMIT_S} s", file=sys.stderr)
        return False
    print(f"{part}: {time.monotonic() - begin:.0f} s, exit code {code}", flush=True)
    return code == 0


def main() -> None:
    """Run the parts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--save", action="store_true")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    parts = commands(save=options.save)
    if options.list:
        for command in parts.values():
            print(" ".join(["python", *command[1:]]))
        return
    if (reason := lacking()) is not None:
        print(f"skipped: {reason}; nothing was run", file=sys.stderr)
        raise SystemExit(SKIPPED)
    print(torch.cuda.get_device_name())
    passed = [run(part, command) for part, command in parts.items()]
    failed = [part for part, succeeded in zip(parts, passed, strict=True) if not succeeded]
    print(f"\n== {len(parts) - len(failed)} of {len(parts)} parts succeeded")
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    raise SystemExit(1 if failed else 0)


if __name__ == "__main__":
    main()
