"""Checkpoints from disk: what is loaded, and what is refused by name."""

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from maskwright.errors import InputError
from maskwright.models import LoadedModel, load
from tests.engine.tiny import END, save_checkpoint


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    return save_checkpoint(tmp_path / "tiny")


def edit(directory: Path, file: str = "config.json", **changes: object) -> None:
    path = directory / file
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_a_checkpoint_has_everything(checkpoint: Path) -> None:
    loaded = load(checkpoint)
    assert loaded.name == "tiny"
    assert loaded.decoder.vocab_size == loaded.vocab.size == len(loaded.tokenizer) + 13
    assert [loaded.tokenizer.decode([i]) for i in loaded.eos] == [END]
    assert loaded.vocab.tokens[loaded.vocab.size - 1] == b""
    assert loaded.vocab.decode(loaded.encode("the cat é")) == "the cat é".encode()


def test_shards_are_one_checkpoint(checkpoint: Path, tmp_path: Path) -> None:
    whole = load(checkpoint)
    weights = load_file(checkpoint / "model.safetensors")
    names = sorted(weights)
    index = {"weight_map": {}}
    for number in range(3):
        part = {name: weights[name] for name in names[number::3]}
        save_file(part, checkpoint / f"model-{number}.safetensors")
        index["weight_map"] |= dict.fromkeys(part, f"model-{number}.safetensors")
    (checkpoint / "model.safetensors").unlink()
    (checkpoint / "model.safetensors.index.json").write_text(json.dumps(index))
    parts = load(checkpoint)
    assert torch.equal(parts.decoder.head, whole.decoder.head)
    assert torch.equal(parts.decoder.layers[1].qkv.weight, whole.decoder.layers[1].qkv.weight)


def test_generation_config_names_the_end(checkpoint: Path) -> None:
    edit(checkpoint, "generation_config.json", eos_token_id=[5, 7])
    assert load(checkpoint).eos == (5, 7)


def test_render_chat_follows_the_template(checkpoint: Path) -> None:
    loaded = load(checkpoint)
    messages = [{"role": "user", "content": "the cat"}]

    def text(ids: list[int]) -> str:
        return loaded.vocab.decode(ids).decode()

    assert text(loaded.render_chat(messages)) == "<|user|>the cat<|assistant|>"
    assert (
        text(loaded.render_chat(messages, response_schema="{}"))
        == "<|user|>the cat<|schema|>{}<|assistant|>"
    )


def test_no_chat_template_is_said(checkpoint: Path) -> None:
    (checkpoint / "chat_template.jinja").unlink()
    with pytest.raises(InputError, match="no chat template") as caught:
        load(checkpoint).render_chat([{"role": "user", "content": "x"}])
    assert caught.value.code == "no_chat_template"


REFUSED = [
    ({"architectures": ["BloomForCausalLM"]}, "BloomForCausalLM"),
    ({"architectures": []}, "llama"),
    ({"architectures": None, "model_type": None}, "none named"),
    ({"hidden_act": "gelu"}, "hidden_act 'gelu'"),
    ({"quantization_config": {"quant_method": "gptq"}}, "quantization_config"),
    ({"rope_parameters": {"rope_type": "dynamic", "factor": 2.0}}, "'dynamic'"),
    ({"rope_parameters": {"rope_type": "longrope"}}, "'longrope'"),
    ({"partial_rotary_factor": 0.5}, "partial_rotary_factor"),
    ({"hidden_size": None}, "malformed"),
    ({"num_hidden_layers": 3}, r"lacks the tensor model\.layers\.2"),
    ({"vocab_size": 10}, "smaller than the tokenizer"),
]


@pytest.mark.parametrize(("changes", "message"), REFUSED)
def test_refused_by_name(checkpoint: Path, changes: dict, message: str) -> None:
    edit(checkpoint, **changes)
    with pytest.raises(InputError, match=message):
        load(checkpoint)


@pytest.mark.parametrize("missing", ["config.json", "model.safetensors", "tokenizer.json"])
def test_missing_files_are_named(checkpoint: Path, missing: str) -> None:
    (checkpoint / missing).unlink()
    with pytest.raises(InputError, match=missing.replace(".", r"\.")):
        load(checkpoint)


def test_a_pickle_is_not_opened(checkpoint: Path) -> None:
    (checkpoint / "model.safetensors").rename(checkpoint / "pytorch_model.bin")
    with pytest.raises(InputError, match="only safetensors"):
        load(checkpoint)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"path_or_id": "/nowhere/at/all"}, "no directory"),
        ({"path_or_id": Path("nowhere")}, "no directory"),
        ({"dtype": "int3"}, "dtype 'int3'"),
        ({"device": "tpu"}, "device 'tpu'"),
    ],
)
def test_arguments_are_checked(arguments: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load(**arguments)


def test_half_precision_is_close(checkpoint: Path) -> None:
    full: LoadedModel = load(checkpoint)
    half = load(checkpoint, dtype="bfloat16")
    assert half.decoder.head.dtype == torch.bfloat16
    assert half.decoder.block_bytes(16) * 2 == full.decoder.block_bytes(16)
