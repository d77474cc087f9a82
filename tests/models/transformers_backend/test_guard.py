"""What the guard refuses, and that each of them would answer wrongly without it."""

from __future__ import annotations

import re

import pytest
import torch
import transformers
from transformers import PreTrainedConfig

from maskwright.errors import InputError
from maskwright.models.transformers_backend.guard import check_supported
from maskwright.models.transformers_backend.self_check import TOLERANCE, random_model, worst_error
from tests.models.families import SIZES

SMALL = {name: SIZES[name] for name in ("vocab_size", "hidden_size", "num_hidden_layers")}
ENDS = {"bos_token_id": None, "eos_token_id": None, "pad_token_id": None}
FACTORS = {
    "rope_type": "longrope",
    "rope_theta": 10000.0,
    "short_factor": [1.0] * 4,
    "long_factor": [2.0, 5.0, 9.0, 16.0],
    "original_max_position_embeddings": 16,
    "factor": 8.0,
}
DYNAMIC = {"rope_type": "dynamic", "rope_theta": 10000.0, "factor": 4.0}

# Models whose attention never reaches the registered function, or that keep a state: in a flat run
# of rows the second sequence reads the first.
APART: dict[str, tuple[str, dict, str]] = {
    "bloom": ("Bloom", {**SMALL, "n_head": 4, **ENDS}, "no attention backend"),
    "falcon": (
        "Falcon",
        {**SMALL, "num_attention_heads": 4, "alibi": True, **ENDS},
        "no attention backend",
    ),
    "mpt": (
        "Mpt",
        {"vocab_size": 97, "d_model": 32, "n_layers": 2, "n_heads": 4, **ENDS},
        "no attention backend",
    ),
    "mamba2": (
        "Mamba2",
        {**SMALL, "num_heads": 8, "head_dim": 8, "state_size": 8, "n_groups": 1, **ENDS},
        "keeps a state",
    ),
    "qwen3_next": (
        "Qwen3Next",
        {
            **SIZES,
            "num_experts": 4,
            "num_experts_per_tok": 2,
            "moe_intermediate_size": 8,
            "shared_expert_intermediate_size": 8,
            "linear_key_head_dim": 8,
            "linear_value_head_dim": 8,
            "linear_num_key_heads": 2,
            "linear_num_value_heads": 4,
        },
        "keeps a state",
    ),
}

# Models that do reach it, and are wrong all the same.
PAGED: dict[str, tuple[str, dict, str]] = {
    "llama4": (
        "Llama4",
        {**SIZES, "attention_chunk_size": 8, "num_local_experts": 2, "intermediate_size_mlp": 24},
        "layer type 'chunked_attention'",
    ),
    "phi3, longrope": (
        "Phi3",
        {**SIZES, "rope_parameters": FACTORS, "original_max_position_embeddings": 16},
        "rope type 'longrope'",
    ),
    "llama, dynamic": (
        "Llama",
        {**SIZES, "rope_parameters": DYNAMIC, "max_position_embeddings": 16},
        "rope type 'dynamic'",
    ),
}
REFUSED = APART | PAGED


def of(name: str, values: dict) -> tuple[type, PreTrainedConfig]:
    kind = getattr(transformers, f"{name}ForCausalLM")
    return kind, kind.config_class(**values)


@pytest.mark.parametrize(("name", "values", "reason"), REFUSED.values(), ids=REFUSED)
def test_refused_by_name_and_reason(name: str, values: dict, reason: str) -> None:
    with pytest.raises(InputError, match=re.escape(reason)) as caught:
        check_supported(*of(name, values))
    assert str(caught.value).startswith(f"{name}ForCausalLM is not supported: ")
    assert (caught.value.param, caught.value.code) == ("model", "unsupported_model")


@pytest.mark.parametrize(("name", "values", "reason"), APART.values(), ids=APART)
def test_rows_of_others_would_be_read(name: str, values: dict, reason: str) -> None:
    kind, config = of(name, values)
    with torch.random.fork_rng(devices=()), torch.inference_mode():
        torch.manual_seed(0)
        model = random_model(kind, config)
        one, other = torch.randint(0, 97, (2, 9))
        plain = model(other[None], use_cache=False).logits[0]
        flat = model(torch.cat((one, other))[None], use_cache=False).logits[0, 9:]
    assert (flat - plain).abs().max() > 100 * TOLERANCE * plain.abs().max()


@pytest.mark.parametrize(("name", "values", "reason"), PAGED.values(), ids=PAGED)
def test_the_self_check_would_find_them(name: str, values: dict, reason: str) -> None:
    assert worst_error(*of(name, values)) > 10 * TOLERANCE


def test_what_a_configuration_lacks_is_named() -> None:
    kind, config = of("Llama", SIZES)
    check_supported(kind, config)
    with pytest.raises(InputError, match="how many positions"):
        check_supported(kind, transformers.BloomConfig())
    config.is_encoder_decoder = True
    with pytest.raises(InputError, match="it has an encoder"):
        check_supported(kind, config)
