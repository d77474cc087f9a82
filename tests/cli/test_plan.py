"""`maskwright plan`, and docs/capacity.md: every line of arithmetic in it is computed again."""

from __future__ import annotations

import ast
import json
import re
import shlex
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import torch

from maskwright.models import DEMO_PATH
from maskwright.models.config import parse_config, read_config
from maskwright.models.dense import DenseDecoder
from maskwright.models.weights import read_weights
from tests.cli.conftest import Run
from tests.source_tree import ROOT

DOCUMENT = (ROOT / "docs" / "capacity.md").read_text()
EXAMPLE = (
    *("plan", "--layers", 40, "--kv-heads", 8, "--head-dim", 128, "--parameters", "14B"),
    *("--memory", "76GB", "--reserve", "8GB", "--context", 8192),
)
SUMS = [
    line
    for block in re.findall(r"```arithmetic\n(.*?)```", DOCUMENT, re.DOTALL)
    for line in block.splitlines()
]
OPERATORS: dict[type[ast.operator], Any] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.FloorDiv: lambda a, b: a // b,
}


def value_of(text: str) -> float:
    def of(node: ast.expr) -> float:
        match node:
            case ast.Constant(value=int() | float() as number):
                return number
            case ast.BinOp(left, operator, right):
                return OPERATORS[type(operator)](of(left), of(right))
            case _:
                raise AssertionError(f"no arithmetic: {ast.unparse(node)}")

    return of(ast.parse(text.replace(",", ""), mode="eval").body)


def plan(run: Run, *arguments: object) -> dict[str, Any]:
    return json.loads(run(*arguments, "--json").stdout)


@pytest.mark.parametrize("line", SUMS)
def test_a_sum_of_the_document_is_right(line: str) -> None:
    left, _, right = line.partition(" = ")
    shown = right.replace(",", "")
    digits = len(shown.partition(".")[2]) if "e" not in shown else 0
    tolerance = 0.0 if isinstance(value_of(shown), int) and "/ " not in left else 0.5 * 10**-digits
    assert value_of(left) == pytest.approx(value_of(shown), abs=tolerance, rel=0.0)


def test_the_document_has_sums_and_shows_what_the_command_prints(run: Run) -> None:
    assert len(SUMS) > 12
    (block,) = re.findall(r"```console\n\$ maskwright (.*?)```", DOCUMENT, re.DOTALL)
    command, _, printed = block.partition("\n")
    assert run(*shlex.split(command)).stdout == printed


def test_figures_of_the_document_are_those_of_the_command(run: Run) -> None:
    found = plan(run, *EXAMPLE, "--bandwidth", "4TB")
    for figure in (
        found["token_bytes"],
        found["blocks"],
        found["sequence_bytes"],
        found["block_bytes"],
        found["quantisation"][1]["token_bytes"],
        round(found["decode"][-1]["tokens_per_second"]),
    ):
        assert any(line.endswith(f" = {figure:,}") for line in SUMS), figure
    assert found["sequences"] == 29
    assert plan(run, *EXAMPLE, "--context", 4096)["sequences"] == 59


def test_the_picture_of_the_document_is_what_the_command_draws(run: Run, tmp_path: Path) -> None:
    drawn = tmp_path / "plan.svg"
    run(*EXAMPLE, "--bandwidth", "4TB", "--plot", drawn)
    assert drawn.read_text() == (ROOT / "docs" / "images" / "plan.svg").read_text()
    texts = [each.text for each in ElementTree.fromstring(drawn.read_text()).iter() if each.text]
    assert "weights 16 bits: 29 sequences" in texts


def test_a_model_says_its_own_sizes(run: Run) -> None:
    found = plan(run, "plan", "--model", DEMO_PATH, "--memory", "4GiB", "--context", 512)
    config = parse_config(read_config(DEMO_PATH))
    assert found["model"]["weights"] == 2 * config.parameters, "config.json says bfloat16"
    assert found["token_bytes"] == 2 * config.layers * config.kv_heads * config.head_dim * 2
    wide = plan(
        *(run, "plan", "--model", DEMO_PATH / "config.json", "--memory", "4GiB"),
        *("--weight-dtype", "float32"),
    )
    assert wide["model"]["weights"] == 2 * found["model"]["weights"]
    assert wide["token_bytes"] == 2 * found["token_bytes"]


def test_weights_in_fp8_take_what_the_engine_says(run: Run) -> None:
    found = plan(
        *(run, "plan", "--model", DEMO_PATH, "--memory", "4GiB", "--weight-dtype", "fp8"),
    )
    decoder = DenseDecoder(
        *(parse_config(read_config(DEMO_PATH)), read_weights(DEMO_PATH), torch.bfloat16),
        weight_dtype="fp8",
    )
    assert found["model"]["weights"] == decoder.weight_bytes
    assert found["model"]["weight_bits"] == 8


def test_too_little_memory_is_reported(run: Run) -> None:
    found = run(*EXAMPLE, "--memory", "30GB")
    assert found.returncode == 1
    assert "none, since these exceed it" in " ".join(found.stdout.split())
    assert "0 fit" in found.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((*EXAMPLE[1:], "--memory", "much"), "--memory much: a size such as 76GB"),
        (("--memory", "1GB", "--layers", 2), "give --model, or all of"),
        (("--memory", "1GB", "--model", DEMO_PATH, "--layers", 2), "leave them out"),
        (("--memory", "1GB", "--model", "nowhere"), "is not a checkpoint"),
        (("--memory", "1GB", "--model", ROOT / "setup.py"), "setup.py is not a checkpoint"),
        ((*EXAMPLE[1:], "--weights", "1GB"), "either --parameters or --weights"),
        ((*EXAMPLE[1:], "--block-size", 7), "--block-size 7"),
        ((*EXAMPLE[1:], "--plot", "nowhere/x.svg"), "can't write nowhere/x.svg"),
        ((*EXAMPLE[1:], "--plot", "nowhere/x.pdf"), "not as PDF; name it nowhere/x.svg"),
    ],
)
def test_misuse_is_reported(run: Run, arguments: tuple[object, ...], message: str) -> None:
    found = run("plan", *arguments)
    assert found.returncode == 2
    assert message in found.stderr
