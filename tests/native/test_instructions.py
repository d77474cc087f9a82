"""Kernels are compiled for several sets of instructions; each has to compute the same."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from maskwright.instructions import AVAILABLE, INSTRUCTIONS

FUSED = [name for name in AVAILABLE if name != "baseline" or platform.machine() != "x86_64"]
"""The sets that add a product with one rounding."""

ROOT = Path(__file__).parents[2]

COMPUTE = """
import numpy as np
from maskwright.models import DEMO_PATH, Run, lay_out, load
from maskwright.sampling.draw import draw_rows
decoder = load(DEMO_PATH).decoder
pool = decoder.new_pool(9, 16)
run = Run([7 * i % 997 for i in range(100)], 0, range(1, 8), 100)
logits = decoder.forward(lay_out([run], 16, decoder.plan), pool).numpy()
rng = np.random.default_rng(0)
tokens = np.empty(5 * 64, np.int64)
for at, vocab in enumerate((33, 64, 500, 4000, 65_539)):
    draw_rows(
        rng.standard_normal((64, vocab), np.float32) * 3,
        np.packbits(rng.random((64, -(-vocab // 32) * 32)) < 0.5, 1, "little").view("<i4"),
        rng.choice([0, 0.7, 5], 64).astype("f4"), rng.choice([0, 7], 64),
        rng.choice([0.8, 1.0], 64), rng.choice([0, 0.1], 64), rng.integers(0, 2**64, 64, np.uint64),
        rng.integers(1, 9999, 64).astype("u8"), tokens[64 * at : 64 * at + 64],
    )
sys.stdout.buffer.write(tokens.tobytes() + logits.tobytes())
"""


def run_with(instructions: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "MASKWRIGHT_INSTRUCTIONS": instructions}
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, env=environment, cwd=ROOT
    )


@cache
def computed(instructions: str) -> tuple[bytes, np.ndarray]:
    """The tokens that are drawn from some logits, and the logits of the demo model for a prompt."""
    done = run_with(instructions, "-c", f"import sys\n{COMPUTE}")
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout[: 5 * 64 * 8], np.frombuffer(done.stdout[5 * 64 * 8 :], np.float32)


@pytest.mark.parametrize("instructions", AVAILABLE[:-1])
def test_each_set_draws_and_computes_as_the_best_does(instructions: str) -> None:
    tokens, logits = computed(instructions)
    expected_tokens, expected_logits = computed(AVAILABLE[-1])
    assert tokens == expected_tokens
    assert len(logits) == 100 * 4000
    if instructions in FUSED:
        assert logits.tobytes() == expected_logits.tobytes()
    else:
        np.testing.assert_allclose(logits, expected_logits, atol=1e-3, rtol=0)


@pytest.mark.slow
@pytest.mark.parametrize("instructions", AVAILABLE[:-1])
def test_kernels_of_each_set_pass_their_tests(instructions: str) -> None:
    tests = (
        "tests/models/compiled",
        "tests/sampling/test_draw.py",
        "tests/sampling/test_philox.py",
        "tests/sampling/test_scores.py",
    )
    done = run_with(instructions, "-m", "pytest", "-q", *tests)
    assert done.returncode == 0, done.stdout.decode()


def test_the_best_set_is_used_unless_another_is_asked_for() -> None:
    shown = "from maskwright.instructions import INSTRUCTIONS as name; print(name)"
    assert run_with("", "-c", shown).stdout.decode().strip() == AVAILABLE[-1]
    assert run_with("baseline", "-c", shown).stdout.decode().strip() == "baseline"
    if not os.environ.get("MASKWRIGHT_INSTRUCTIONS"):
        assert AVAILABLE[-1] == INSTRUCTIONS


def test_a_set_that_is_not_there_is_refused() -> None:
    done = run_with("sse9", "-c", "import maskwright.instructions")
    assert done.returncode == 1
    assert f"'sse9'; on this processor it can be {', '.join(AVAILABLE)}" in done.stderr.decode()
