"""Real vocabularies that need no download: they come inside the `mistral-common` package."""

from __future__ import annotations

import base64
import json
from functools import cache
from importlib.resources import files
from typing import Any

import tiktoken

from maskwright.vocab import Vocabulary

TEKKEN_EOS = 2  # `</s>`, among the 1,000 special tokens at the front


@cache
def tekken() -> Vocabulary:
    """Mistral's tekken of September 2024: byte-level BPE, 131,072 entries, 1,000 special."""
    ranks, config = _tekken_ranks()
    special = config["default_num_special_tokens"]
    return Vocabulary([b""] * special + ranks, special=range(special), eos=TEKKEN_EOS)


@cache
def tekken_encoding() -> tiktoken.Encoding:
    """Its tokenizer, giving the ids of `tekken()`."""
    ranks, config = _tekken_ranks()
    special = config["default_num_special_tokens"]
    return tiktoken.Encoding(
        "tekken",
        pat_str=config["pattern"],
        mergeable_ranks={token: special + rank for rank, token in enumerate(ranks)},
        special_tokens={f"<|{number}|>": number for number in range(special)},
    )


@cache
def _tekken_ranks() -> tuple[list[bytes], dict[str, Any]]:
    """The tokens that add text, by rank, and the file's configuration.

    The file holds more ranks than the vocabulary; those past its size are not tokens.
    """
    file = files("mistral_common").joinpath("data/tekken_240911.json")
    description = json.loads(file.read_text(encoding="utf-8"))
    config = description["config"]
    size = config["default_vocab_size"] - config["default_num_special_tokens"]
    ranks = sorted(description["vocab"], key=lambda entry: entry["rank"])[:size]
    return [base64.b64decode(entry["token_bytes"]) for entry in ranks], config
