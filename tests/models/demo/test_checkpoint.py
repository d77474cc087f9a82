"""The checkpoint that ships with the package."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedTokenizerFast

from examples.demo_model.held_out import evaluate, held_out
from examples.demo_model.llama import Model, Shape
from maskwright.models import DEMO_PATH

FILES = (
    *("config.json", "generation_config.json", "model.safetensors"),
    *("tokenizer.json", "tokenizer_config.json"),
)
MEBIBYTE = 2**20
PERSON = {"type": "object", "properties": {"name": {"type": "string"}}}
TOOL = {
    "type": "function",
    "function": {"name": "add", "description": "Add é.", "parameters": PERSON},
}
COMPACT = '{"type":"object","properties":{"name":{"type":"string"}}}'


@pytest.fixture(scope="module")
def tokenizer() -> PreTrainedTokenizerFast:
    return AutoTokenizer.from_pretrained(DEMO_PATH)


def test_files() -> None:
    assert sorted(path.name for path in DEMO_PATH.iterdir()) == sorted(FILES)
    assert sum(path.stat().st_size for path in DEMO_PATH.iterdir()) <= 12 * MEBIBYTE


def test_weights_are_finite_halves() -> None:
    for name, tensor in load_file(DEMO_PATH / "model.safetensors").items():
        assert tensor.dtype == torch.float16, name
        assert tensor.isfinite().all(), name


def test_it_is_a_standard_llama(tokenizer: PreTrainedTokenizerFast) -> None:
    model, report = AutoModelForCausalLM.from_pretrained(DEMO_PATH, output_loading_info=True)
    assert type(model).__name__ == "LlamaForCausalLM"
    assert not report["missing_keys"]
    assert not report["unexpected_keys"]
    assert model.config.vocab_size == len(tokenizer) == 4000
    assert model.config.max_position_embeddings == 2048
    assert model.generation_config.eos_token_id == tokenizer.eos_token_id


@pytest.mark.parametrize(
    ("messages", "variables", "expected"),
    [
        ([("user", "Hi")], {}, "<|user|>Hi<|assistant|>"),
        (
            [("system", "Be brief."), ("user", "Hi"), ("assistant", "Hello!"), ("user", "Bye")],
            {},
            "<|system|>Be brief.<|user|>Hi<|assistant|>Hello!<|end|><|user|>Bye<|assistant|>",
        ),
        ([("developer", "D"), ("user", "U")], {}, "<|system|>D<|user|>U<|assistant|>"),
        (
            [("user", "Hi")],
            {"response_schema": COMPACT},
            f"<|schema|>{COMPACT}<|user|>Hi<|assistant|>",
        ),
        (
            [("user", "Hi")],
            {"response_schema": PERSON},
            f"<|schema|>{COMPACT}<|user|>Hi<|assistant|>",
        ),
        (
            [("system", "S"), ("user", "Hi")],
            {"tools": [TOOL, {"type": "function", "function": {"name": "now"}}]},
            '<|system|>S<|tools|>{"name":"add","description":"Add é.","parameters":'
            f'{COMPACT}}}\n{{"name":"now","parameters":{{}}}}<|user|>Hi<|assistant|>',
        ),
    ],
)
def test_chat_template(
    tokenizer: PreTrainedTokenizerFast,
    messages: Sequence[tuple[str, str]],
    variables: Mapping[str, Any],
    expected: str,
) -> None:
    chat = [{"role": role, "content": content} for role, content in messages]
    text = tokenizer.apply_chat_template(
        chat, add_generation_prompt=True, tokenize=False, **variables
    )
    assert text == expected


def test_chat_template_renders_calls_as_the_model_answers_them(
    tokenizer: PreTrainedTokenizerFast,
) -> None:
    calls = [
        {"id": "1", "type": "function", "function": {"name": "add", "arguments": '{"name": "X"}'}},
        {"id": "2", "type": "function", "function": {"name": "now", "arguments": {}}},
    ]
    chat = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "1", "content": "done"},
    ]
    text = tokenizer.apply_chat_template(chat, add_generation_prompt=True, tokenize=False)
    first, second = text.split("<|assistant|>")[1].removesuffix("<|end|><|tool|>done").split("\n")
    assert json.loads(first) == {"name": "add", "arguments": {"name": "X"}}
    assert json.loads(second) == {"name": "now", "arguments": {}}


def test_it_copies_held_out_values() -> None:
    """Far below the figures in docs/demo-model.md, far above a checkpoint that hardly trained."""
    tokenizer = AutoTokenizer.from_pretrained(DEMO_PATH)
    model = Model(Shape())
    weights = load_file(DEMO_PATH / "model.safetensors")
    model.load_state_dict({name.removeprefix("model."): w for name, w in weights.items()})
    loss, exact = evaluate(model, held_out(tokenizer, 40), tokenizer.pad_token_id)
    assert loss < 0.6
    assert exact > 0.5
