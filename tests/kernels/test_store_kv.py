"""Writing keys and values slot by slot: the twin, the kernel in the interpreter and on a GPU."""

from __future__ import annotations

import pytest
import torch

from maskwright.kernels import kv_pool
from maskwright.kernels.device import INTERPRETED
from maskwright.kernels.kv_pool import KvDtype, KvPool, new_pool
from maskwright.kernels.store_kv import store_kv

SLOTS = [(3, 1), (1, 0), (4, 3), (1, 2), (2, 3)]
BLOCKS, OFFSETS = torch.tensor(SLOTS).unbind(1)


def numbers(heads: int, width: int, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """Keys and values as models have them: heads first, seen from the side."""
    keys = torch.randn(heads, len(SLOTS), width).to(dtype).transpose(0, 1)
    values = torch.randn(len(SLOTS), heads, 2 * width).to(dtype)[..., :width]
    return keys, values


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize(("heads", "width"), [(1, 1), (2, 8), (3, 20)])
def test_every_slot_gets_its_token_and_no_other_changes(
    heads: int, width: int, dtype: torch.dtype, device: torch.device
) -> None:
    keys, values = numbers(heads, width, dtype)
    keys[0, 0, 0] = float("nan")
    before = torch.randn(5, 2, 2, 4, heads, width).to(dtype)
    expected = before.clone()
    for token, (block, offset) in enumerate(SLOTS):
        expected[block, 1, 0, offset] = keys[token]
        expected[block, 1, 1, offset] = values[token]
    pool = KvPool(before.to(device))
    slots = BLOCKS.to(device), OFFSETS.to(device)
    store_kv(pool, 1, *slots, keys.to(device), values.to(device))
    integers = torch.int32 if dtype == torch.float32 else torch.int16
    assert pool.data.cpu().view(integers).equal(expected.view(integers))


@pytest.mark.parametrize("kind", ["int8", "fp8"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_pools_of_codes_get_the_codes_of_the_twin(
    kind: KvDtype, dtype: torch.dtype, device: torch.device
) -> None:
    keys, values = numbers(3, 20, dtype)
    # Zeros, ties between whole codes, what fp8 rounds to the next power of two, small numbers.
    keys[0, 0] = 0
    keys[1, 0] = torch.arange(20) - 9.5
    keys[1, 0, 0] = 127
    keys[2, 0] = torch.cat((torch.linspace(-448, 448, 10), 2.0 ** -torch.arange(10)))
    keys[3, 0] = 448 / 2.0 ** torch.arange(20)
    pools = [new_pool((5, 2, 2, 4, 3, 20), dtype, kind) for _ in range(2)]
    kv_pool.store_kv(pools[0], 1, BLOCKS, OFFSETS, keys, values)
    assert pools[1].scales is not None
    on_device = KvPool(pools[1].data.to(device), pools[1].scales.to(device))
    slots = BLOCKS.to(device), OFFSETS.to(device)
    store_kv(on_device, 1, *slots, keys.to(device), values.to(device))
    assert on_device.scales is not None
    assert pools[0].scales is not None
    assert on_device.scales.cpu().equal(pools[0].scales)
    codes = on_device.data.cpu().view(torch.uint8)
    assert codes.equal(pools[0].data.view(torch.uint8))
    assert codes[3, 1, :, 1].any()
    assert not codes[:, 0].any()


def test_other_shapes_and_types_are_refused() -> None:
    pool = new_pool((5, 2, 2, 4, 2, 8), torch.float32)
    keys, values = numbers(2, 8, torch.float32)
    with pytest.raises(ValueError, match=r"must be \[5, 2, 8\]"):
        store_kv(pool, 0, BLOCKS, OFFSETS, keys, values[:, :1])
    with pytest.raises(ValueError, match=r"must be \[4, 2, 8\]"):
        store_kv(pool, 0, BLOCKS[:4], OFFSETS[:4], keys, values)
    with pytest.raises(ValueError, match="can't hold"):
        store_kv(pool, 0, BLOCKS, OFFSETS, keys.half(), values.half())


@pytest.mark.skipif(not INTERPRETED, reason="needs TRITON_INTERPRET=1; test_interpreter.py sets it")
def test_the_interpreter_does_not_run_the_twin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(kv_pool, "store_kv")
    pool = new_pool((5, 2, 2, 4, 2, 8), torch.float32)
    store_kv(pool, 0, BLOCKS, OFFSETS, *numbers(2, 8, torch.float32))
    assert pool.data[3, 0, :, 1].all()
