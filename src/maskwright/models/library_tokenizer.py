"""Tokenizers that the transformers library reads."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from transformers import AutoTokenizer, PreTrainedTokenizerFast

from maskwright.errors import InputError, first_line


def read_library_tokenizer(directory: Path, config: Mapping[str, Any]) -> PreTrainedTokenizerFast:
    """Read the tokenizer of a checkpoint with this config.json. Raises `InputError` if it can't be
    read, or is no fast one."""
    chosen = PreTrainedTokenizerFast if _is_plain_llama(directory, config) else AutoTokenizer
    try:
        tokenizer = chosen.from_pretrained(directory, local_files_only=True)
    except Exception as error:  # the library raises many kinds of errors for wrong files
        raise InputError(
            f"{directory}: its tokenizer can't be read: {type(error).__name__}: "
            f"{first_line(error)}",
            param="model",
        ) from error
    if not isinstance(tokenizer, PreTrainedTokenizerFast):
        raise InputError(f"{directory}: its tokenizer is not a fast one.", param="model")
    return tokenizer


def _is_plain_llama(directory: Path, raw: Mapping[str, Any]) -> bool:
    """Whether `AutoTokenizer` would choose `PreTrainedTokenizerFast`, for the one type of model of
    which that is easy to say. To find out, `AutoTokenizer` imports the library's code of the model,
    which takes two seconds."""
    file = directory / "tokenizer_config.json"
    settings = json.loads(file.read_bytes()) if file.exists() else {}
    return (
        raw.get("model_type") == "llama"
        and settings.get("tokenizer_class") in ("PreTrainedTokenizerFast", "TokenizersBackend")
        and "auto_map" not in settings
    )
