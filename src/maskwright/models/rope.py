"""Tables of the rotary position embedding, for each kind of rope that a configuration may name.

Frequencies have the float32 bits that the transformers library computes (`modeling_rope_utils`),
since checkpoints were trained with these.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, assert_never

import torch
from torch import Tensor

from maskwright.models.config import RopeConfig


def rope_table(config: RopeConfig, head_dim: int, positions: int) -> tuple[Tensor, Tensor]:
    """Return cosines and sines, float32 `[positions, 1, head_dim]`; the first half of the sines is
    negated.

    They are computed once, because the last bit of a vectorised cosine may depend on its place in
    the batch.
    """
    frequencies, factor = inverse_frequencies(config, head_dim)
    angles = torch.arange(positions, dtype=torch.float32)[:, None] * frequencies
    cos, sin = angles.cos() * factor, angles.sin() * factor
    return torch.cat((cos, cos), dim=-1)[:, None], torch.cat((-sin, sin), dim=-1)[:, None]


def inverse_frequencies(config: RopeConfig, head_dim: int) -> tuple[Tensor, float]:
    """Return the angle by which each pair of dimensions turns per position, float32
    `[head_dim / 2]`, and the factor of the cosines and sines."""
    plain = 1.0 / (
        config.theta ** (torch.arange(0, head_dim, 2, dtype=torch.int64).float() / head_dim)
    )
    match config.kind:
        case "default":
            return plain, 1.0
        case "linear":
            return plain / config.parameters["factor"], 1.0
        case "llama3":
            return _llama3(plain, config.parameters), 1.0
        case "yarn":
            return _yarn(config, head_dim)
        case _:
            assert_never(config.kind)


def _llama3(plain: Tensor, parameters: Mapping[str, Any]) -> Tensor:
    """Llama 3: divide low frequencies by the factor, keep high ones, and interpolate in between."""
    factor = parameters["factor"]
    low, high = parameters["low_freq_factor"], parameters["high_freq_factor"]
    context = parameters["original_max_position_embeddings"]
    wavelength = 2 * math.pi / plain
    scaled = torch.where(wavelength > context / low, plain / factor, plain)
    ramp = (context / wavelength - low) / (high - low)
    between = (1 - ramp) * scaled / factor + ramp * scaled
    medium = (wavelength >= context / high) & (wavelength <= context / low)
    return torch.where(medium, between, scaled)


def _yarn(config: RopeConfig, head_dim: int) -> tuple[Tensor, float]:
    """YaRN (arXiv 2309.00071): divide low frequencies by the factor, keep high ones."""
    parameters = config.parameters
    factor = parameters["factor"]
    context = parameters["original_max_position_embeddings"]

    def dimension(rotations: float) -> float:
        return (head_dim * math.log(context / (rotations * 2 * math.pi))) / (
            2 * math.log(config.theta)
        )

    low = dimension(parameters.get("beta_fast") or 32)
    high = dimension(parameters.get("beta_slow") or 1)
    if parameters.get("truncate", True):
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, head_dim - 1)
    if low == high:
        high += 0.001
    ramp = torch.clamp(
        (torch.arange(head_dim // 2, dtype=torch.float32) - low) / (high - low), 0, 1
    )
    powers = config.theta ** (torch.arange(0, head_dim, 2, dtype=torch.float) / head_dim)
    kept = 1 - ramp
    frequencies = 1.0 / (factor * powers) * (1 - kept) + 1.0 / powers * kept
    return frequencies, _yarn_factor(factor, parameters)


def _yarn_factor(factor: float, parameters: Mapping[str, Any]) -> float:
    def scale(weight: float) -> float:
        return 1.0 if factor <= 1 else 0.1 * weight * math.log(factor) + 1.0

    given = parameters.get("attention_factor")
    if given is not None:
        return float(given)
    weight, all_dims = parameters.get("mscale"), parameters.get("mscale_all_dim")
    if weight and all_dims:
        return scale(weight) / scale(all_dims)
    return scale(1.0)
