"""Which tokenizers are read without the transformers library, and that it would read the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from transformers import AutoTokenizer

from maskwright.models import DEMO_PATH
from maskwright.models.plain_tokenizer import PlainTokenizer, read_plain_tokenizer
from maskwright.vocab.hugging_face import read_tokenizer
from tests.engine.tiny import END, PAD, save_checkpoint

TEXTS = ["the cat sat", "é 日本", f"a{END}b{PAD}", '{"a": [1, 2.5]}', ""]
CHAT = [{"role": "user", "content": "the cat"}, {"role": "assistant", "content": " sat"}]


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    return save_checkpoint(tmp_path / "tiny")


def edit(directory: Path, file: str, **changes: object) -> None:
    path = directory / file
    held = json.loads(path.read_text()) | changes
    path.write_text(json.dumps({name: held[name] for name in held if held[name] is not ...}))


def check_against_the_library(directory: Path) -> PlainTokenizer:
    found = read_plain_tokenizer(directory, "llama")
    assert found is not None
    expected: Any = AutoTokenizer.from_pretrained(directory, local_files_only=True)
    ours, theirs = found.backend_tokenizer, expected.backend_tokenizer
    assert json.loads(ours.to_str()) == json.loads(theirs.to_str())
    assert found.chat_template == expected.chat_template
    assert found.eos_token_id == expected.eos_token_id
    assert set(found.all_special_ids) == set(expected.all_special_ids)
    assert len(found) == len(expected)
    assert {n: str(t) for n, t in found.added_tokens_decoder.items()} == {
        n: str(t) for n, t in expected.added_tokens_decoder.items()
    }
    assert found.split_special_tokens == expected.split_special_tokens
    ids = range(min(300, len(expected)))
    assert found.convert_ids_to_tokens(ids) == expected.convert_ids_to_tokens(ids)
    for text in TEXTS:
        assert ours.encode(text).ids == theirs.encode(text).ids == expected.encode(text)
    for options in ({"add_generation_prompt": True}, {"continue_final_message": True}, {"x": 1}):
        own: dict[str, Any] = {"tokenize": False, **options}
        assert found.apply_chat_template(CHAT, **own) == expected.apply_chat_template(CHAT, **own)
    ours_read, theirs_read = read_tokenizer(found), read_tokenizer(expected)
    assert ours_read.tokens == theirs_read.tokens
    assert ours_read.special == theirs_read.special
    assert ours_read.eos == theirs_read.eos
    return found


def test_the_demo_model_s_tokenizer() -> None:
    check_against_the_library(DEMO_PATH)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"tokenizer_class": "PreTrainedTokenizerFast"},
        {"clean_up_tokenization_spaces": True, "model_max_length": 99},
        {"extra_special_tokens": [PAD]},
        {"eos_token": PAD, "pad_token": None},
        {"bos_token": END, "unk_token": END},
        {"eos_token": ...},
    ],
    ids=str,
)
def test_settings_that_are_known(checkpoint: Path, changes: dict[str, Any]) -> None:
    edit(checkpoint, "tokenizer.json", post_processor=processor())
    edit(checkpoint, "tokenizer_config.json", **changes)
    check_against_the_library(checkpoint)


def test_a_template_in_a_file_of_its_own_comes_first(checkpoint: Path) -> None:
    edit(checkpoint, "tokenizer.json", post_processor=processor())
    edit(checkpoint, "tokenizer_config.json", chat_template="{{ messages[-1].content }}")
    (checkpoint / "chat_template.jinja").write_text("é{{ messages[-1].content }}\n{{ eos_token }}")
    found = check_against_the_library(checkpoint)
    assert found.apply_chat_template(CHAT) == f"é sat\n{END}"


def processor() -> dict[str, Any]:
    sequence = {"Sequence": {"id": "A", "type_id": 0}}
    return {
        "type": "TemplateProcessing",
        "single": [{"SpecialToken": {"id": END, "type_id": 0}}, sequence],
        "pair": [sequence, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {END: {"id": END, "ids": [269], "tokens": [END]}},
    }


@pytest.mark.parametrize(
    ("file", "changes"),
    [
        ("tokenizer_config.json", {"tokenizer_class": "LlamaTokenizerFast"}),
        ("tokenizer_config.json", {"tokenizer_class": ...}),
        ("tokenizer_config.json", {"auto_map": {"AutoTokenizer": "x.y"}}),
        ("tokenizer_config.json", {"add_bos_token": True}),
        ("tokenizer_config.json", {"split_special_tokens": True}),
        ("tokenizer_config.json", {"added_tokens_decoder": {}}),
        ("tokenizer_config.json", {"backend": "sentencepiece"}),
        ("tokenizer_config.json", {"chat_template": [{"name": "a", "template": "b"}]}),
        ("tokenizer_config.json", {"eos_token": "the"}),
        ("tokenizer_config.json", {"eos_token": {"content": END, "special": True}}),
        ("tokenizer_config.json", {"extra_special_tokens": ["<|new|>"]}),
        ("tokenizer_config.json", {"extra_special_tokens": {"image_token": PAD}}),
        ("tokenizer.json", {"post_processor": None}),
        ("tokenizer.json", {"model": {"type": "None"}}),
        ("tokenizer.json", {"truncation": {"max_length": 9, "strategy": "LongestFirst",
                                           "stride": 0, "direction": "Right"}}),
    ],
    ids=str,
)  # fmt: skip
def test_what_is_left_to_the_library(checkpoint: Path, file: str, changes: dict[str, Any]) -> None:
    edit(checkpoint, "tokenizer.json", post_processor=processor())
    (checkpoint / "chat_template.jinja").unlink()
    assert read_plain_tokenizer(checkpoint, "llama") is not None
    edit(checkpoint, file, **changes)
    assert read_plain_tokenizer(checkpoint, "llama") is None


@pytest.mark.parametrize("model_type", ["qwen2", "mistral", None, ["llama"]])
def test_other_types_of_models_are_left_to_it(checkpoint: Path, model_type: object) -> None:
    edit(checkpoint, "tokenizer.json", post_processor=processor())
    assert read_plain_tokenizer(checkpoint, model_type) is None


@pytest.mark.parametrize("name", ["special_tokens_map.json", "added_tokens.json"])
def test_so_are_checkpoints_with_further_files(checkpoint: Path, name: str) -> None:
    edit(checkpoint, "tokenizer.json", post_processor=processor())
    (checkpoint / name).write_text("{}")
    assert read_plain_tokenizer(checkpoint, "llama") is None


@pytest.mark.parametrize("name", ["tokenizer.json", "tokenizer_config.json"])
def test_so_is_a_damaged_file(checkpoint: Path, name: str) -> None:
    edit(checkpoint, "tokenizer.json", post_processor=processor())
    (checkpoint / name).write_text("{")
    assert read_plain_tokenizer(checkpoint, "llama") is None
