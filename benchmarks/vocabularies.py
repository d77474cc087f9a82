"""Real vocabularies that need no download: they come inside the `mistral-common` package."""

from __future__ import annotations

import base64
import json
from functools import cache
from importlib.resources import files

from maskwright.vocab import Vocabulary

TEKKEN_EOS = 2  # `</s>`, among the 1,000 special tokens at the front


@cache
def tekken() -> Vocabulary:
    """Mistral's tekken of September 2024: byte-level BPE, 131,072 entries, 1,000 of them special.

    The file holds more ranks than the vocabulary; those past its size are not tokens.
    """
    file = files("mistral_common").joinpath("data/tekken_240911.json")
    description = json.loads(file.read_text(encoding="utf-8"))
    size = description["config"]["default_vocab_size"]
    special = description["config"]["default_num_special_tokens"]
    ranks = sorted(description["vocab"], key=lambda entry: entry["rank"])[: size - special]
    tokens = [base64.b64decode(entry["token_bytes"]) for entry in ranks]
    return Vocabulary([b""] * special + tokens, special=range(special), eos=TEKKEN_EOS)
