"""The formula of admission adds up, and says when there is too little."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from maskwright.engine import Engine, EngineConfig
from maskwright.engine.capacity import RESERVE, machine_memory, plan_capacity
from maskwright.errors import InputError
from maskwright.models import LoadedModel


def test_a_fraction_of_the_memory_is_not_exceeded(loaded: LoadedModel) -> None:
    fraction = (RESERVE + (64 << 20)) / machine_memory()
    capacity = plan_capacity(loaded, EngineConfig(memory_fraction=fraction, max_running=4))
    assert capacity.memory is not None
    whole = capacity.weights + capacity.workspace + capacity.reserve
    assert whole + capacity.blocks * capacity.block <= capacity.memory
    assert whole + (capacity.blocks + 1) * capacity.block > capacity.memory
    assert f"{capacity.blocks} blocks of 16 tokens" in capacity.report()
    assert f"{capacity.positions} tokens" in capacity.report()


def test_swap_is_part_of_the_memory(loaded: LoadedModel) -> None:
    fraction = (RESERVE + (64 << 20)) / machine_memory()
    plain = plan_capacity(loaded, EngineConfig(memory_fraction=fraction))
    config = EngineConfig(memory_fraction=fraction, swap_bytes=10 * plain.block + 1)
    capacity = plan_capacity(loaded, config)
    assert capacity.host_blocks == 10
    assert capacity.blocks == plain.blocks - 10
    assert "+ swap" in capacity.report()
    assert "swap" not in plain.report()


def test_too_little_memory_is_reported_before_the_first_request(loaded: LoadedModel) -> None:
    fraction = RESERVE / machine_memory()
    with pytest.raises(InputError, match="leaves no block") as caught:
        Engine(loaded, EngineConfig(memory_fraction=fraction))
    assert caught.value.param == "memory_fraction"


@pytest.mark.parametrize(
    ("config", "param"),
    [
        (EngineConfig(blocks=10**12), "blocks"),
        (EngineConfig(kv_bytes=1 << 60), "kv_bytes"),
        (EngineConfig(swap_bytes=1 << 60), "swap_bytes"),
    ],
)
def test_more_than_the_machine_has_is_refused_before_any_is_taken(
    loaded: LoadedModel, config: EngineConfig, param: str
) -> None:
    with pytest.raises(InputError, match="don't fit into the machine's memory") as caught:
        plan_capacity(loaded, config)
    assert caught.value.param == param


def test_blocks_and_bytes(loaded: LoadedModel) -> None:
    block = loaded.decoder.block_bytes(16)
    assert plan_capacity(loaded, EngineConfig(kv_bytes=10 * block + 1)).blocks == 10
    assert plan_capacity(loaded, EngineConfig(kv_bytes=block)).blocks == 1
    assert plan_capacity(loaded, EngineConfig(blocks=7)).blocks == 7


def test_codes_hold_more_tokens_in_the_same_bytes(loaded: LoadedModel) -> None:
    """What is reported is what the pool takes; heads here have 8 numbers, so a scale is a third."""
    plain = plan_capacity(loaded, EngineConfig(kv_bytes=1 << 20))
    for kind in ("int8", "fp8"):
        config = EngineConfig(kv_bytes=1 << 20, kv_dtype=kind)
        coded = plan_capacity(loaded, config)
        assert coded.block / plain.block == pytest.approx((8 + 4) / (8 * 4))
        assert coded.blocks == (1 << 20) // coded.block
        pool = loaded.decoder.new_pool(coded.blocks, 16, kind)
        assert pool.nbytes == coded.blocks * coded.block
        assert kind in coded.report()
    with pytest.raises(InputError, match="kv_dtype is 'int4'"):
        EngineConfig(kv_dtype="int4")


def test_adapters_have_their_room(loaded: LoadedModel) -> None:
    fraction = (RESERVE + (128 << 20)) / machine_memory()
    config = EngineConfig(memory_fraction=fraction, max_running=4, adapter_bytes=64 << 20)
    plain, adapted = plan_capacity(loaded, config), plan_capacity(loaded, config, adapters=True)
    assert adapted.reserve == plain.reserve + (64 << 20)
    room = (plain.blocks - adapted.blocks) * plain.block
    assert abs(room - (64 << 20)) <= plain.block


def test_recorded_steps_have_their_room_on_a_gpu(
    loaded: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They keep what a step of decodes takes; of a GPU's memory, swap takes nothing."""
    monkeypatch.setattr("maskwright.engine.capacity.device_memory", lambda device: 3 << 30)
    own = loaded.decoder
    decoder: Any = SimpleNamespace(
        device=torch.device("cuda", 0),
        recordable=True,
        block_bytes=own.block_bytes,
        weight_bytes=own.weight_bytes,
        row_bytes=own.row_bytes,
        vocab_size=own.vocab_size,
    )
    on_gpu = replace(loaded, decoder=decoder)
    config = EngineConfig(max_running=8, drafts=1, memory_fraction=0.5, swap_bytes=1 << 20)
    recorded = plan_capacity(on_gpu, config)
    launched = plan_capacity(on_gpu, replace(config, graphs=False))
    rows = 16 * (own.row_bytes + 3 * 4 * own.vocab_size + own.vocab_size // 8)
    assert recorded.workspace == launched.workspace + rows
    assert recorded.memory == 3 << 29
    room = (launched.blocks - recorded.blocks) * recorded.block
    assert abs(room - rows) <= recorded.block
    decoder.recordable = False
    assert plan_capacity(on_gpu, config).workspace == launched.workspace


@pytest.mark.parametrize("name", ["kv_bytes", "kv_host_bytes", "kv_disk_bytes", "swap_bytes"])
def test_memory_that_holds_no_block_is_refused(
    loaded: LoadedModel, tmp_path: Path, name: str
) -> None:
    """Instead of one block, or of none, whatever was asked for."""
    block = plan_capacity(loaded, EngineConfig()).block
    plain = EngineConfig(kv_disk=tmp_path if name == "kv_disk_bytes" else None)
    plan_capacity(loaded, replace(plain, **{name: block}))
    for value in (1, 100, block - 1):
        with pytest.raises(InputError, match=rf"{name} is {value:,} bytes, and a block of") as got:
            plan_capacity(loaded, replace(plain, **{name: value}))
        assert got.value.param == name
        assert f"16 tokens takes {block:,} (" in got.value.message


def test_bytes_that_something_else_replaces_are_not_asked_about(loaded: LoadedModel) -> None:
    assert plan_capacity(loaded, EngineConfig(kv_bytes=1, blocks=3)).blocks == 3
    assert plan_capacity(loaded, EngineConfig(kv_bytes=1, memory_fraction=0.5)).blocks > 1
    plan_capacity(loaded, EngineConfig(kv_disk_bytes=1))  # there is no folder
    plan_capacity(loaded, EngineConfig(kv_host_bytes=0, swap_bytes=0))
