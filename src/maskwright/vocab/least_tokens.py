"""How many tokens texts take at least, by their length in bytes alone.

No token has more bytes than the longest one. That is a bound where a tokenizer keeps each byte of a
text. Some remove characters, or make one token of any run of unknown ones; then there is none.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple, cast

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


class LeastTextTokens(NamedTuple):
    """The bound for texts of one tokenizer. A text takes at least its bytes divided by `longest`,
    the bytes of the longest token; if it isn't in ASCII, also by `shrinks`, by which factor it may
    become shorter before it is cut into tokens. `shrinks` is 0 if there is no bound."""

    shrinks: int
    longest: int

    @classmethod
    def by(cls, backend: object, vocab: Vocabulary) -> LeastTextTokens:
        """Return the bound for a `tokenizers.Tokenizer`."""
        description = cast(dict[str, Any], json.loads(cast(Backend, backend).to_str()))
        names = (name.encode() for name in vocab.special_tokens)
        longest = max(map(len, (*vocab.tokens, *names)))
        return cls(_shrinking(description, vocab), longest)


def _shrinking(description: Mapping[str, Any], vocab: Vocabulary) -> int:
    """Return by which factor a text may become shorter before it is cut into tokens; 0 if there is
    no bound."""
    if any(token["lstrip"] or token["rstrip"] for token in description["added_tokens"]):
        return 0  # these take in the space around them
    for step in _parts(description["pre_tokenizer"], "pretokenizers"):
        if step["type"] not in _KEEPING or step.get("behavior") == "Removed":
            return 0
    if not vocab.single_bytes >= _SPELLED:
        return 0  # other bytes become an unknown token, or nothing
    return math.prod(map(_factor, _parts(description["normalizer"], "normalizers")))


def _parts(step: Mapping[str, Any] | None, name: str) -> Iterator[Mapping[str, Any]]:
    """Yield the steps of a sequence, or the one step."""
    if step is None:
        return
    if step["type"] == "Sequence":
        for part in step[name]:
            yield from _parts(part, name)
    else:
        yield step


def _factor(normalizer: Mapping[str, Any]) -> int:
    match normalizer:
        case {"type": "Prepend"}:
            return 1
        case {"type": "NFC" | "NFD"}:
            return NORMAL_FORM
        case {"type": "Replace", "pattern": {"String": str(old)}, "content": str(new)}:
            return 1 if len(new.encode()) >= len(old.encode()) else 0
        case _:
            return 0
