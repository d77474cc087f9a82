"""What a config.json means that leaves keys out: what the transformers library takes it to mean."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

from maskwright.engine import Completion, Engine, EngineConfig, Request
from maskwright.errors import InputError
from maskwright.models import Backend, load
from maskwright.models.config import ARCHITECTURES, end_tokens, parse_config
from maskwright.models.dense import inverse_frequencies
from maskwright.sampling import SamplingParams
from tests.engine.tiny import save_checkpoint

REQUIRED: dict[str, Any] = {
    "vocab_size": 97,
    "hidden_size": 4096,
    "intermediate_size": 24,
    "num_hidden_layers": 40,
    "num_attention_heads": 64,
    "max_position_embeddings": 8192,
}
"""Keys without which a configuration is refused."""


def raw_config(family: str, **more: Any) -> dict[str, Any]:
    return {"architectures": [f"{family}ForCausalLM"], **REQUIRED, **more}


def library_config(family: str, **more: Any) -> Any:
    return getattr(transformers, f"{family}Config")(**REQUIRED, **more)


def windows_of(config: Any) -> tuple[int | None, ...]:
    """The window of each layer, as the library's models take it from their configuration."""
    window = getattr(config, "sliding_window", None)
    kinds = getattr(config, "layer_types", None)
    if kinds is None:
        return (window,) * config.num_hidden_layers
    return tuple(window if kind == "sliding_attention" else None for kind in kinds)


FAMILIES = ["Llama", "Mistral", "Qwen2", "Qwen3"]
SLIDING = {"use_sliding_window": True}

MEANT: list[tuple[str, dict[str, Any]]] = [
    *((family, {}) for family in FAMILIES),
    *((family, {"num_key_value_heads": 4, "head_dim": 32}) for family in FAMILIES),
    *((family, {"num_key_value_heads": None}) for family in ("Llama", "Qwen2", "Qwen3")),
    *((family, {"sliding_window": 100}) for family in FAMILIES),
    *((family, {"sliding_window": None}) for family in FAMILIES),
    *((family, {"tie_word_embeddings": True, "rms_norm_eps": 1e-5}) for family in FAMILIES),
    ("Mistral", {"head_dim": None}),
    *(
        (family, {**SLIDING, **more})
        for family in ("Qwen2", "Qwen3")
        for more in (
            {},
            {"sliding_window": 100},
            {"sliding_window": None},
            {"max_window_layers": 0},
            {"max_window_layers": 7},
            {"max_window_layers": 39},
            {"max_window_layers": 40},
            {"layer_types": ["full_attention", "sliding_attention"] * 20},
        )
    ),
    *((family, {"max_window_layers": 7}) for family in ("Qwen2", "Qwen3")),
]


@pytest.mark.parametrize(("family", "more"), MEANT)
def test_what_is_left_out_means_what_the_library_takes_it_for(
    family: str, more: dict[str, Any]
) -> None:
    mine, theirs = parse_config(raw_config(family, **more)), library_config(family, **more)
    head_dim = getattr(theirs, "head_dim", None)
    if head_dim is None:  # as the library's Qwen2 works it out
        head_dim = theirs.hidden_size // theirs.num_attention_heads
    assert mine.kv_heads == theirs.num_key_value_heads
    assert mine.head_dim == head_dim
    assert mine.norm_eps == theirs.rms_norm_eps
    assert mine.tied_embeddings == theirs.tie_word_embeddings
    assert mine.windows == (windows_of(theirs) if family != "Llama" else (None,) * 40)
    assert mine.rope.theta == theirs.rope_parameters["rope_theta"]
    assert mine.rope.kind == theirs.rope_parameters["rope_type"]


BIASES = [
    ("Llama", {}, (False, False, False)),
    ("Llama", {"attention_bias": True}, (True, True, False)),
    ("Llama", {"mlp_bias": True}, (False, False, True)),
    ("Mistral", {"attention_bias": True, "mlp_bias": True}, (False, False, False)),
    ("Qwen2", {}, (True, False, False)),
    ("Qwen2", {"attention_bias": False, "mlp_bias": True}, (True, False, False)),
    ("Qwen3", {}, (False, False, False)),
    ("Qwen3", {"attention_bias": True}, (True, True, False)),
]


@pytest.mark.parametrize(("family", "more", "expected"), BIASES)
def test_biases_are_those_of_the_librarys_layers(
    family: str, more: dict[str, Any], expected: tuple[bool, bool, bool]
) -> None:
    """Of the products for queries, keys and values; of attention's output; of the MLP."""
    mine = parse_config(raw_config(family, **more))
    assert (mine.qkv_bias, mine.output_bias, mine.mlp_bias) == expected
    small = {"num_hidden_layers": 1, "hidden_size": 64, "num_attention_heads": 4, "vocab_size": 9}
    with torch.device("meta"):
        config = getattr(transformers, f"{family}Config")(**{**REQUIRED, **small, **more})
        model = getattr(transformers, f"{family}ForCausalLM")(config)
    names = dict(model.named_parameters())
    counted = parse_config({**raw_config(family, **more), **small}).parameters
    assert counted == sum(weight.numel() for weight in names.values())
    assert expected == tuple(
        f"model.layers.0.{part}.bias" in names
        for part in ("self_attn.q_proj", "self_attn.o_proj", "mlp.up_proj")
    )
    assert mine.qk_norm == ("model.layers.0.self_attn.q_norm.weight" in names)


LLAMA3 = {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
ROPES: list[dict[str, Any]] = [
    {"rope_theta": 500000.0},
    {"rope_theta": None},
    {"rope_scaling": None},
    {"rope_scaling": {"type": "linear", "factor": 2.0}, "rope_theta": 1e6},
    {"rope_scaling": {"rope_type": "linear", "factor": 2.0}},
    {"rope_scaling": {"rope_type": "llama3", **LLAMA3, "original_max_position_embeddings": 1024}},
    {"rope_scaling": {"type": "yarn", "factor": 4.0}, "rope_theta": 1e6},
    {"rope_scaling": {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 2048}},
    {"rope_parameters": {"rope_type": "linear", "factor": 2.0}, "rope_theta": 1e6},
    {"rope_parameters": {"rope_type": "yarn", "factor": 4.0, "rope_theta": 1e6}},
]


@pytest.mark.parametrize("more", ROPES)
def test_angles_are_the_librarys(more: dict[str, Any]) -> None:
    """As written by its fifth version (`rope_parameters`) and by those before it."""
    rope = parse_config(raw_config("Llama", **more)).rope
    config = library_config("Llama", **{k: v for k, v in more.items() if v is not None})
    mine, factor = inverse_frequencies(rope, 64)
    if rope.kind == "default":
        theta = config.rope_parameters["rope_theta"]
        assert torch.equal(mine, 1.0 / theta ** (torch.arange(0, 64, 2).float() / 64))
        assert factor == 1.0
        return
    theirs, expected = ROPE_INIT_FUNCTIONS[rope.kind](config, torch.device("cpu"))
    assert torch.equal(mine, theirs)
    assert factor == expected


SMALL = {"hidden_size": 64, "num_attention_heads": 32, "intermediate_size": 24}
HALF_SLIDING = {**SLIDING, "sliding_window": 6, "max_window_layers": 1}
BARE: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    # What the model is made with, and what of it its file says.
    ("Llama", {"num_key_value_heads": 32}, {}),
    ("Mistral", {"num_key_value_heads": 8}, {}),
    ("Mistral", {"num_key_value_heads": 8}, {"sliding_window": 6}),
    ("Qwen2", {"num_key_value_heads": 32}, {}),
    (
        "Qwen2",
        {"num_key_value_heads": 32},
        {**SLIDING, "sliding_window": 6, "max_window_layers": 1},
    ),
    ("Qwen3", {"num_key_value_heads": 32, "head_dim": 128}, {}),
]


@pytest.mark.parametrize(("family", "made", "said"), BARE)
def test_a_bare_file_is_the_librarys_model(
    tmp_path: Path, family: str, made: dict[str, Any], said: dict[str, Any]
) -> None:
    """Of its two layers with random weights: as likely tokens, one after the other."""
    directory = save_checkpoint(tmp_path / "bare", family=family, **SMALL, **made, **said)
    file = directory / "config.json"
    full = json.loads(file.read_text())
    kept = {*REQUIRED, *said, "architectures", "model_type", "eos_token_id"}
    file.write_text(json.dumps({name: full[name] for name in kept}))
    answers: list[Completion] = []
    backends: tuple[Backend, ...] = ("dense", "transformers")
    for backend in backends:
        params = SamplingParams(temperature=0, logprobs=0)
        with Engine(load(directory, backend=backend), EngineConfig(blocks=16)) as engine:
            answers.append(engine.submit(Request([65] * 20, params, 12, eos=())).result())
    mine, theirs = answers
    assert mine.token_ids == theirs.token_ids
    raw = [score.raw for score in mine.scores]
    assert raw == pytest.approx([score.raw for score in theirs.scores], abs=1e-4)


@pytest.mark.parametrize("key", REQUIRED)
def test_a_key_without_a_default_is_named(key: str) -> None:
    raw = raw_config("Llama")
    del raw[key]
    with pytest.raises(InputError, match=f"missing or malformed field: '{key}'"):
        parse_config(raw)


def test_every_architecture_is_tested_here() -> None:
    assert [f"{family}ForCausalLM" for family in FAMILIES] == list(ARCHITECTURES)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [({}, ()), ({"eos_token_id": None}, ()), ({"eos_token_id": 3}, (3,)),
     ({"eos_token_id": [3, 5]}, (3, 5)), ({"eos_token_id": 0}, (0,))],
)  # fmt: skip
def test_end_tokens(raw: dict[str, Any], expected: tuple[int, ...]) -> None:
    assert end_tokens(raw) == expected
