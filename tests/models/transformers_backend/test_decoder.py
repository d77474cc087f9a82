"""The library's models from a paged pool: bits under any schedule, codes, layers of many shapes."""

from __future__ import annotations

import random

import pytest
import torch

from maskwright.models.batch import Run, lay_out
from maskwright.models.transformers_backend.decoder import TransformersDecoder
from maskwright.models.transformers_backend.self_check import computed_in_parts, random_model
from tests.models.families import DENSE, ROUTED, SIZES, Family, config_of, model_class
from tests.models.products import comparison

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
