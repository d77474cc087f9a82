"""What capacity depends on, as a checkpoint's config.json says it. Imports torch, through the
packages of models and of the engine."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from maskwright.engine import EngineConfig
from maskwright.models.config import parse_config, read_config
from maskwright.sizing.serving_plan import WEIGHT_BITS, ModelShape, workspace_bytes

DEFAULTS: Final = EngineConfig()


def read_shape(model: str, weight_dtype: str | None) -> tuple[ModelShape, int]:
    """Return the shape of a model, and the workspace in bytes that the engine's default settings
    need for it. `model`: a folder with a config.json, or that file. `weight_dtype` replaces the
    data type that the file names. Raises InputError."""
    path = Path(model)
    raw = read_config(path.parent if path.name == "config.json" else path)
    config = parse_config(raw)
    named = weight_dtype or raw.get("dtype") or raw.get("torch_dtype")
    bits = WEIGHT_BITS.get(str(named), WEIGHT_BITS["bfloat16"])
    itemsize = max(2, bits // 8)
    weights = config.parameters * bits // 8
    if named == "fp8":
        # As the engine keeps them: weights of products have one byte and their outputs a float32
        # scale; embeddings, head, norms and biases have two bytes.
        codes = config.layers * sum(outputs * inputs for outputs, inputs in config.product_sizes)
        scales = config.layers * sum(outputs for outputs, _ in config.product_sizes)
        weights = codes + 4 * scales + 2 * (config.parameters - codes)
    shape = ModelShape(
        layers=config.layers,
        kv_heads=config.kv_heads,
        head_dim=config.head_dim,
        weights=weights,
        weight_bits=bits,
        itemsize=itemsize,
    )
    workspace = workspace_bytes(
        row_bytes=config.row_numbers * itemsize,
        vocab_size=config.vocab_size,
        batch_tokens=DEFAULTS.max_batch_tokens,
        sampled=DEFAULTS.max_running * (1 + DEFAULTS.drafts),
    )
    return shape, workspace
