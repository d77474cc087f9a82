"""Reads the decoder's shape from a checkpoint's config.json; unknown settings are refused by
name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast, get_args

from maskwright.errors import InputError
from maskwright.immutable import Immutable
from maskwright.json_faults import json_reason

Architecture = Literal[
    "LlamaForCausalLM", "MistralForCausalLM", "Qwen2ForCausalLM", "Qwen3ForCausalLM"
]
ARCHITECTURES: tuple[Architecture, ...] = get_args(Architecture)

KV_HEADS: Mapping[Architecture, int] = {
    "MistralForCausalLM": 8,
    "Qwen2ForCausalLM": 32,
    "Qwen3ForCausalLM": 32,
}
"""The number of key/value heads if a configuration of this architecture has no such field, as in
the transformers library. In other architectures, or if the field is null, it is the number of
heads."""

WINDOW = 4096
"""The sliding window, in positions, if a configuration has no such field; null means no window."""


class RopeConfig(Immutable):
    """The kind of rotary position embedding, and the parameters that config.json gives for it."""

    kind: Literal["default", "linear", "llama3", "yarn"]
    theta: float
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """The shape of a dense decoder.

    `windows` has one entry a layer: the sliding window in positions, or None for full attention.
    """

    architecture: Architecture
    vocab_size: int
    hidden: int
    intermediate: int
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    max_positions: int
    norm_eps: float
    rope: RopeConfig
    windows: tuple[int | None, ...]
    tied_embeddings: bool
    qkv_bias: bool
    output_bias: bool
    mlp_bias: bool
    qk_norm: bool

    @property
    def row_numbers(self) -> int:
        """How many numbers the activations of one layer of each kind are, for one row of a step:
        they are kept for other layers of the kind (`kernels/noting.py`)."""
        heads = (self.heads + 2 * self.kv_heads) * self.head_dim
        of_layer = 8 * self.hidden + 3 * heads + 3 * self.intermediate
        return of_layer * len(set(self.windows))

    @property
    def product_sizes(self) -> tuple[tuple[int, int], ...]:
        """The numbers of outputs and inputs of the four products of a layer."""
        queries, keys = self.heads * self.head_dim, self.kv_heads * self.head_dim
        return (
            (queries + 2 * keys, self.hidden),
            (self.hidden, queries),
            (2 * self.intermediate, self.hidden),
            (self.hidden, self.intermediate),
        )

    @property
    def parameters(self) -> int:
        """The number of parameters, shared ones counted once."""
        queries, keys = self.heads * self.head_dim, self.kv_heads * self.head_dim
        products = sum(outputs * inputs for outputs, inputs in self.product_sizes)
        biases = self.qkv_bias * (queries + 2 * keys) + self.output_bias * self.hidden
        biases += self.mlp_bias * (2 * self.intermediate + self.hidden)
        norms = 2 * self.hidden + self.qk_norm * 2 * self.head_dim
        embeddings = self.vocab_size * self.hidden * (1 if self.tied_embeddings else 2)
        return embeddings + self.layers * (products + biases + norms) + self.hidden


def read_config(directory: Path) -> dict[str, Any]:
    """Return the contents of config.json, with the `eos_token_id` of generation_config.json if
    there is one."""
    raw = read_json(directory / "config.json")
    generation = directory / "generation_config.json"
    eos = read_json(generation).get("eos_token_id") if generation.exists() else None
    return raw if eos is None else {**raw, "eos_token_id": eos}


def read_json(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file. Raises `InputError` if there is none."""
    try:
        contents: object = json.loads(path.read_text("utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(
            f"{path.parent} is not a checkpoint: it has no {path.name}", param="model"
        ) from None
    except ValueError as error:
        raise InputError(f"{path} is not JSON: {json_reason(error)}", param="model") from error
    if not isinstance(contents, dict):
        raise InputError(f"{path} is not a JSON object.", param="model")
    return cast(dict[str, Any], contents)


def unsupported(message: str) -> InputError:
    """Return the error for a model that is refused."""
    return InputError(message, param="model", code="unsupported_model")


def parse_config(raw: Mapping[str, Any]) -> ModelConfig:
    """Return the `ModelConfig` for the contents of config.json. Raises `InputError` with the name
    of what isn't supported."""
    try:
        return _parse(raw)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"config.json: missing or malformed field: {error}", param="model"
        ) from error


def _parse(raw: Mapping[str, Any]) -> ModelConfig:
    architecture = _architecture(raw)
    for field, allowed in (("hidden_act", (None, "silu")), ("quantization_config", (None,))):
        if raw.get(field) not in allowed:
            raise unsupported(f"config.json: {field} {raw[field]!r} is not supported.")
    heads, layers = int(raw["num_attention_heads"]), int(raw["num_hidden_layers"])
    llama, qwen3 = architecture == "LlamaForCausalLM", architecture == "Qwen3ForCausalLM"
    # Biases are fixed by the family, except in Llama and Qwen3, where the configuration decides.
    attention_bias = (llama or qwen3) and bool(raw.get("attention_bias", False))
    return ModelConfig(
        architecture=architecture,
        vocab_size=int(raw["vocab_size"]),
        hidden=int(raw["hidden_size"]),
        intermediate=int(raw["intermediate_size"]),
        layers=layers,
        heads=heads,
        kv_heads=int(raw.get("num_key_value_heads", KV_HEADS.get(architecture)) or heads),
        head_dim=int(raw.get("head_dim") or (128 if qwen3 else int(raw["hidden_size"]) // heads)),
        max_positions=int(raw["max_position_embeddings"]),
        norm_eps=float(raw.get("rms_norm_eps", 1e-6)),
        rope=_rope(raw),
        windows=_windows(raw, architecture, layers),
        tied_embeddings=bool(raw.get("tie_word_embeddings", False)),
        qkv_bias=attention_bias or architecture == "Qwen2ForCausalLM",
        output_bias=attention_bias,
        mlp_bias=llama and bool(raw.get("mlp_bias", False)),
        qk_norm=qwen3,
    )


def _architecture(raw: Mapping[str, Any]) -> Architecture:
    named: list[str] = raw.get("architectures") or []
    for architecture in ARCHITECTURES:
        if named == [architecture]:
            return architecture
    shown = ", ".join(named) or raw.get("model_type") or "none named"
    raise unsupported(
        f"Architecture {shown} is not supported; supported are {', '.join(ARCHITECTURES)}."
    )


def _rope(raw: Mapping[str, Any]) -> RopeConfig:
    """Read `rope_parameters` (transformers 5), or `rope_theta` and `rope_scaling` (earlier
    versions)."""
    parameters: dict[str, Any] = dict(raw.get("rope_parameters") or raw.get("rope_scaling") or {})
    theta = float(parameters.get("rope_theta") or raw.get("rope_theta") or 10000.0)
    kind = parameters.get("rope_type") or parameters.get("type") or "default"
    if kind not in {"default", "linear", "llama3", "yarn"}:
        raise unsupported(
            f"config.json: rope type {kind!r} is not supported; supported are default, linear, "
            "llama3 and yarn."
        )
    if float(raw.get("partial_rotary_factor") or parameters.get("partial_rotary_factor") or 1) != 1:
        raise unsupported("config.json: partial_rotary_factor is not supported.")
    parameters.setdefault("original_max_position_embeddings", raw["max_position_embeddings"])
    return RopeConfig(kind, theta, parameters)


def _windows(
    raw: Mapping[str, Any], architecture: Architecture, layers: int
) -> tuple[int | None, ...]:
    window = raw.get("sliding_window", WINDOW)
    if architecture == "LlamaForCausalLM" or window is None:
        return (None,) * layers
    if architecture == "MistralForCausalLM":
        return (int(window),) * layers
    if not raw.get("use_sliding_window", False):
        return (None,) * layers
    kinds: list[str] | None = raw.get("layer_types")
    if kinds is None:
        first = int(raw.get("max_window_layers", 28))
        kinds = ["sliding_attention" if i >= first else "full_attention" for i in range(layers)]
    for kind in kinds:
        if kind not in {"full_attention", "sliding_attention"}:
            raise unsupported(f"config.json: layer type {kind!r} is not supported.")
    return tuple(int(window) if kind == "sliding_attention" else None for kind in kinds)


def end_tokens(raw: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the end tokens of a configuration; none if it has no such field."""
    value: int | list[int] | None = raw.get("eos_token_id")
    if value is None:
        return ()
    return (value,) if isinstance(value, int) else tuple(value)
