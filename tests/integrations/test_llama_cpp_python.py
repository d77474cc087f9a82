"""The logits processor inside llama-cpp-python, on the CPU, with a model of random weights."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from maskwright import BudgetError, compile_json_schema, compile_regex
from tests.engine.tiny import END, tokenizer
from tests.integrations.document import example

llama_cpp: Any = pytest.importorskip("llama_cpp", reason="needs `make llama-cpp`")
gguf: Any = pytest.importorskip("gguf", reason="needs `make llama-cpp`: gguf writes the model")

from maskwright.integrations.llama_cpp_python import LlamaCppProcessor, model_vocabulary  # noqa: E402

WIDTH, INNER, HEADS, LAYERS, CONTEXT = 32, 64, 4, 2, 128


def save_model(path: Path) -> None:
    """Write a Llama with random weights and the tokenizer of the engine's tests."""
    writer, fast = gguf.GGUFWriter(path, "llama"), tokenizer()
    words = sorted(fast.get_vocab().items(), key=lambda entry: entry[1])
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_vocab_size(len(words))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list([word for word, _ in words])
    special = set(fast.all_special_ids)
    kinds = gguf.TokenType
    writer.add_token_types([kinds.CONTROL if n in special else kinds.NORMAL for _, n in words])
    writer.add_token_merges(["t h"])
    writer.add_eos_token_id(fast.convert_tokens_to_ids(END))
    writer.add_add_bos_token(False)
    random = np.random.default_rng(0)

    def add(name: str, *shape: int) -> None:
        numbers = random.normal(0, 0.3, shape) if len(shape) > 1 else np.ones(shape)
        writer.add_tensor(name, numbers.astype(np.float32))

    add("token_embd.weight", len(words), WIDTH)
    add("output_norm.weight", WIDTH)
    add("output.weight", len(words), WIDTH)
    for layer in range(LAYERS):
        for part in ("attn_q", "attn_k", "attn_v", "attn_output"):
            add(f"blk.{layer}.{part}.weight", WIDTH, WIDTH)
        add(f"blk.{layer}.attn_norm.weight", WIDTH)
        add(f"blk.{layer}.ffn_norm.weight", WIDTH)
        add(f"blk.{layer}.ffn_gate.weight", INNER, WIDTH)
        add(f"blk.{layer}.ffn_up.weight", INNER, WIDTH)
        add(f"blk.{layer}.ffn_down.weight", WIDTH, INNER)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


@pytest.fixture(scope="module")
def llm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    path = tmp_path_factory.mktemp("gguf") / "tiny.gguf"
    save_model(path)
    model = llama_cpp.Llama(str(path), n_ctx=CONTEXT, n_threads=1, verbose=False)
    yield model
    model.close()


def complete(llm: Any, processor: LlamaCppProcessor, max_tokens: int, **more: Any) -> Any:
    answer = llm.create_completion(
        "the cat",
        max_tokens=max_tokens,
        logits_processor=llama_cpp.LogitsProcessorList([processor]),
        **more,
    )
    return answer["choices"][0]


def test_the_vocabulary_is_that_of_the_tokenizer(llm: Any) -> None:
    vocab, fast = model_vocabulary(llm), tokenizer()
    assert vocab.eos == (fast.convert_tokens_to_ids(END),)
    for token, text in enumerate(vocab.tokens):
        if token not in fast.all_special_ids:
            assert text.decode(errors="replace") == fast.decode([token])
    assert {bytes([byte]) for byte in range(256)} <= set(vocab.tokens)


@pytest.mark.parametrize("temperature", [0.0, 1.0, 3.0])
def test_answers_match_their_schema(llm: Any, temperature: float) -> None:
    schema = {
        "type": "object",
        "properties": {"n": {"type": "integer"}, "ok": {"type": "boolean"}},
        "required": ["n", "ok"],
        "additionalProperties": False,
    }
    grammar = compile_json_schema(schema, model_vocabulary(llm), integers="digits")
    for seed in range(4):
        processor = LlamaCppProcessor(grammar, max_tokens=40)
        answer = complete(llm, processor, 40, temperature=temperature, seed=seed)
        assert processor.error is None
        value = json.loads(answer["text"])
        assert isinstance(value["n"], int)
        assert isinstance(value["ok"], bool)


def test_the_answer_ends_when_it_is_complete(llm: Any) -> None:
    grammar = compile_regex("(ab){3}", model_vocabulary(llm))
    answer = complete(llm, LlamaCppProcessor(grammar), 60)
    assert (answer["text"], answer["finish_reason"]) == ("ababab", "stop")


def test_the_limit_is_kept(llm: Any) -> None:
    grammar = compile_regex("a{9,100}z", model_vocabulary(llm))
    answer = complete(llm, LlamaCppProcessor(grammar, max_tokens=15), 15, temperature=2.0)
    assert re.fullmatch("a{9,14}z", answer["text"])
    with pytest.raises(BudgetError) as refused:
        LlamaCppProcessor(grammar, max_tokens=9)
    assert refused.value.needed == 10


def test_without_the_processor_the_model_writes_something_else(llm: Any) -> None:
    free = llm.create_completion("the cat", max_tokens=15)["choices"][0]["text"]
    assert not re.fullmatch("a{9,14}z", free)


def test_a_second_completion_is_ended(llm: Any) -> None:
    grammar = compile_regex("[ab]{8}", model_vocabulary(llm))
    processor = LlamaCppProcessor(grammar)
    assert re.fullmatch("[ab]{8}", complete(llm, processor, 20)["text"])
    answer = complete(llm, processor, 20)
    assert answer["text"] == ""
    assert processor.error is not None
    assert "instead of one more" in processor.error


def test_the_example_of_the_document_runs_as_written(tmp_path: Path) -> None:
    save_model(tmp_path / "model.gguf")
    run = subprocess.run(
        [sys.executable, "-c", example("llama-cpp-python", "py")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    answer = json.loads(run.stdout)
    assert isinstance(answer["n"], int)
