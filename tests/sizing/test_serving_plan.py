"""Capacity on paper: against sums that are counted in another way, and against the engine."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maskwright.engine import EngineConfig
from maskwright.engine.capacity import machine_memory, plan_capacity
from maskwright.models import DEMO_PATH, load
from maskwright.sizing.serving_plan import BLOCK_SIZES, ModelShape, ServingPlan

GB = 10**9
MODEL = ModelShape(layers=40, kv_heads=8, head_dim=128, weights=28 * GB)
PLAN = ServingPlan(MODEL, memory=76 * GB, reserve=8 * GB, context=8192, bandwidth=4000 * GB)


@given(
    st.integers(1, 80), st.integers(1, 64), st.sampled_from([32, 64, 96, 128]),
    st.integers(0, 200), st.integers(0, 40), st.integers(1, 40_000), st.sampled_from(BLOCK_SIZES),
)  # fmt: skip
def test_what_fits_is_the_most_that_fits(
    layers: int, heads: int, dim: int, memory: int, weights: int, context: int, size: int
) -> None:
    model = ModelShape(layers, heads, dim, weights * GB)
    found = ServingPlan(model, memory * GB, GB, context, block_size=size)
    block = 2 * layers * heads * dim * 2 * size
    assert found.block == block
    used = weights * GB + GB
    if found.blocks:
        assert used + found.blocks * block <= memory * GB
    assert used + (found.blocks + 1) * block > memory * GB
    per_sequence = len(range(0, context, size))
    assert found.sequences * per_sequence <= found.blocks
    assert (found.sequences + 1) * per_sequence > found.blocks


def test_the_mean_unused_is_that_of_all_lengths() -> None:
    for row in PLAN.block_sizes():
        lengths = range(1, 1 + 8 * row.block_size)
        unused = [-length % row.block_size for length in lengths]
        assert row.unused_tokens == sum(unused) / len(unused)
        assert row.table_entries * row.block_size >= PLAN.context
        assert row.unused_bytes == row.unused_tokens * PLAN.token_bytes


def test_the_bound_grows_less_than_the_batch_and_with_the_bandwidth() -> None:
    rows = PLAN.decode_rows()
    assert [row.sequences for row in rows] == [1, 2, 4, 8, 16, 29]
    for before, after in itertools.pairwise(rows):
        assert before.tokens_per_second < after.tokens_per_second
        assert after.step_seconds > before.step_seconds
        assert (
            after.tokens_per_second / before.tokens_per_second < after.sequences / before.sequences
        )
    faster = replace(PLAN, bandwidth=8000 * GB).decode_rows()
    assert faster[-1].tokens_per_second == pytest.approx(2 * rows[-1].tokens_per_second)
    assert replace(PLAN, bandwidth=None).decode_rows() == []
    assert replace(PLAN, memory=30 * GB).decode_rows() == [], "no sequence fits"


def test_fewer_bits_hold_more() -> None:
    found = {(v.model.weight_bits, v.kv_dtype): v.sequences for v in PLAN.variants()}
    assert set(found) == {(bits, kind) for bits in (16, 8, 4) for kind in ("auto", "int8")}
    assert found[16, "auto"] < found[8, "auto"] < found[4, "auto"]
    assert all(found[bits, "auto"] < found[bits, "int8"] for bits in (16, 8, 4))
    coded = replace(PLAN, kv_dtype="int8")
    assert [v.kv_dtype for v in coded.variants()] == ["int8"] * 3


def test_the_engine_divides_memory_as_the_plan_does() -> None:
    loaded = load(DEMO_PATH)
    capacity = plan_capacity(loaded, EngineConfig(memory_fraction=0.5, kv_dtype="int8"))
    assert capacity.memory is not None
    config = loaded.decoder
    shape = ModelShape(
        layers=config.config.layers,  # pyright: ignore[reportAttributeAccessIssue]
        kv_heads=config.config.kv_heads,  # pyright: ignore[reportAttributeAccessIssue]
        head_dim=config.config.head_dim,  # pyright: ignore[reportAttributeAccessIssue]
        weights=capacity.weights,
        weight_bits=32,
        itemsize=4,
    )
    found = ServingPlan(
        shape,
        memory=int(machine_memory() * 0.5),
        reserve=capacity.reserve + capacity.workspace,
        context=2048,
        kv_dtype="int8",
    )
    assert (found.block, found.blocks) == (capacity.block, capacity.blocks)
