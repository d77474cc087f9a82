"""Checkpoints from disk: what is loaded, and what is refused by name."""

import json
import pickle
import re
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

import pytest
import torch
from huggingface_hub.utils import filter_repo_objects
from safetensors.torch import load_file, save_file
from transformers import AutoTokenizer

from maskwright.errors import InputError
from maskwright.models import Backend, LoadedModel, load
from maskwright.models.config import read_config
from maskwright.models.dense import DenseDecoder
from maskwright.models.load import read_library_tokenizer
from maskwright.models.transformers_backend.decoder import TransformersDecoder
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
    assert loaded.tokenizer.convert_ids_to_tokens(loaded.eos) == [END]
    assert loaded.vocab.tokens[loaded.vocab.size - 1] == b""
    assert loaded.vocab.decode(loaded.encode("the cat é")) == "the cat é".encode()


@pytest.mark.parametrize(
    ("settings", "model"),
    [
        ({"tokenizer_class": "PreTrainedTokenizerFast"}, "llama"),
        ({"tokenizer_class": "TokenizersBackend"}, "llama"),
        ({"tokenizer_class": "LlamaTokenizerFast"}, "llama"),
        ({"tokenizer_class": None}, "llama"),
        ({"tokenizer_class": "PreTrainedTokenizerFast"}, "qwen2"),
        ({"tokenizer_class": "PreTrainedTokenizerFast"}, "qwen3"),
        ({"tokenizer_class": "PreTrainedTokenizerFast"}, "mistral"),
    ],
)
def test_the_tokenizer_is_the_one_that_the_library_chooses(
    checkpoint: Path, settings: dict, model: str
) -> None:
    edit(checkpoint, "tokenizer_config.json", **settings)
    edit(checkpoint, model_type=model)
    found = read_library_tokenizer(checkpoint, read_config(checkpoint))
    expected = AutoTokenizer.from_pretrained(checkpoint, local_files_only=True)
    assert type(found) is type(expected)
    assert found.init_kwargs == expected.init_kwargs
    assert found.backend_tokenizer.to_str() == expected.backend_tokenizer.to_str()


def split(checkpoint: Path) -> None:
    """Its weights in three shards."""
    weights = load_file(checkpoint / "model.safetensors")
    names = sorted(weights)
    index = {"metadata": {}, "weight_map": {}}
    for number in range(3):
        part = {name: weights[name] for name in names[number::3]}
        save_file(part, checkpoint / f"model-{number}.safetensors", {"format": "pt"})
        index["weight_map"] |= dict.fromkeys(part, f"model-{number}.safetensors")
    (checkpoint / "model.safetensors").unlink()
    (checkpoint / "model.safetensors.index.json").write_text(json.dumps(index))


def test_shards_are_one_checkpoint(checkpoint: Path) -> None:
    whole = load(checkpoint)
    split(checkpoint)
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
        load(checkpoint, backend="dense")


@pytest.mark.parametrize("missing", ["config.json", "model.safetensors", "tokenizer.json"])
def test_missing_files_are_named(checkpoint: Path, missing: str) -> None:
    (checkpoint / missing).unlink()
    with pytest.raises(InputError, match=missing.replace(".", r"\.")):
        load(checkpoint)


@pytest.mark.parametrize("backend", ["dense", "transformers"])
def test_a_pickle_is_not_opened(checkpoint: Path, backend: Backend) -> None:
    (checkpoint / "model.safetensors").unlink()
    (checkpoint / "pytorch_model.bin").write_bytes(pickle.dumps(Opened()))
    message = r"only safetensors.*what is there, pytorch_model\.bin, is never opened"
    with pytest.raises(InputError, match=message):
        load(checkpoint, backend=backend)


class Opened:
    """A pickle that says when it is opened."""

    def __reduce__(self) -> tuple[object, ...]:
        return pytest.fail, ("the pickle was opened",)


INDICES = [
    ({}, "not an index of shards"),
    ([], "not an index of shards"),
    ({"weight_map": {"a": "pytorch_model.bin"}}, "lacks pytorch_model.bin"),
    ({"weight_map": {"a": "../model.safetensors"}}, "lacks ../model.safetensors"),
    ({"weight_map": {"a": "model-1.safetensors"}}, "lacks model-1.safetensors"),
]


@pytest.mark.parametrize("backend", ["dense", "transformers"])
@pytest.mark.parametrize(("index", "message"), INDICES)
def test_an_index_lists_safetensors_beside_it(
    checkpoint: Path, index: object, message: str, backend: Backend
) -> None:
    save_file({}, checkpoint.parent / "model.safetensors")
    (checkpoint / "pytorch_model.bin").touch()
    (checkpoint / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(InputError, match=re.escape(message)):
        load(checkpoint, backend=backend)


def test_a_hub_id_brings_safetensors_of_the_top_folder_alone(
    checkpoint: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (checkpoint / "original").mkdir()
    for name in ("pytorch_model.bin", "original/model.safetensors", "modeling_tiny.py"):
        (checkpoint / name).touch()
    asked: list[str] = []

    def download(name: str, **patterns: list[str]) -> str:
        asked.append(name)
        names = [str(f.relative_to(checkpoint)) for f in checkpoint.rglob("*") if f.is_file()]
        kept = set(filter_repo_objects(names, **patterns))
        for extra in set(names) - kept:
            (checkpoint / extra).unlink()
        return str(checkpoint)

    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    assert load("org/tiny").name == "org/tiny"
    assert asked == ["org/tiny"]
    left = {f.name for f in checkpoint.rglob("*") if f.is_file()}
    assert {"config.json", "model.safetensors", "tokenizer.json", "chat_template.jinja"} <= left
    assert {path.suffix for path in checkpoint.rglob("*") if path.is_file()} <= {
        *(".json", ".safetensors", ".jinja"),
    }
    assert not list((checkpoint / "original").iterdir())


def test_half_a_file_is_reported(checkpoint: Path) -> None:
    file = checkpoint / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-9])
    with pytest.raises(InputError, match=r"model\.safetensors is not a complete safetensors file"):
        load(checkpoint)


# What the transformers library is asked about: the rest is refused by name there too.
REFUSED_THERE = [
    ({"architectures": ["BloomForCausalLM"]}, "BloomForCausalLM.*served as LlamaForCausalLM"),
    (
        {"architectures": ["T5Model"], "model_type": "t5"},
        "T5Model .*not a decoder for text generation",
    ),
    ({"model_type": None}, "^Architecture LlamaForCausalLM .model_type None. is not supported: "),
    ({"model_type": ["llama"]}, r"model_type \['llama'\]"),
    ({"quantization_config": {"quant_method": "gptq"}}, "LlamaForCausalLM.*quantised"),
    ({"rope_parameters": {"rope_type": "dynamic", "factor": 2.0}}, "rope type 'dynamic'"),
    ({"num_hidden_layers": 3}, "does not fill LlamaForCausalLM: missing keys: model.layers.2"),
]


@pytest.mark.parametrize(("changes", "message"), REFUSED_THERE)
def test_refused_by_name_by_the_library_too(checkpoint: Path, changes: dict, message: str) -> None:
    edit(checkpoint, **changes)
    with pytest.raises(InputError, match=message):
        load(checkpoint, backend="transformers")


@pytest.mark.parametrize("backend", ["auto", "transformers"])
@pytest.mark.parametrize("own_code", [False, True])
def test_an_architecture_that_nobody_knows_gets_no_advice_of_the_library(
    checkpoint: Path, backend: Backend, own_code: bool
) -> None:
    changes = {"auto_map": {"AutoConfig": "x.C"}} if own_code else {}
    edit(checkpoint, architectures=["NewForCausalLM"], model_type="new_kind", **changes)
    with pytest.raises(InputError) as caught:
        load(checkpoint, backend=backend)
    assert str(caught.value) == (
        "Architecture NewForCausalLM (model_type 'new_kind') is not supported: it is none of "
        "LlamaForCausalLM, MistralForCausalLM, Qwen2ForCausalLM, Qwen3ForCausalLM, and "
        f"transformers {version('transformers')}, which is installed, doesn't know it."
        + " Code that comes with a checkpoint is never run."
        * own_code
    )
    assert (caught.value.param, caught.value.code) == ("model", "unsupported_model")


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"hidden_size": "wide"}, "config.json"),  # a configuration that the library can't read
        ({"num_attention_heads": 3}, "config.json"),
    ],
)
def test_what_the_library_says_is_one_line(checkpoint: Path, changes: dict, text: str) -> None:
    edit(checkpoint, **changes)
    with pytest.raises(InputError, match=text) as caught:
        load(checkpoint, backend="transformers")
    assert "\n" not in str(caught.value)
    assert caught.value.param == "model"


def test_a_tokenizer_that_is_none_is_reported(checkpoint: Path) -> None:
    (checkpoint / "tokenizer.json").write_text('{"model": {"type": "None"}}')
    with pytest.raises(InputError, match="its tokenizer can't be read: ") as caught:
        load(checkpoint)
    assert "\n" not in str(caught.value)
    assert caught.value.param == "model"


@pytest.mark.parametrize(
    ("changes", "backend", "kind"),
    [
        ({}, "auto", DenseDecoder),
        ({}, "transformers", TransformersDecoder),
        ({"hidden_act": "gelu"}, "auto", TransformersDecoder),
    ],
)
def test_auto_takes_the_dense_decoder_where_it_can(
    checkpoint: Path, changes: dict, backend: Backend, kind: type
) -> None:
    edit(checkpoint, **changes)
    loaded = load(checkpoint, backend=backend)
    assert isinstance(loaded.decoder, kind)
    assert loaded.decoder.vocab_size == loaded.vocab.size
    assert loaded.decoder.max_positions == 256
    assert loaded.tokenizer.convert_ids_to_tokens(loaded.eos) == [END]


def test_shards_are_one_checkpoint_there_too(checkpoint: Path) -> None:
    whole = load(checkpoint, backend="transformers").decoder
    split(checkpoint)
    parts = load(checkpoint, backend="transformers").decoder
    assert isinstance(whole, TransformersDecoder)
    assert isinstance(parts, TransformersDecoder)
    for mine, theirs in zip(parts.model.parameters(), whole.model.parameters(), strict=True):
        assert torch.equal(mine, theirs)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"path_or_id": "/nowhere/at/all"}, "no directory"),
        ({"path_or_id": Path("nowhere")}, "no directory"),
        ({"dtype": "int3"}, "dtype 'int3'"),
        ({"device": "tpu"}, "device 'tpu'"),
        ({"backend": "vllm"}, "backend 'vllm'"),
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


@pytest.mark.parametrize("kernels", [False, True])
def test_compiled_kernels_are_kept_beside_tables(
    kernels: bool, checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where kernels run, and something is kept at all."""
    module = import_module("maskwright.models.load")
    asked: list[Path] = []
    monkeypatch.setattr(module, "keep_compiled", asked.append)

    def run_on(device: torch.device) -> bool:
        return kernels

    monkeypatch.setattr(module, "kernels_run_on", run_on)
    load(checkpoint)
    assert asked == []
    load(checkpoint, cache=tmp_path / "cache")
    assert asked == [tmp_path / "cache" / "kernels"] * kernels
