"""Threads that share the rows of a step: the bits of one thread, whoever else computes."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from maskwright.models.compiled.layers import multiply, pack, set_threads
from maskwright.models.dense import DenseDecoder
from tests.models.test_dense import CASES, build, prompts_of, run_schedule

MANY = [1, 5, 40, 130, 300]
"""Prompts whose chunks begin and end within pieces."""
PATIENCE = 60.0


@pytest.fixture(autouse=True)
def _one_thread_again() -> Iterator[None]:
    yield
    set_threads(1)


def logits(decoder: DenseDecoder, threads: int, seed: int) -> list[dict[int, torch.Tensor]]:
    set_threads(threads)
    return run_schedule(decoder, prompts_of(MANY), chunk=200, together=4, seed=seed)


def assert_equal(one: list[dict[int, torch.Tensor]], other: list[dict[int, torch.Tensor]]) -> None:
    for mine, theirs in zip(one, other, strict=True):
        assert mine.keys() == theirs.keys()
        assert all(torch.equal(mine[position], theirs[position]) for position in mine)


@pytest.mark.parametrize("case", ["llama", "mistral window", "qwen3"])
def test_bits_do_not_depend_on_the_number_of_threads(case: str) -> None:
    _, decoder = build(*CASES[case], compiled=True)
    for seed in range(4):
        alone = logits(decoder, 1, seed)
        for threads in (2, 3, 16):
            assert_equal(logits(decoder, threads, seed), alone)


def test_callers_that_come_at_the_same_time_have_the_same_bits() -> None:
    _, decoder = build(*CASES["llama"], compiled=True)
    alone = [logits(decoder, 1, seed) for seed in range(3)]
    set_threads(2)
    found: list[list[list[dict[int, torch.Tensor]]]] = []

    def compute() -> None:
        found.append([logits(decoder, 2, seed) for seed in range(3)])

    callers = [threading.Thread(target=compute) for _ in range(3)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(PATIENCE)
    assert len(found) == 3
    for runs in found:
        for run, expected in zip(runs, alone, strict=True):
            assert_equal(run, expected)


def test_a_product_is_shared() -> None:
    rng = np.random.default_rng(3)
    x, weight = (rng.standard_normal(shape).astype(np.float32) for shape in ((92, 31), (50, 31)))
    [packed] = pack([weight])
    alone, shared = (np.full((92, 50), np.nan, np.float32) for _ in range(2))
    multiply(x, packed, np.empty(0, np.float32), alone)
    for threads in (2, 5, 16, 1000):
        set_threads(threads)
        shared[:] = np.nan
        multiply(x, packed, np.empty(0, np.float32), shared)
        assert np.array_equal(shared, alone), threads


def test_no_threads_are_refused() -> None:
    with pytest.raises(ValueError, match="less than 1"):
        set_threads(0)


PRODUCT = """
import os, sys
import numpy as np
from maskwright.models.compiled.layers import multiply, pack, set_threads

def compute():
    out = np.zeros((512, 480), np.float32)
    multiply(x, packed, np.empty(0, np.float32), out)
    return out

rng = np.random.default_rng(0)
x = rng.standard_normal((512, 480)).astype(np.float32)
[packed] = pack([rng.standard_normal((480, 480)).astype(np.float32)])
alone = compute()
"""

THREADS = """
import time
from pathlib import Path

def seconds():
    tasks = Path("/proc/self/task").iterdir()
    return {each.name: int((each / "schedstat").read_text().split()[0]) for each in tasks}

before = seconds()
set_threads(3)
end = time.monotonic() + 30
while True:
    assert np.array_equal(compute(), alone)
    worked = [key for key, spent in seconds().items() if key not in before and spent > 10_000_000]
    if len(worked) == 2 or time.monotonic() > end:
        print(len(worked))
        break
"""

FORK = """
set_threads(2)
assert np.array_equal(compute(), alone)
child = os.fork()
if not child:
    os._exit(0 if all(np.array_equal(compute(), alone) for _ in range(20)) else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def run(program: str) -> str:
    """What a program prints in a process of its own, in which only its threads are."""
    done = subprocess.run(
        [sys.executable, "-c", PRODUCT + program],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="the system lists no threads")
@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one processor")
def test_as_many_threads_work_as_were_asked_for() -> None:
    assert run(THREADS) == "2"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system doesn't fork")
def test_a_forked_process_has_threads_of_its_own() -> None:
    assert run(FORK) == "0"
