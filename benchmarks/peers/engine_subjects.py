"""The models of engine.py, each in the form that the engine takes and in that of transformers."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import llguidance
import llguidance.hf
import torch
import xgrammar
from llguidance.tiktoken import lltokenizer_from_encoding
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedModel,
)

from benchmarks.vocabularies import tekken, tekken_encoding
from maskwright.models import DEMO_PATH, LoadedModel, load
from maskwright.models.config import parse_config
from maskwright.models.dense import DenseDecoder


@dataclass(frozen=True)
class Subject:
    """`prompt` makes the prompt tokens of one chat from a text and a schema; `llguidance` and
    `xgrammar` hold the vocabulary in the form of these libraries."""

    loaded: LoadedModel
    model: PreTrainedModel
    prompt: Callable[[str, Any], list[int]]
    llguidance: llguidance.LLTokenizer
    xgrammar: xgrammar.TokenizerInfo


def demo() -> Subject:
    """The demo model, which ships."""
    loaded, tokenizer = load(DEMO_PATH), AutoTokenizer.from_pretrained(DEMO_PATH)
    size = loaded.vocab.size
    return Subject(
        loaded,
        AutoModelForCausalLM.from_pretrained(DEMO_PATH, dtype=torch.float32).eval(),
        lambda text, schema: loaded.render_chat(
            [{"role": "user", "content": text}],
            response_schema=json.dumps(schema, separators=(",", ":")),
        ),
        llguidance.hf.from_tokenizer(tokenizer, n_vocab=size),
        xgrammar.TokenizerInfo.from_huggingface(
            tokenizer, vocab_size=size, stop_token_ids=list(loaded.eos)
        ),
    )


def random_tekken() -> Subject:
    """A model of two layers with random weights and a real vocabulary of 131,072 tokens."""
    vocab = tekken()
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=vocab.size,
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=2048,
        bos_token_id=None,
        eos_token_id=vocab.eos[0],
        tie_word_embeddings=True,
        architectures=["LlamaForCausalLM"],
    )
    model = LlamaForCausalLM(config).eval()
    decoder = DenseDecoder(parse_config(config.to_dict()), model.state_dict(), torch.float32)
    encoding = tekken_encoding()
    return Subject(
        LoadedModel("random-131072", decoder, None, vocab),  # type: ignore[arg-type] - no tokenizer
        model,
        lambda text, schema: encoding.encode(f"{json.dumps(schema)}\n{text}\n"),
        lltokenizer_from_encoding(encoding, n_vocab=vocab.size, eos_token=list(vocab.eos)),
        xgrammar.TokenizerInfo(
            [token or b"<|%d|>" % number for number, token in enumerate(vocab.tokens)],
            xgrammar.VocabType.RAW,
            vocab_size=vocab.size,
            stop_token_ids=list(vocab.eos),
        ),
    )


SUBJECTS = {"demo": demo, "random-131072": random_tekken}
