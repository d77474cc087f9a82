"""How many tokens texts take at least, by their length in bytes alone.

No token has more bytes than the longest one. That is a bound where a tokenizer keeps each byte of a
text. Some remove characters, or make one token of any run of unknown ones; then there is none.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, cast

from maskwright.vocab.hugging_face import Backend
from maskwright.vocab.vocabulary import Vocabulary

NORMAL_FORM: Final = 3
"""How many times as long in UTF-8 as its composed or decomposed form (NFC, NFD) a text is at most:
U+0390 in its three parts has 6 bytes, and composed 2."""

_SPELLED: Final = frozenset(range(0x100)) - {0xC0, 0xC1, *range(0xF5, 0x100)}
"""The bytes that occur in UTF-8."""

_KEEPING: Final = frozenset(
    {"ByteLevel", "Digits", "FixedLength", "Metaspace", "Punctuation", "Split", "UnicodeScripts"}
)
"""Pre-tokenizers that remove nothing, unless that is the behaviour that is set."""


class LeastTextTokens:
    """Bounds for the texts of one tokenizer."""

    def __init__(self, backend: object, vocab: Vocabulary) -> None:
        """`backend`: a `tokenizers.Tokenizer`."""
        description = cast(dict[str, Any], json.loads(cast(Backend, backend).to_str()))
        self._shrinks = _shrinking(description, vocab)
        names = (name.encode() for name in vocab.special_tokens)
        self._longest = max(map(len, (*vocab.tokens, *names)))

    def of(self, texts: Iterable[str]) -> int:
        """Return how many tokens a text takes at least in which all of `texts` occur, each at a
        place of its own; 0 if there is no bound."""
        if self._shrinks is None:
            return 0
        size = 0  # in parts of a byte
        for text in texts:
            size += len(text) * self._shrinks if text.isascii() else len(text.encode())
        return -(-size // (self._longest * self._shrinks))


def _shrinking(description: Mapping[str, Any], vocab: Vocabulary) -> int | None:
    """Return by which factor a text may become shorter before it is cut into tokens; None if there
    is no bound."""
    if any(token["lstrip"] or token["rstrip"] for token in description["added_tokens"]):
        return None  # these take in the space around them
    if not all(map(_keeps, _parts(description["pre_tokenizer"], "pretokenizers"))):
        return None
    spelled = {token[0] for token in vocab.tokens if len(token) == 1}
    if not spelled >= _SPELLED:
        return None  # other bytes become an unknown token, or nothing
    factors = [_factor(part) for part in _parts(description["normalizer"], "normalizers")]
    return None if None in factors else math.prod(cast(list[int], factors))


def _parts(step: Mapping[str, Any] | None, name: str) -> Iterator[Mapping[str, Any]]:
    """Yield the steps of a sequence, or the one step."""
    if step is None:
        return
    if step["type"] == "Sequence":
        for part in step[name]:
            yield from _parts(part, name)
    else:
        yield step


def _keeps(pre_tokenizer: Mapping[str, Any]) -> bool:
    kept = pre_tokenizer.get("behavior") != "Removed"
    return pre_tokenizer["type"] in _KEEPING and kept


def _factor(normalizer: Mapping[str, Any]) -> int | None:
    match normalizer:
        case {"type": "Prepend"}:
            return 1
        case {"type": "NFC" | "NFD"}:
            return NORMAL_FORM
        case {"type": "Replace", "pattern": {"String": str(old)}, "content": str(new)}:
            return 1 if len(new.encode()) >= len(old.encode()) else None
        case _:
            return None
