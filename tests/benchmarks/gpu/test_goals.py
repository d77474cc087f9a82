"""What the goals allow, and what the machine code takes, beside the table in kernels/README.md."""

from __future__ import annotations

import json
from pathlib import Path
from unittest.mock import patch

import pytest

from benchmarks.gpu import goals, static
from benchmarks.gpu.decode_step import BLOCK, COMMON, SHAPES
from benchmarks.gpu.goals import (
    ESTIMATES,
    GOALS,
    chains,
    constraints,
    estimate,
    forward_of,
    instructions_of,
    issued,
)
from benchmarks.gpu.starting import starts
from benchmarks.report import RESULTS
from maskwright.models.config import parse_config

pytest.importorskip("triton", reason="needs triton, of the extra gpu")

ROOT = Path(__file__).resolve().parents[3]
SLOW = ("decode", "prefill", "step", "engine")


def test_floors_are_the_bytes_by_the_bandwidth() -> None:
    """64 rows of 128,256 logits of two bytes, and of as many bits, at 4.0 TB/s."""
    first = next(iter(chains()))
    assert (first["case"], first["shape"]) == ("chain: greedy", "64 rows of 128256")
    assert first["floor_us"] == pytest.approx(64 * 128_256 * (2 + 1 / 8) / 4e6)
    assert first["allowed_us"] == 12


def test_each_way_of_a_row_has_instructions_of_its_own() -> None:
    """A greedy row has the fewest, and as many rows four times as many."""
    taken = {(row["case"], row["shape"]): row["issue_us"] for row in chains()}
    issue = {key: us for key, us in taken.items() if isinstance(us, float)}
    assert issue.keys() == taken.keys()
    few, many = (f"{rows} rows of 128256" for rows in (64, 256))
    greedy, drawn, truncated = (
        issue[f"chain: {chain}", few] for chain in ("greedy", "temperature", "top-p")
    )
    assert 4 * greedy < drawn + truncated
    assert issue["chain: top-p", many] == pytest.approx(4 * truncated)


def test_constraints_add_less_than_the_goal_allows() -> None:
    for row in constraints():
        added, allowed = row["floor_us"], row["allowed_us"]
        assert isinstance(added, float)
        assert isinstance(allowed, float)
        assert 0 < added < allowed


@pytest.mark.parametrize(
    "goal",
    ["chain", *(pytest.param(goal, marks=pytest.mark.slow) for goal in SLOW)],
)
def test_instructions_leave_each_goal_within_reach(goal: str) -> None:
    for row in GOALS[goal]():
        allowed, taken = row.get("allowed_us"), row["issue_us"]
        assert isinstance(taken, float)
        assert taken > 0
        assert allowed is None or (isinstance(allowed, float) and taken < allowed), row


def test_products_of_torch_have_the_fewest_instructions_of_tensor_cores() -> None:
    """64 rows of a layer of the 0.6B shape: queries, keys and values, the output, gate and up, and
    down. The largest instruction multiplies 64 by 256 by 16 numbers."""
    config = parse_config({**COMMON, **SHAPES["0.6B"]})
    one, two = (forward_of(config, 64, BLOCK, layers) for layers in (1, 2))
    of_layer = [64 * 1024 * outputs for outputs in (4096, 2048, 6144, 3072)]
    assert two.products == [*of_layer, *one.products]
    assert one.products[-1] == 64 * 1024 * config.vocab_size
    with patch.object(goals, "issued", return_value=1.0):
        taken = instructions_of(3, one, two, BLOCK)
    launches = 2 * len(two.launches) - len(one.launches)
    products = 3 * sum(of_layer) + one.products[-1]
    assert taken == pytest.approx(launches + products / (64 * 64 * 16))


@pytest.mark.slow
def test_a_later_start_reads_what_the_first_compiled() -> None:
    """The longest program alone takes seconds, and reading all of them less than an eighth."""
    first, later = starts()
    assert first.programs == later.programs > 20
    assert later.processor < first.processor / 8
    assert 1 < first.longest < first.processor


def test_a_loop_counts_as_often_as_it_is_passed() -> None:
    [attend, _] = static.launches(static.SUBJECTS["decode"])
    once, twice, ten = (issued(attend, [trips]) for trips in (1, 2, 10))
    assert attend.grid == (64, 8, 4)
    assert twice - once > 64 * 8 * 4 * 4 * 100  # programs of four warps, and a loop of hundreds
    assert ten - once == 9 * (twice - once)


def test_the_table_has_the_figures_of_the_newest_rows() -> None:
    rows = [json.loads(line) for line in (RESULTS / "gpu_goals.jsonl").read_text().splitlines()]
    newest = {(row["case"], row["shape"]): row for row in rows}
    text = (ROOT / "kernels" / "README.md").read_text()
    section = text.partition("## Goals on an H200")[2].partition("\n## ")[0]
    table = [line for line in section.splitlines() if line[:1] == "|"]
    lines = [[cell.strip() for cell in line.strip()[1:-1].split("|")] for line in table]
    shown = [line for line in lines if (line[0], line[1]) in newest]
    assert len(shown) == len(lines) - 2 > 12  # all but the heading and the line below it
    for case, shape, *figures in shown:
        row = newest[case, shape]
        columns = ("before_us", "allowed_us", "floor_us", "issue_us", "expected_us", "shipping_us")
        told = [three_digits(row[name]) if name in row else "" for name in columns]
        link = f"[{row['decision']}](../docs/decisions/" if "decision" in row else ""
        assert figures[:-1] == told, case
        assert figures[-1].startswith(link), case
        assert bool(figures[-1]) == bool(link), case


def test_estimates_are_those_of_the_rows() -> None:
    rows = [json.loads(line) for line in (RESULTS / "gpu_goals.jsonl").read_text().splitlines()]
    newest = {(row["case"], row["shape"]): row for row in rows}
    assert ESTIMATES.keys() <= newest.keys()
    for row in newest.values():
        names = ("before_us", "expected_us", "decision")
        assert estimate(row) == {name: row[name] for name in names if name in row}
    numbers = {path.name[:4] for path in (ROOT / "docs" / "decisions").glob("0*.md")}
    assert {f"{decision:04}" for _, _, decision in ESTIMATES.values()} <= numbers


def three_digits(number: float) -> str:
    return f"{float(f'{number:.3g}'):,.10g}"
