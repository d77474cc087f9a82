"""The kernels in Triton's interpreter, which reads its variable when a kernel is defined, and so
needs a process of its own."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
OFTEN = (
    *("test_apply_mask.py", "test_few_rows.py", "test_low_rank.py", "test_norm_rope.py"),
    *(
        "test_paged_attention.py",
        "test_sample.py",
        "test_sample_paths.py",
        "test_silu_mul.py",
        "test_store_kv.py",
    ),
    *("fp8/test_product.py", "steps/test_next_rows.py"),
)
"""Files that are run in one process: to import torch and Triton takes seconds of each."""

LONG = ("test_paged_attention.py", "test_sample.py", "test_sample_paths.py")
"""Those that have cases marked as long."""

LAYERS = ("../models/test_repeated_layers.py",)

CHAIN = ("../sampling/test_device_draw.py", "../sampling/test_device_rows.py")

FAMILIES = ("gemma2", "gpt_oss", "deepseek_v3", "gpt2")
SELF_CHECK = "test_self_check.py::test_accepted_models_are_computed_as_the_library_does"
MODELS = tuple(
    f"../models/transformers_backend/{name}"
    for name in ("test_device_check.py", *(f"{SELF_CHECK}[{family}]" for family in FAMILIES))
)
"""The kernels within models of the transformers library: windows, capped scores, sinks, experts,
values narrower than keys, positions without rope."""


@pytest.mark.skipif(
    importlib.util.find_spec("triton") is None, reason="needs triton, of the extra gpu"
)
@pytest.mark.parametrize(
    ("files", "cases"),
    [
        pytest.param(OFTEN, "not long_interpreted", id="often"),
        pytest.param(LONG, "long_interpreted", id="long", marks=pytest.mark.slow),
        # Takes twenty seconds for shapes that the others have too; on a GPU it has those of models.
        pytest.param(("test_twins.py",), "", id="twins", marks=pytest.mark.slow),
        # The kernels beside the chain of the CPU itself, not a reference.
        pytest.param(CHAIN, "", id="chain", marks=pytest.mark.slow),
        pytest.param(MODELS[:1], "", id="models", marks=pytest.mark.slow),
        pytest.param(MODELS[1:3], "", id="windows and sinks", marks=pytest.mark.slow),
        pytest.param(MODELS[3:4], "", id="latent values", marks=pytest.mark.slow),
        pytest.param(MODELS[4:], "", id="no rope", marks=pytest.mark.slow),
        pytest.param(LAYERS, "", id="layers", marks=pytest.mark.slow),
    ],
)
def test_the_interpreted_kernels_pass_the_tests_of_their_twins(
    files: tuple[str, ...], cases: str
) -> None:
    options = ["-v", "-p", "no:cacheprovider", "-W", "ignore::RuntimeWarning"]  # of infinities
    command = [sys.executable, "-m", "pytest", *options, "-m", cases, *files]
    run = subprocess.run(
        command,
        cwd=ROOT / "tests" / "kernels",
        env={**os.environ, "TRITON_INTERPRET": "1"},
        capture_output=True,
        text=True,
        timeout=550,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    passed = {line.partition("::")[0] for line in run.stdout.splitlines() if " PASSED " in line}
    asked = {name.partition("::")[0] for name in files}
    assert {Path(name).name for name in passed} == {Path(name).name for name in asked}, run.stdout
