"""The library's models from a paged pool: bits under any schedule, codes, layers of many shapes,
and what they launch on a device."""

from __future__ import annotations

import random
from collections.abc import Iterator
from unittest.mock import patch

import pytest
import torch

from maskwright.models.adapter import Adapter, LowRank
from maskwright.models.decoder import lay_out
from maskwright.models.graphs import DecodeGraphs
from maskwright.models.runs import Run
from maskwright.models.transformers_backend.decoder import TransformersDecoder
from maskwright.models.transformers_backend.self_check import computed_in_parts, random_model
from tests.models.families import DENSE, ROUTED, SIZES, Family, config_of, model_class
from tests.models.graphs.tape import TapeRecorder
from tests.models.products import comparison
from tests.models.test_device import META, Recorder, recorded

LENGTHS = (3, 11, 70)


def decoder_of(family: Family, **more: object) -> TransformersDecoder:
    with torch.inference_mode():
        torch.manual_seed(0)
        return TransformersDecoder(random_model(model_class(family), config_of(family, **more)))


def prompts() -> list[list[int]]:
    rng = random.Random(1)
    return [[rng.randrange(SIZES["vocab_size"]) for _ in range(n)] for n in LENGTHS]


@pytest.mark.parametrize("family", DENSE.values(), ids=DENSE)
def test_bits_do_not_depend_on_the_schedule(family: Family) -> None:
    decoder = decoder_of(family)
    compare = comparison(decoder)
    with torch.inference_mode():
        alone = [
            computed_in_parts(decoder, [prompt], random.Random(0), chunk=1)[0]
            for prompt in prompts()
        ]
        for seed, chunk in enumerate((9, 80)):
            together = computed_in_parts(decoder, prompts(), random.Random(seed), chunk)
            for mine, reference in zip(together, alone, strict=True):
                compare(mine, reference, "logits depend on the schedule")


@pytest.mark.parametrize("family", ROUTED.values(), ids=ROUTED)
def test_with_experts_only_the_last_digits_do(family: Family) -> None:
    decoder = decoder_of(family)
    with torch.inference_mode():
        alone = computed_in_parts(decoder, prompts()[-1:], random.Random(0), chunk=1)[0]
        together = computed_in_parts(decoder, prompts(), random.Random(0), 40)[-1]
    torch.testing.assert_close(together, alone, atol=1e-4, rtol=1e-4)


def test_layers_of_unlike_shapes_share_a_pool() -> None:
    """DeepSeek's values are narrower than its keys; the pool is as wide as the wider."""
    decoder = decoder_of(ROUTED["deepseek_v3"])
    pool = decoder.new_pool(3, 16)
    assert pool.data.shape == (3, 4, 2, 16, 4, 12)
    assert decoder.block_bytes(16) * 3 == pool.nbytes


def test_what_the_engine_asks() -> None:
    decoder = decoder_of(DENSE["mistral, window"])
    assert (decoder.vocab_size, decoder.max_positions) == (97, 128)
    assert (decoder.window, decoder.small, decoder.dtype) == (6, True, torch.float32)
    assert decoder.weight_bytes == sum(w.nbytes for w in decoder.model.state_dict().values())
    assert decoder_of(DENSE["gemma2"]).window is None, "every other layer sees all"


@pytest.mark.parametrize("kind", ["int8", "fp8"])
def test_keys_and_values_as_codes(kind: str) -> None:
    decoder = decoder_of(DENSE["gemma3"])
    run = Run(prompts()[-1], 0, [3, 1, 2, 5, 4], 1)
    batch = lay_out([run], 16, decoder.plan)
    plain = decoder.forward(batch, decoder.new_pool(6, 16))
    coded = decoder.forward(batch, decoder.new_pool(6, 16, kind))
    difference = (coded - plain)[0].abs().max() / plain[0].abs().max()
    assert 0 < difference < 0.1


def device_decoder_of(family: Family) -> TransformersDecoder:
    """A decoder in bfloat16 on the device `meta`, whose tensors have no data."""
    model = model_class(family)(config_of(family)).to(torch.bfloat16)
    return TransformersDecoder(model.to(META))  # type: ignore[arg-type]


@pytest.fixture
def kernels() -> Iterator[dict[str, Recorder]]:
    """Stand-ins for the kernels, see `recorded`."""
    with (
        patch("maskwright.models.decoder.kernels_run_on", return_value=True),
        patch("maskwright.models.adapter.kernels_run_on", return_value=True),
        recorded() as found,
    ):
        yield found


def test_a_step_leaves_nothing_on_the_host(kernels: dict[str, Recorder]) -> None:
    """As `tests/models/test_device.py` shows of the dense decoder: an operation that mixes tensors
    of the host and of the device is an error."""
    decoder = device_decoder_of(ROUTED["gpt_oss"])
    assert (decoder.device, decoder.dtype) == (META, torch.bfloat16)
    pool = decoder.new_pool(9, 16, "int8")
    assert pool.data.device == META
    assert decoder.new_pool(2, 16, device=torch.device("cpu")).data.device.type == "cpu"
    name, shapes = "model.layers.1.self_attn.v_proj", decoder.adapter_shapes
    outputs, inputs = shapes[name]
    matrices = LowRank(torch.zeros(3, inputs), torch.zeros(outputs, 3))
    adapter = Adapter({name: matrices}).on(META, shapes)
    runs = [Run([1, 2, 3], 14, [1, 2], 1, adapter), Run([5] * 20, 0, [3, 4], 1)]
    logits = decoder.forward(lay_out(runs, 16, decoder.plan), pool)
    assert (logits.shape, logits.dtype, logits.device) == ((4, 97), torch.float32, META)
    # Of each of four layers: decodes and pieces of prompts. Of the product with an adapter: both.
    assert {name: len(kernel.launches) for name, kernel in kernels.items() if kernel.launches} == {
        "attend_kernel": 8,
        "store_kernel": 4,
        "shrink_kernel": 1,
        "expand_kernel": 1,
    }
    given = [
        argument
        for kernel in kernels.values()
        for launch in kernel.launches
        for argument in launch
        if isinstance(argument, torch.Tensor)
    ]
    assert {argument.device for argument in given} == {META}
    sinks = {len(each) for each in given if each.dtype == torch.float32 and each.dim() == 1}
    assert sinks == {SIZES["num_attention_heads"]}, "kernels read them as float32"


@pytest.mark.parametrize("family", ["gemma2", "gpt_oss"])
def test_a_decode_step_can_be_recorded(family: str, kernels: dict[str, Recorder]) -> None:
    """The tape refuses operations that read from the device, also those of experts."""
    decoder = device_decoder_of((DENSE | ROUTED)[family])
    assert decoder.recordable
    graphs = DecodeGraphs(
        *(decoder, decoder.new_pool(9, 16), TapeRecorder()),
        spare=8,
        most_rows=4,
        most_positions=64,
    )
    for _ in range(2):
        logits = graphs.forward([Run([5], 3, [1], 1)])
        assert logits is not None
        assert (logits.shape, logits.device) == ((4, 97), META)
        launches = {name: len(kernel.launches) for name, kernel in kernels.items()}
        assert launches["attend_kernel"] == launches["store_kernel"] == 4, "then replayed"


def test_on_the_cpu_nothing_is_recorded() -> None:
    assert not decoder_of(DENSE["gemma2"]).recordable


@pytest.mark.parametrize("family", ["gemma2", "gpt_oss", "deepseek_v3"])
def test_attention_of_a_device_is_that_of_the_cpu(family: str) -> None:
    """In plain torch, laid out as for kernels."""
    decoder = decoder_of((DENSE | ROUTED)[family])
    with torch.inference_mode():
        plain = computed_in_parts(decoder, prompts(), random.Random(0))
        with patch("maskwright.models.decoder.kernels_run_on", return_value=True):
            ours = computed_in_parts(decoder, prompts(), random.Random(0))
    for mine, reference in zip(ours, plain, strict=True):
        torch.testing.assert_close(mine, reference, atol=1e-4, rtol=1e-4)
