"""Adapters as peft would save them, written by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors.torch import save_file

# What peft 0.15 writes for an adapter with nothing special.
CONFIG = {
    "alpha_pattern": {},
    "auto_mapping": None,
    "base_model_name_or_path": "tiny",
    "bias": "none",
    "corda_config": None,
    "eva_config": None,
    "exclude_modules": None,
    "fan_in_fan_out": False,
    "inference_mode": True,
    "init_lora_weights": True,
    "layer_replication": None,
    "layers_pattern": None,
    "layers_to_transform": None,
    "loftq_config": {},
    "lora_alpha": 16,
    "lora_bias": False,
    "lora_dropout": 0.1,
    "megatron_config": None,
    "megatron_core": "megatron.core",
    "modules_to_save": None,
    "peft_type": "LORA",
    "r": 4,
    "rank_pattern": {},
    "revision": None,
    "task_type": "CAUSAL_LM",
    "trainable_token_indices": None,
    "use_dora": False,
    "use_rslora": False,
}

Shapes = Mapping[str, tuple[int, int]]


def save_adapter(
    folder: Path, shapes: Shapes, targets: list[str], *, seed: int = 0, **changes: object
) -> dict[str, torch.Tensor]:
    """Write one with random matrices for all modules whose name ends in a target; the matrices."""
    config = {**CONFIG, "target_modules": targets, **changes}
    generator = torch.Generator().manual_seed(seed)
    tensors: dict[str, torch.Tensor] = {}
    for name, (outputs, inputs) in shapes.items():
        if name.rsplit(".", 1)[-1] in targets:
            rank = config["rank_pattern"].get(name.rsplit(".", 1)[-1], config["r"])
            key = f"base_model.model.{name}.lora"
            tensors[f"{key}_A.weight"] = torch.randn(rank, inputs, generator=generator) * 0.3
            tensors[f"{key}_B.weight"] = torch.randn(outputs, rank, generator=generator) * 0.1
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "adapter_config.json").write_text(json.dumps(config))
    save_file(tensors, folder / "adapter_model.safetensors")
    return tensors


def merge(
    weights: Mapping[str, torch.Tensor], tensors: Mapping[str, torch.Tensor], scale: float
) -> dict[str, torch.Tensor]:
    """A model's weights with an adapter of one `scale` added to them: what peft's
    merge_and_unload gives."""
    merged = {name: weight.clone() for name, weight in weights.items()}
    for key, down in tensors.items():
        if key.endswith(".lora_A.weight"):
            name = key.removeprefix("base_model.model.").removesuffix(".lora_A.weight")
            up = tensors[key.replace("lora_A", "lora_B")]
            merged[f"{name}.weight"] += scale * up @ down
    return merged
