"""The attention of a device, with the shapes of a model: here plain torch stands for its kernels,
and in Triton's interpreter, where `tests/kernels/test_interpreter.py` runs this file, they run."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import patch

import pytest
import torch

from maskwright.errors import InputError
from maskwright.kernels.paged_attention import Scores
from maskwright.kernels.paged_plan import DevicePlan
from maskwright.models.transformers_backend.attention import Attention, PagedLayers
from maskwright.models.transformers_backend.load import attention_error, check_attention

CPU = torch.device("cpu")


def layers(dtype: torch.dtype = torch.float32) -> PagedLayers:
    """Two layers of unlike sizes, the first one with everything that kernels have."""
    numbers = torch.Generator().manual_seed(1)

    def call(layer: int, heads: int, kv_heads: int, width: int, narrow: int) -> Attention:
        query, keys, values = (
            torch.randn(2, *sizes, generator=numbers).to(dtype)
            for sizes in ((heads, width), (kv_heads, width), (kv_heads, narrow))
        )
        sinks = torch.randn(heads, generator=numbers).to(dtype)
        return Attention(layer, query, keys, values, 0.3, 4096, 2.0, sinks)

    wide = replace(call(1, 2, 1, 12, 12), window=None, softcap=None, sinks=None)
    return PagedLayers([call(0, 4, 2, 12, 6), wide])


@pytest.mark.parametrize(
    ("dtype", "most"), [(torch.float32, 1e-6), (torch.bfloat16, 0.01)], ids=str
)
def test_attention_is_that_of_plain_torch(dtype: torch.dtype, most: float) -> None:
    found = layers(dtype)
    errors = [attention_error(found, call, CPU) for call in found.calls]
    assert max(errors) < most
    check_attention("Tiny", found, CPU)


@pytest.mark.parametrize("forgotten", ["window", "softcap", "sinks"])
def test_what_a_kernel_forgets_is_found(forgotten: str) -> None:
    whole = DevicePlan.attend

    def part(plan: DevicePlan, *given: object) -> torch.Tensor:
        *others, scores = given
        assert isinstance(scores, Scores)
        return whole(plan, *others, replace(scores, **{forgotten: None}))  # type: ignore[arg-type]

    with (
        patch.object(DevicePlan, "attend", part),
        pytest.raises(InputError, match=r"Tiny .* on cpu: .* differs by .* --device cpu") as caught,
    ):
        check_attention("Tiny", layers(), CPU)
    assert caught.value.code == "unsupported_model"


def test_attention_that_cannot_be_launched_is_refused() -> None:
    def fail(*_: object) -> torch.Tensor:
        raise RuntimeError("out of resource: shared memory")

    with (
        patch.object(DevicePlan, "attend", fail),
        pytest.raises(InputError, match=r"Tiny .* RuntimeError: out of resource.* --device cpu"),
    ):
        check_attention("Tiny", layers(), CPU)
