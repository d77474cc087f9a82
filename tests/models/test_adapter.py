"""Adapters from peft's files: what is added, and what is refused by name."""

from __future__ import annotations

import json
import random
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from maskwright.errors import InputError
from maskwright.models import Adapter, AdapterFile, Decoder
from maskwright.models.config import parse_config
from maskwright.models.dense import DenseDecoder
from maskwright.models.transformers_backend.decoder import TransformersDecoder
from maskwright.models.transformers_backend.self_check import computed_in_parts, random_model
from tests.models.adapters import merge, save_adapter
from tests.models.families import DENSE, SIZES, config_of, model_class
from tests.models.products import comparison

ATTENTION = ["q_proj", "v_proj"]
ALL = [*ATTENTION, "k_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]


def dense(weights: dict[str, torch.Tensor], family: str) -> Decoder:
    kind, config = model_class(DENSE[family]), config_of(DENSE[family])
    raw = json.loads(config.to_json_string(use_diff=False)) | {"architectures": [kind.__name__]}
    return DenseDecoder(parse_config(raw), weights, torch.float32)


def library(weights: dict[str, torch.Tensor], family: str) -> Decoder:
    model = model_class(DENSE[family])(config_of(DENSE[family]))
    model.load_state_dict(weights)
    return TransformersDecoder(model)


def weights_of(family: str) -> dict[str, torch.Tensor]:
    with torch.inference_mode():
        torch.manual_seed(0)
        return random_model(model_class(DENSE[family]), config_of(DENSE[family])).state_dict()


def loaded(folder: Path, decoder: Decoder) -> Adapter:
    return AdapterFile.at("a", folder).load(decoder.adapter_shapes, decoder.dtype)


@pytest.mark.parametrize(
    ("family", "make", "targets"),
    [
        ("qwen2, window", dense, ALL),
        ("llama", dense, ["down_proj", "k_proj"]),
        ("llama", library, ALL),
        ("gemma3", library, ALL),
        ("gpt_neox", library, ["query_key_value", "dense_4h_to_h"]),
    ],
)
def test_a_mixed_batch_equals_merged_weights(
    family: str, make, targets: list[str], tmp_path: Path
) -> None:
    weights = weights_of(family)
    decoder: Decoder = make(weights, family)
    shapes = decoder.adapter_shapes
    first = save_adapter(tmp_path / "1", shapes, targets, seed=1)
    second = save_adapter(tmp_path / "2", shapes, targets[:1], seed=2, r=3, use_rslora=True)
    adapters = [None, loaded(tmp_path / "1", decoder), loaded(tmp_path / "2", decoder)]
    merged = [weights, merge(weights, first, 16 / 4), merge(weights, second, 16 / 3**0.5)]
    rng = random.Random(1)
    prompts = [[rng.randrange(SIZES["vocab_size"]) for _ in range(n)] for n in (5, 22, 9, 31, 13)]
    worn = [adapters[number % 3] for number in range(5)]
    compare = comparison(decoder, *adapters)
    with torch.inference_mode():
        plain = [
            computed_in_parts(make(merged[number % 3], family), [prompt], random.Random(0))[0]
            for number, prompt in enumerate(prompts)
        ]
        alone = [
            computed_in_parts(decoder, [prompt], random.Random(0), 1, [adapter])[0]
            for prompt, adapter in zip(prompts, worn, strict=True)
        ]
        together = computed_in_parts(decoder, prompts, random.Random(2), 12, worn)
        without = computed_in_parts(decoder, prompts, random.Random(0))
    for mine, reference, expected in zip(together, alone, plain, strict=True):
        compare(mine, reference, "logits depend on the neighbours")
        torch.testing.assert_close(mine, expected, atol=2e-4, rtol=2e-4)
    compare(together[0], without[0], "an adapter changes rows that are not its own")
    assert (together[1] - without[1]).abs().max() > 0.05, "an adapter that changes nothing"


@dataclass(frozen=True)
class Case:
    changes: dict
    scale: float
    rank: int = 4


@pytest.mark.parametrize(
    "case",
    [
        Case({}, 4.0),
        Case({"use_rslora": True}, 8.0),
        Case({"lora_alpha": 6}, 1.5),
        Case({"rank_pattern": {"q_proj": 2}}, 8.0, rank=2),
        Case({"alpha_pattern": {"self_attn.q_proj": 2}}, 0.5),
        Case({"alpha_pattern": {r"^model\.layers\.\d\.self_attn\.q_proj$": 2}}, 0.5),
        Case({"alpha_pattern": {"roj": 2}}, 4.0),
    ],
)
def test_scales_are_pefts(case: Case, tmp_path: Path) -> None:
    decoder = dense(weights_of("llama"), "llama")
    tensors = save_adapter(tmp_path, decoder.adapter_shapes, ATTENTION, **case.changes)
    name = "model.layers.1.self_attn.q_proj"
    part = loaded(tmp_path, decoder).modules[name]
    key = f"base_model.model.{name}.lora"
    assert part.down.shape[0] == case.rank
    assert torch.equal(part.down, tensors[f"{key}_A.weight"])
    torch.testing.assert_close(part.up, tensors[f"{key}_B.weight"] * case.scale)


REFUSED = [
    ({"use_dora": True}, "use_dora is not supported"),
    ({"bias": "all"}, "bias 'all' is not supported"),
    ({"lora_bias": True}, "lora_bias is not supported"),
    ({"modules_to_save": ["lm_head"]}, "modules_to_save is not supported"),
    ({"trainable_token_indices": [3]}, "trainable_token_indices is not supported"),
    ({"target_parameters": ["experts"]}, "target_parameters is not supported"),
    ({"layer_replication": [[0, 2]]}, "layer_replication is not supported"),
    ({"fan_in_fan_out": True}, "fan_in_fan_out is not supported"),
    ({"something_new": 1}, "something_new is not supported"),
    ({"init_lora_weights": "pissa"}, "init_lora_weights 'pissa' is not supported"),
    ({"peft_type": "LOHA"}, "peft_type 'LOHA' is not supported"),
    ({"r": 3}, "of rank 3 they are [3, 32]"),
    ({"r": None}, "two numbers are needed"),
    ({"target_modules": ["q_proj"]}, "v_proj, which target_modules doesn't name"),
    ({"target_modules": None}, "target_modules is None"),
]


@pytest.mark.parametrize(("changes", "message"), REFUSED)
def test_what_is_not_supported_is_refused_by_name(
    changes: dict, message: str, tmp_path: Path
) -> None:
    decoder = dense(weights_of("llama"), "llama")
    save_adapter(tmp_path, decoder.adapter_shapes, ATTENTION)
    file = tmp_path / "adapter_config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))
    with pytest.raises(InputError, match=r"^Adapter a: ") as e:
        loaded(tmp_path, decoder)
    assert message in str(e.value)
    assert (e.value.param, e.value.code) == ("adapter", "unsupported_adapter")


@pytest.mark.parametrize("targets", ["all-linear", r".*\.self_attn\.[qv]_proj"])
def test_target_modules_may_be_a_pattern(targets: str, tmp_path: Path) -> None:
    decoder = dense(weights_of("llama"), "llama")
    save_adapter(tmp_path, decoder.adapter_shapes, ATTENTION)
    file = tmp_path / "adapter_config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"target_modules": targets}))
    assert len(loaded(tmp_path, decoder).modules) == 8


def shape(outputs: int, inputs: int) -> dict[str, torch.Tensor]:
    return {"A": torch.zeros(4, inputs), "B": torch.zeros(outputs, 4)}


TENSORS = [
    ("lm_head", shape(97, 32), "the module lm_head is not one"),
    ("model.embed_tokens", shape(97, 32), "the module model.embed_tokens is not one"),
    ("model.layers.9.self_attn.q_proj", shape(32, 32), "model.layers.9.self_attn.q_proj is not"),
    ("model.layers.0.self_attn.q_proj", {"A": torch.zeros(4, 32)}, "one of the two matrices"),
]


@pytest.mark.parametrize("make", [dense, library])
@pytest.mark.parametrize(("module", "parts", "message"), TENSORS)
def test_modules_that_can_not_be_changed(
    module: str, parts: dict[str, torch.Tensor], message: str, make, tmp_path: Path
) -> None:
    decoder = make(weights_of("llama"), "llama")
    save_adapter(tmp_path, decoder.adapter_shapes, ATTENTION)
    tensors = {f"base_model.model.{module}.lora_{end}.weight": t for end, t in parts.items()}
    save_file(tensors, tmp_path / "adapter_model.safetensors")
    with pytest.raises(InputError, match=re.escape(message)):
        loaded(tmp_path, decoder)


def test_other_tensors_are_refused(tmp_path: Path) -> None:
    decoder = dense(weights_of("llama"), "llama")
    save_adapter(tmp_path, decoder.adapter_shapes, ATTENTION)
    file = tmp_path / "adapter_model.safetensors"
    other = "base_model.model.model.layers.0.self_attn.q_proj.lora_magnitude_vector"
    save_file(load_file(file) | {other: torch.zeros(3)}, file)
    with pytest.raises(InputError, match="lora_magnitude_vector is not a LoRA matrix"):
        loaded(tmp_path, decoder)
    save_file({}, file)
    with pytest.raises(InputError, match="it changes nothing"):
        loaded(tmp_path, decoder)


def test_only_safetensors_are_read(tmp_path: Path) -> None:
    decoder = dense(weights_of("llama"), "llama")
    save_adapter(tmp_path, decoder.adapter_shapes, ATTENTION)
    (tmp_path / "adapter_model.safetensors").rename(tmp_path / "adapter_model.bin")
    with pytest.raises(InputError, match=r"no adapter_model\.safetensors; only safetensors"):
        AdapterFile.at("a", tmp_path)
