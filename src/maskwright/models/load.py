"""Checkpoints: a directory or hub id in, a decoder with tokenizer and vocabulary out.

Nothing but safetensors is read; a pickle is never opened.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from huggingface_hub import snapshot_download
from safetensors.torch import load_file
from torch import Tensor
from transformers import AutoTokenizer, PreTrainedTokenizerFast

from maskwright.errors import InputError
from maskwright.models.chat import chat_tokens
from maskwright.models.config import ModelConfig, read_config
from maskwright.models.dense import DenseDecoder
from maskwright.vocab import Vocabulary

DEMO_PATH = Path(__file__).parent / "demo"
"""The checkpoint that ships with the package."""

_DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


@dataclass(frozen=True)
class LoadedModel:
    """A checkpoint ready to serve. Immutable; safe to share between threads."""

    name: str
    config: ModelConfig
    decoder: DenseDecoder
    tokenizer: PreTrainedTokenizerFast
    vocab: Vocabulary

    @property
    def eos(self) -> tuple[int, ...]:
        """End tokens, any of which ends an unconstrained answer."""
        return self.vocab.eos

    @property
    def chat_template(self) -> str:
        """The source of the checkpoint's chat template, empty if it has none."""
        template: object = self.tokenizer.chat_template
        return template if isinstance(template, str) else str(template or "")

    def encode(self, text: str) -> list[int]:
        """Token ids of `text`, special tokens added as the tokenizer is configured."""
        return list(self.tokenizer.encode(text))

    def render_chat(
        self,
        messages: Sequence[Mapping[str, Any]],
        response_schema: str | None = None,
        tools: Sequence[Mapping[str, Any]] | None = None,
    ) -> list[int]:
        """Prompt token ids of a chat, by the checkpoint's own chat template, ending where the
        assistant's answer begins. The template sees `response_schema` as a variable. What the
        messages say is text, even where it spells a control token; see `models.chat`."""
        if not self.tokenizer.chat_template:
            raise InputError(
                f"The model {self.name} has no chat template; send a plain prompt.",
                param="messages",
                code="no_chat_template",
            )
        return chat_tokens(
            self.tokenizer,
            messages,
            tools=None if tools is None else [dict(tool) for tool in tools],
            response_schema=response_schema,
        )


def load(
    path_or_id: str | Path = DEMO_PATH,
    *,
    dtype: str = "float32",
    device: str = "cpu",
    cache: Path | None = None,
) -> LoadedModel:
    """Load a checkpoint from a directory, or from the hub where `path_or_id` is no directory.

    `cache` is the vocabulary's.
    """
    if dtype not in _DTYPES:
        raise InputError(f"dtype {dtype!r}: one of {', '.join(_DTYPES)}.", param="dtype")
    if device != "cpu":
        raise InputError(f"device {device!r}: only cpu is supported.", param="device")
    directory = _directory(path_or_id)
    config = read_config(directory)
    decoder = DenseDecoder(config, _read_weights(directory), _DTYPES[dtype])
    tokenizer = _read_tokenizer(directory)
    vocab = Vocabulary.from_tokenizer(
        tokenizer, size=config.vocab_size, eos=_eos(config, tokenizer), cache=cache
    )
    name = "maskwright-demo" if directory == DEMO_PATH else directory.name
    if isinstance(path_or_id, str) and not Path(path_or_id).is_dir():
        name = path_or_id
    return LoadedModel(name, config, decoder, tokenizer, vocab)


def _directory(path_or_id: str | Path) -> Path:
    path = Path(path_or_id)
    if path.is_dir():
        return path
    text = str(path_or_id)
    if isinstance(path_or_id, Path) or text.count("/") > 1 or text.startswith((".", "/", "~")):
        raise InputError(f"There is no directory {text}.", param="model")
    patterns = ["*.json", "*.safetensors", "*.jinja", "tokenizer.model"]
    try:
        return Path(snapshot_download(text, allow_patterns=patterns))
    except (OSError, ValueError) as error:
        reason = str(error).strip().splitlines()[0]
        raise InputError(
            f"{text} is neither a directory nor a checkpoint that the hub gave: {reason}",
            param="model",
        ) from error


def _read_weights(directory: Path) -> dict[str, Tensor]:
    """All tensors, from model.safetensors or from the shards its index lists."""
    index = directory / "model.safetensors.index.json"
    if index.exists():
        shards = sorted(set(json.loads(index.read_text("utf-8"))["weight_map"].values()))
    else:
        shards = ["model.safetensors"]
    weights: dict[str, Tensor] = {}
    for shard in shards:
        file = directory / shard
        if file.parent != directory or not file.exists():
            raise InputError(
                f"{directory} lacks {shard}; only safetensors checkpoints are loaded.",
                param="model",
            )
        weights |= load_file(file)
    return weights


def _read_tokenizer(directory: Path) -> PreTrainedTokenizerFast:
    if not (directory / "tokenizer.json").exists():
        raise InputError(
            f"{directory} has no tokenizer.json; a fast tokenizer is needed.", param="model"
        )
    tokenizer = AutoTokenizer.from_pretrained(directory, local_files_only=True)
    if not isinstance(tokenizer, PreTrainedTokenizerFast):
        raise InputError(f"{directory}: its tokenizer is not a fast one.", param="model")
    return tokenizer


def _eos(config: ModelConfig, tokenizer: PreTrainedTokenizerFast) -> tuple[int, ...]:
    if config.eos:
        return config.eos
    token = tokenizer.eos_token_id
    return (token,) if isinstance(token, int) else ()
