"""Layers that repeat what the first one of their kind launched: the same programs on their own
weights, and the same bits as layers that are computed each by itself.

The launches are compared for a GPU that isn't there, with programs of Triton's own compiler; the
bits in the interpreter, in the process of `tests/kernels/test_interpreter.py`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final
from unittest.mock import patch

import pytest
import torch
from torch import Tensor

from benchmarks.gpu.decode_step import weight_shapes
from benchmarks.gpu.launching import launching_nothing
from maskwright.kernels.device import INTERPRETED
from maskwright.kernels.kv_bytes import KvDtype
from maskwright.kernels.noting import Noted
from maskwright.model_options import WeightDtype
from maskwright.models import Run
from maskwright.models.adapter import Adapter, LowRank
from maskwright.models.config import parse_config
from maskwright.models.decoder import ForwardBatch, lay_out
from maskwright.models.dense import DenseDecoder
from tests.kernels.launches import Launches

pytest.importorskip("triton", reason="needs triton, of the extra gpu")

CPU: Final = torch.device("cpu")
BLOCK: Final = 16
SHAPE: Final[dict[str, Any]] = {
    "architectures": ["LlamaForCausalLM"],
    "vocab_size": 97,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "max_position_embeddings": 256,
    "rms_norm_eps": 1e-6,
    "rope_theta": 10_000.0,
    "hidden_act": "silu",
    "tie_word_embeddings": True,
}


@dataclass(frozen=True)
class Case:
    """A model and how it is computed. `worn`: the modules that an adapter changes, by the ends of
    their names; `rows`: the new tokens of each sequence; `repeats`: layers that are not computed by
    themselves."""

    changes: dict[str, Any] = field(default_factory=dict[str, Any])
    dtype: torch.dtype = torch.float32
    weights: WeightDtype = "auto"
    pool: KvDtype = "auto"
    worn: tuple[str, ...] = ()
    rows: tuple[int, ...] = (1,)
    repeats: int = 2


CASES: Final = {
    "norms of heads, adapters": Case(
        {"architectures": ["Qwen3ForCausalLM"]},
        torch.bfloat16,
        worn=("q_proj", "down_proj"),
        rows=(1, 2),
    ),
    "windows in turn, biases": Case(
        {
            "architectures": ["Qwen2ForCausalLM"],
            "use_sliding_window": True,
            "sliding_window": 4,
            "layer_types": ["full_attention", "sliding_attention"] * 2,
        },
        rows=(9, 1),
        repeats=1,
    ),
    "weights in fp8, all biases": Case(
        {"attention_bias": True, "mlp_bias": True}, torch.bfloat16, weights="fp8", rows=(9,)
    ),
    "codes in the pool, adapters of some layers": Case(
        pool="int8", worn=("1.self_attn.v_proj", "3.self_attn.v_proj"), repeats=1
    ),
}


def decoder(case: Case) -> DenseDecoder:
    """A random model."""
    generator = torch.Generator().manual_seed(1)
    config = parse_config({**SHAPE, **case.changes})
    weights: dict[str, Tensor] = {}
    for name, shape in weight_shapes(config).items():
        weights[name] = torch.randn(shape, generator=generator) * 0.2
        bias = torch.randn(shape[0], generator=generator)
        weights[name.replace("weight", "bias")] = bias
    return DenseDecoder(config, weights, case.dtype, compiled=False, weight_dtype=case.weights)


def batch_of(model: DenseDecoder, case: Case) -> ForwardBatch:
    """Sequences that have twenty tokens before the new ones; the first has the adapter."""
    generator = torch.Generator().manual_seed(2)
    modules = {
        name: LowRank(
            torch.randn(8, inputs, generator=generator).to(case.dtype),
            torch.randn(outputs, 8, generator=generator).to(case.dtype),
        )
        for name, (outputs, inputs) in model.adapter_shapes.items()
        if name.endswith(case.worn)
    }
    adapter = Adapter(modules).on(CPU, model.adapter_shapes) if modules else None
    runs = [
        Run([7 + row for row in range(count)], 20, range(1 + 2 * place, 3 + 2 * place), 1, worn)
        for place, (count, worn) in enumerate(zip(case.rows, (adapter, None), strict=False))
    ]
    return lay_out(runs, BLOCK, model.plan).to(torch.device("cpu", 0))


def forward(case: Case) -> tuple[Tensor, Tensor]:
    """The logits of a step over random keys and values, and the pool after it."""
    model = decoder(case)
    batch = batch_of(model, case)
    pool = model.new_pool(6, BLOCK, case.pool)
    pool.data.view(torch.int8).random_(-60, 60, generator=torch.Generator().manual_seed(3))
    if case.pool == "auto":
        pool.data.copy_(torch.randn(pool.data.shape, generator=torch.Generator().manual_seed(3)))
    if pool.scales is not None:
        pool.scales.fill_(0.01)
    return model.forward(batch, pool), pool.data.view(torch.int8)


@contextmanager
def repeats(found: list[bool]) -> Iterator[None]:
    """Note in `found` which layers were asked to repeat another, and whether they did."""
    repeat = Noted.repeat

    def counting(self: Noted, *arguments: Any) -> bool:
        found.append(repeat(self, *arguments))
        return found[-1]

    with patch.object(Noted, "repeat", counting):
        yield


ALONE: Final = patch.object(Noted, "repeat", lambda *_: False)
"""Each layer is computed by itself."""


@pytest.mark.skipif(not INTERPRETED, reason="computes by kernels")
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_bits_are_those_of_layers_by_themselves(case: Case) -> None:
    repeated = list[bool]()
    with repeats(repeated):
        logits, pool = forward(case)
    assert repeated == [True] * case.repeats
    with ALONE:
        expected = forward(case)
    assert logits.isfinite().all()
    assert torch.equal(logits, expected[0])
    assert torch.equal(pool, expected[1])


@pytest.mark.skipif(INTERPRETED, reason="the interpreter compiles nothing")
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_launches_are_those_of_layers_by_themselves(case: Case) -> None:
    """The same programs and products in the same order, on the same grids, with the same numbers,
    the same weights and the keys and values of the same layer."""
    repeated, driver = list[bool](), Launches()

    with launching_nothing(driver):
        model = decoder(case)
        batch, pool = batch_of(model, case), model.new_pool(6, BLOCK, case.pool)

        def launches() -> list[tuple[Any, ...]]:
            driver.found.clear()
            model.forward(batch, pool)
            return driver.found.copy()

        with repeats(repeated):
            found = launches()
        with ALONE:
            expected = launches()
    assert repeated == [True] * case.repeats
    known = {
        tensor.data_ptr()
        for number, layer in enumerate(model.layers)
        for tensor in (*layer.tensors, *pool.of_layer(number))
        if tensor is not None
    }
    assert len(found) > 6 * len(model.layers)
    assert [_named(each, known) for each in found] == [_named(each, known) for each in expected]


def _named(launch: tuple[Any, ...], known: set[int]) -> list[object]:
    """A launch without the addresses of what is computed in between."""
    return [
        "between" if isinstance(each, int) and each >= 2**20 and each not in known else each
        for each in launch
    ]
