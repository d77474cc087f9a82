"""The benchmarks of a GPU, on the CPU in their least sizes: what they compute, not how fast."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from types import ModuleType
from unittest.mock import Mock

import pytest
import torch

from benchmarks.gpu import measure
from benchmarks.gpu.attention import measure_decode, measure_prefill, sequences_of
from benchmarks.gpu.decode_step import SHAPES, measure_steps
from benchmarks.gpu.few_rows import measure_few_rows
from benchmarks.gpu.fp8_product import measure_fp8
from benchmarks.gpu.low_rank import measure_low_rank
from benchmarks.gpu.next_rows import measure_next_rows
from benchmarks.gpu.reading import read_all
from benchmarks.gpu.sampling import inputs_of, mask_table, measure_chain, sort_chain, unpack
from benchmarks.gpu.timing import Bench, measure_ceilings
from benchmarks.report import SKIPPED
from maskwright.kernels.sample import sample_rows
from maskwright.models.config import parse_config
from tools import gpu_check


@pytest.fixture
def bench() -> Bench:
    return Bench(torch.device("cpu"))


@pytest.mark.parametrize(
    ("measure", "cases"),
    [
        (measure_chain, {"chain, mixed", "chain, greedy", "chain, top-p"}),
        (measure_decode, {"decode, tiny", "decode, tiny, int8"}),
        (measure_prefill, {"prefill, tiny"}),
        (measure_low_rank, {"low-rank updates"}),
        (measure_few_rows, {"product of few rows"}),
        (measure_fp8, {"product in fp8"}),
        (measure_next_rows, {"next rows"}),
        (measure_steps, {"step, tiny"}),
    ],
    ids=["chain", "decode", "prefill", "low-rank", "few-rows", "fp8", "next-rows", "step"],
)
def test_each_subject_has_rows(
    measure: Callable[[Bench], None], cases: set[str], bench: Bench
) -> None:
    measure_ceilings(bench)
    measure(bench)
    assert {str(row["case"]) for row in bench.rows} >= cases
    times = [
        value
        for row in bench.rows
        for name, value in row.items()
        if name.endswith(("us", "%", "times_faster"))
    ]
    assert times
    assert all(isinstance(value, float) and 0 < value < math.inf for value in times)


@pytest.mark.parametrize("chain", ["greedy", "top-k"])
def test_both_chains_choose_from_the_same_tokens(chain: str, bench: Bench) -> None:
    """A greedy choice is equal; with top-k, both draw one of the 50 likeliest allowed tokens."""
    inputs = inputs_of(bench, 40, 3200, chain)
    logits = bench.numbers(40, 3200)
    allowed = unpack(inputs.table[inputs.mask_rows], 3200)
    masked = logits.masked_fill(~allowed, float("-inf"))
    ours, theirs = sample_rows(logits.clone(), inputs).tokens, sort_chain(logits, inputs)
    if chain == "greedy":
        assert ours.equal(masked.argmax(-1))
        assert theirs.equal(ours)
        return
    least = masked.topk(50).values[:, -1:]
    for chosen in (ours, theirs):
        assert (masked.gather(1, chosen[:, None]) >= least).all()
        assert allowed.gather(1, chosen[:, None]).all()


def test_masks_allow_the_share_that_they_are_said_to(bench: Bench) -> None:
    shares = unpack(mask_table(3200, bench.device), 3200).float().mean(-1)
    assert torch.allclose(shares[:3], torch.tensor([0.01, 0.5, 1.0]), atol=0.03)


def test_blocks_of_sequences_differ(bench: Bench) -> None:
    sequences, blocks = sequences_of(bench, 3, 31, 2)
    assert sequences.tables.shape == (3, 3)
    assert sorted(sequences.tables.flatten().tolist()) == list(range(1, blocks))
    assert (sequences.longest, sequences.first.tolist()) == (33, [0, 2, 4])


@pytest.mark.parametrize(("name", "billions"), [("8B", 8.03), ("0.6B", 0.596)])
def test_shapes_are_those_of_the_models_that_they_are_named_after(
    name: str, billions: float
) -> None:
    common = {"max_position_embeddings": 8192, "rms_norm_eps": 1e-6, "hidden_act": "silu"}
    config = parse_config({**common, **SHAPES[name]})
    assert config.parameters / 1e9 == pytest.approx(billions, rel=0.01)


@pytest.mark.skipif(torch.cuda.is_available(), reason="needs a machine without a GPU")
@pytest.mark.parametrize("script", [gpu_check, measure], ids=["tests too", "benchmarks"])
def test_a_machine_without_a_gpu_is_told_so(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["script"])
    with pytest.raises(SystemExit) as ended:
        script.main()
    printed = capsys.readouterr()
    assert (ended.value.code, printed.out) == (SKIPPED, "")
    assert printed.err.startswith("skipped: ")
    assert "GPU" in printed.err


@pytest.mark.parametrize("parts", [1, 8])
def test_reading_sums_each_part(parts: int) -> None:
    """`tests/kernels/test_twins.py` does so with the kernel."""
    numbers = torch.arange(64, dtype=torch.int32)
    sums = torch.empty(parts, dtype=torch.int32)
    read_all(numbers, sums)
    assert sums.tolist() == numbers.view(parts, -1).sum(-1).tolist()


def test_a_subject_that_fails_keeps_no_other_from_being_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_: Bench) -> None:
        raise RuntimeError("out of luck")

    monkeypatch.setattr(measure, "SUBJECTS", {"broken": fail, "fp8": measure_fp8})
    monkeypatch.setattr(sys, "argv", ["measure.py", "--tiny", "--subjects", "broken,fp8"])
    with pytest.raises(SystemExit) as ended:
        measure.main()
    printed = capsys.readouterr()
    assert ended.value.code == 1
    assert "broken ended with an error" in printed.err
    assert "out of luck" in printed.err
    assert "product in fp8" in printed.out


def test_each_subject_has_a_process_of_its_own() -> None:
    commands = gpu_check.commands(save=True)
    assert list(commands) == [*gpu_check.TESTED, *measure.SUBJECTS]
    for subject in measure.SUBJECTS:
        expected = ["benchmarks/gpu/measure.py", "--subjects", subject, "--save"]
        assert commands[subject][1:] == expected


@pytest.mark.parametrize(("tests", "benchmarks"), [(0, 0), (1, 0), (0, 1)])
def test_every_part_runs_and_a_failure_shows_in_the_exit_code(
    tests: int, benchmarks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a machine that seems to have a GPU, with other commands in place of the parts."""
    codes = {"tests": tests, "benchmarks": benchmarks}
    parts = {part: [sys.executable, "-c", f"exit({code})"] for part, code in codes.items()}
    monkeypatch.setattr(sys, "argv", ["script"])
    monkeypatch.setattr(gpu_check, "lacking", lambda: None)
    monkeypatch.setattr(gpu_check, "commands", Mock(return_value=parts))
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "a GPU")
    with pytest.raises(SystemExit) as ended:
        gpu_check.main()
    assert ended.value.code == (tests or benchmarks)
