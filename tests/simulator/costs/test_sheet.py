"""Step times from data sheets agree with arithmetic by hand."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from maskwright_sim.costs.sheet import A100, LLAMA_13B, LLAMA_70B, SheetCosts
from maskwright_sim.costs.work import StepWork

IDEAL = replace(A100, compute_efficiency=1.0, memory_efficiency=1.0, overhead=0.0, bandwidth=2e12)


def test_a_decode_step_of_13b_reads_26_gb() -> None:
    """26 GB at 2 TB a second take 13 ms, so that one request gets at most 77 tokens a second."""
    took = SheetCosts(IDEAL, LLAMA_13B).seconds(StepWork(decoding=1))
    assert took == pytest.approx(0.013)
    assert 1 / took == pytest.approx(76.9, abs=0.1)


def test_keys_and_values_of_13b_take_2_5_gib_at_4096_positions() -> None:
    assert LLAMA_13B.kv_bytes == 819_200
    assert LLAMA_13B.kv_bytes * 4096 / 2**20 == 3200
    # Grouped heads: 80 layers, 8 heads of 128.
    assert LLAMA_70B.kv_bytes == 2 * 80 * 8 * 128 * 2


def test_a_prompt_is_bounded_by_arithmetic() -> None:
    took = SheetCosts(IDEAL, LLAMA_13B).seconds(StepWork(prompt=2048))
    assert took == pytest.approx(2 * 13e9 * 2048 / 312e12)


def test_parallelism_over_operators_shortens_a_step_and_over_layers_its_stage() -> None:
    work = StepWork(prompt=2048, position=1024)
    alone = SheetCosts(A100, LLAMA_13B)
    within = SheetCosts(A100, LLAMA_13B, intra=2)
    across = SheetCosts(A100, LLAMA_13B, inter=2)
    assert alone.latency(work) / 2 < within.latency(work) < alone.latency(work)
    assert across.latency(work) == alone.latency(work)
    assert across.seconds(work) == alone.seconds(work) / 2
    assert within.positions() > 2 * alone.positions()
    assert SheetCosts(A100, LLAMA_70B).positions() < 0
