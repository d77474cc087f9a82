"""Real vocabularies that need no download: they come inside the `mistral-common` package."""

from __future__ import annotations

import base64
import json
from functools import cache
from importlib.resources import files
from operator import itemgetter
from typing import Any

import tiktoken

from maskwright.vocab import Vocabulary

TEKKEN_EOS = 2  # `</s>`, among the 1,000 special tokens at the front


@cache
def tekken() -> Vocabulary:
    """Mistral's tekken of September 2024: byte-level BPE, 131,072 entries, 1,000 special."""
    ranks, config = _tekken_ranks()
    special = config["default_num_special_tokens"]
    return Vocabulary([b""] * special + [*ranks], special=range(special), eos=TEKKEN_EOS)


@cache
def tekken_extended(size: int = 200_019) -> Vocabulary:
    """Tekken made larger: with the ranks of its file beyond its size, then with words that end in a
    number, as large vocabularies have them; the end token is the last."""
    small = tekken()
    seen = set(small.tokens)
    further = [token for token in _tekken_file()[0] if token not in seen]
    words = [token for token in small.tokens if token.strip().isalpha() and token.isascii()]
    made = (word + b"%d" % (at % 997) for at, word in enumerate(words * 3))
    more = list(dict.fromkeys([*further, *(token for token in made if token not in seen)]))
    room = size - small.size - 1
    tokens = [*small.tokens, *more[:room], b""]
    return Vocabulary(tokens, special=small.special, eos=size - 1)


@cache
def sentencepiece_like(size: int = 32_000) -> Vocabulary:
    """`<unk>`, `<s>`, `</s>`, the 256 bytes and the printable ASCII characters, then the first of
    tekken's tokens that are whole characters."""
    whole = [token for token in tekken().tokens if len(token) > 1 and _is_whole(token)]
    letters = [bytes([byte]) for byte in range(0x21, 0x7F)]  # each also as a piece of its own
    head = [b"<unk>", b"<s>", b"</s>", *(bytes([byte]) for byte in range(256)), *letters]
    return Vocabulary([*head, *whole[: size - len(head)]], special=(0, 1), eos=2)


def _is_whole(token: bytes) -> bool:
    try:
        token.decode()
    except UnicodeDecodeError:
        return False
    return True


@cache
def tekken_encoding() -> tiktoken.Encoding:
    """Tekken's tokenizer, with the ids of `tekken()`."""
    ranks, config = _tekken_ranks()
    special = config["default_num_special_tokens"]
    return tiktoken.Encoding(
        "tekken",
        pat_str=config["pattern"],
        mergeable_ranks={token: special + rank for rank, token in enumerate(ranks)},
        special_tokens={f"<|{number}|>": number for number in range(special)},
    )


@cache
def _tekken_ranks() -> tuple[tuple[bytes, ...], dict[str, Any]]:
    """The tokens that add text, by rank, and the file's configuration.

    The file holds more ranks than the vocabulary has; those beyond its size are no tokens.
    """
    ranks, config = _tekken_file()
    return ranks[: config["default_vocab_size"] - config["default_num_special_tokens"]], config


def _tekken_file() -> tuple[tuple[bytes, ...], dict[str, Any]]:
    """The tokens by rank, and the configuration. What else the file has is let go of: hundreds of
    thousands of objects that each full collection of garbage would look at."""
    file = files("mistral_common").joinpath("data/tekken_240911.json")
    content = json.loads(file.read_text(encoding="utf-8"))
    ranks = sorted(content["vocab"], key=itemgetter("rank"))
    return tuple([base64.b64decode(entry["token_bytes"]) for entry in ranks]), content["config"]
