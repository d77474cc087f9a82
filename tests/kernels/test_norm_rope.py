"""Norms with residual, rope and storing: the twins, the kernels in the interpreter and on a GPU,
held against formulas in float64."""

from __future__ import annotations

from unittest.mock import patch

import pytest
import torch
from torch import Tensor

from maskwright.kernels import kv_pool, reference
from maskwright.kernels import norm_rope as module
from maskwright.kernels.device import INTERPRETED
from maskwright.kernels.kv_bytes import KvDtype
from maskwright.kernels.kv_pool import KvPool, new_pool
from maskwright.kernels.norm_rope import add_norm, norm_rope_store
from maskwright.models.config import RopeConfig
from maskwright.models.dense import rope_table

TYPES = [(torch.float32, 1e-5), (torch.float16, 4e-3), (torch.bfloat16, 3e-2)]
EPS = 1e-3


def norm(numbers: Tensor, weight: Tensor) -> Tensor:
    numbers = numbers.double()
    return numbers / (numbers.square().mean(-1, keepdim=True) + EPS).sqrt() * weight.double()


@pytest.mark.parametrize(("dtype", "tolerance"), TYPES, ids=str)
@pytest.mark.parametrize("width", [8, 33, 1500])
def test_norm_of_a_sum(
    dtype: torch.dtype, tolerance: float, width: int, device: torch.device
) -> None:
    hidden = torch.randn(3, width + 2).to(dtype)[:, :width]
    addition, weight = torch.randn(3, width).to(dtype), torch.randn(width).to(dtype)
    total, normed = add_norm(hidden.to(device), addition.to(device), weight.to(device), EPS)
    # The interpreter truncates where a GPU rounds to bfloat16.
    last_bit = 2**-7 if INTERPRETED and dtype == torch.bfloat16 else 0
    torch.testing.assert_close(total.cpu(), hidden + addition, rtol=last_bit, atol=0)
    expected = norm(hidden + addition, weight)
    torch.testing.assert_close(normed.cpu().double(), expected, rtol=tolerance, atol=tolerance)
    alone, normed = add_norm(hidden.to(device), None, weight.to(device), EPS)
    assert alone.cpu().equal(hidden)
    torch.testing.assert_close(
        normed.cpu().double(), norm(hidden, weight), rtol=tolerance, atol=tolerance
    )


POSITIONS = torch.tensor([3, 0, 49, 7])
BLOCKS, OFFSETS = torch.tensor([(3, 1), (1, 0), (4, 3)]).unbind(1)
"""Slots of the first three rows. The fourth is padding."""


def stored(
    heads: Tensor,
    norms: tuple[Tensor, Tensor] | None,
    pool: KvPool,
    device: torch.device,
) -> Tensor:
    """Norm and rotate heads on `device`, write keys and values to layer 1 of `pool`, which is on
    the host, and return the queries."""
    tables = rope_table(RopeConfig("default", 100.0, {}), heads.shape[2], 50)
    cos, sin = (table.to(device, heads.dtype) for table in tables)
    scales = None if pool.scales is None else pool.scales.to(device)
    there = KvPool(pool.data.to(device), scales)
    out = norm_rope_store(
        *(heads.to(device), (cos, sin), POSITIONS.to(device), there, 1),
        (BLOCKS.to(device), OFFSETS.to(device)),
        None if norms is None else (norms[0].to(device), norms[1].to(device)),
        EPS,
    )
    pool.data.view(torch.uint8).copy_(there.data.view(torch.uint8))
    if pool.scales is not None:
        assert there.scales is not None
        pool.scales.copy_(there.scales)
    return out.cpu()


@pytest.mark.parametrize(("dtype", "tolerance"), TYPES, ids=str)
@pytest.mark.parametrize("normed", [False, True])
@pytest.mark.parametrize(("queries", "keys", "width"), [(1, 1, 2), (5, 2, 20), (33, 18, 32)])
def test_rotated_heads(
    dtype: torch.dtype,
    tolerance: float,
    normed: bool,
    queries: int,
    keys: int,
    width: int,
    device: torch.device,
) -> None:
    heads = torch.randn(4, queries + 2 * keys, width).to(dtype)
    heads[0, -1, 0] = float("nan")  # of a value, which is only moved
    norms = torch.randn(width).to(dtype), torch.randn(width).to(dtype)
    before = torch.randn(5, 2, 2, 4, keys, width).to(dtype)
    pool = KvPool(before.clone())
    out = stored(heads, norms if normed else None, pool, device)
    numbers = heads[:, :-keys].double()
    if normed:
        numbers = torch.cat(
            (norm(heads[:, :queries], norms[0]), norm(heads[:, queries:-keys], norms[1])), dim=1
        )
    # Pairs of numbers as complex ones, which an angle multiplies.
    turned = torch.complex(numbers[..., : width // 2], numbers[..., width // 2 :])
    cos, sin = rope_table(RopeConfig("default", 100.0, {}), width, 50)
    angles = torch.complex(cos.double(), sin.double())[POSITIONS, :, width // 2 :]
    turned = turned * angles
    expected = torch.cat((turned.real, turned.imag), dim=-1)
    found = out[:3], pool.data[BLOCKS, 1, 0, OFFSETS]
    for ours, theirs in zip(found, expected[:3].split((queries, keys), dim=1), strict=True):
        torch.testing.assert_close(ours.double(), theirs, rtol=3 * tolerance, atol=3 * tolerance)
    assert out[3].isfinite().all()
    # Nothing else has changed.
    pool.data[BLOCKS, 1, 0, OFFSETS] = before[BLOCKS, 1, 0, OFFSETS]
    before[BLOCKS, 1, 1, OFFSETS] = heads[:3, -keys:]
    integers = torch.int32 if dtype == torch.float32 else torch.int16
    assert pool.data.view(integers).equal(before.view(integers))


@pytest.mark.parametrize("kind", ["int8", "fp8"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_codes_are_those_of_the_numbers_that_are_stored_otherwise(
    kind: KvDtype, dtype: torch.dtype, device: torch.device
) -> None:
    """Bit for bit, by the twin that makes codes; and the queries don't depend on the pool."""
    heads = torch.randn(4, 3 + 2 * 3, 20).to(dtype)
    heads[0, 3] = 0
    heads[1, -2] = torch.cat((torch.linspace(-448, 448, 10), 2.0 ** -torch.arange(10)))
    norms = torch.randn(20).to(dtype), torch.randn(20).to(dtype)
    plain, coded, expected = (
        new_pool((5, 2, 2, 4, 3, 20), dtype, each) for each in ("auto", kind, kind)
    )
    queries = stored(heads, norms, plain, device)
    assert stored(heads, norms, coded, device).equal(queries)
    keys, values = (plain.data[BLOCKS, 1, part, OFFSETS] for part in (0, 1))
    kv_pool.store_kv(expected, 1, BLOCKS, OFFSETS, keys, values)
    assert coded.data.view(torch.uint8).equal(expected.data.view(torch.uint8))
    assert expected.scales is not None
    assert coded.scales is not None
    assert coded.scales.equal(expected.scales)
    assert coded.scales[4, 1, :, 3].all()


@pytest.mark.parametrize("kind", ["auto", "int8"])
def test_the_kernels_rotate_and_store_as_the_twins_do(kind: KvDtype, device: torch.device) -> None:
    """Numbers of float32 nearly; each code is the next one at most."""
    heads = torch.randn(4, 5 + 2 * 2, 32)
    norms = torch.randn(32), torch.randn(32)
    pools = [new_pool((5, 2, 2, 4, 2, 32), torch.float32, kind) for _ in range(2)]
    found = stored(heads, norms, pools[0], device)
    with patch.object(module, "runs_kernels", return_value=False):
        expected = stored(heads, norms, pools[1], torch.device("cpu"))
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)
    (ours, *our_scales), (theirs, *their_scales) = (
        [part.double() for part in (pool.data, pool.scales) if part is not None] for pool in pools
    )
    last = 0 if kind == "auto" else 1
    torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=max(last, 1e-5))
    torch.testing.assert_close(our_scales, their_scales, rtol=1e-5, atol=0)
    assert ours[3, 1, :, 1].any()


def test_pools_of_other_shapes_and_types_are_refused() -> None:
    heads = torch.randn(4, 5, 8)
    cpu = torch.device("cpu")
    with pytest.raises(ValueError, match="heads of 8 numbers must be queries and twice the 3"):
        stored(heads, None, new_pool((5, 2, 2, 4, 3, 8), torch.float32), cpu)
    with pytest.raises(ValueError, match="twice the 2 heads of 16"):
        stored(heads, None, new_pool((5, 2, 2, 4, 2, 16), torch.float32), cpu)
    with pytest.raises(ValueError, match="can't hold"):
        stored(heads.half(), None, new_pool((5, 2, 2, 4, 2, 8), torch.float32), cpu)


@pytest.mark.skipif(not INTERPRETED, reason="needs TRITON_INTERPRET=1; test_interpreter.py sets it")
def test_the_interpreter_does_not_run_the_twins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(reference, "rms_norm")
    monkeypatch.delattr(reference, "rope")
    monkeypatch.delattr(module, "store_kv")
    monkeypatch.setattr(module, "LANES", 16)
    assert add_norm(torch.ones(2, 8), None, torch.ones(8), 0.0)[1].allclose(torch.ones(2, 8))
    tables = rope_table(RopeConfig("default", 100.0, {}), 8, 2)
    heads, slots = torch.randn(2, 5, 8), (torch.tensor([1, 0]), torch.tensor([1, 1]))
    pool = new_pool((2, 1, 2, 2, 2, 8), torch.float32)
    none = torch.zeros(2, dtype=torch.int32)
    assert norm_rope_store(heads, tables, none, pool, 0, slots).equal(heads[:, :1])
    assert pool.data[1, 0, :, 1].equal(heads[0, 1:].view(2, 2, 8))
