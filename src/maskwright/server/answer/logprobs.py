"""Scores of tokens in OpenAI's shape, in step with the text they are of.

Tokens may be ahead of the text: half a character, or the beginning of what may become a stop
string, is held back. An entry goes out with the text in which its token begins; what belongs to no
text of the answer (an end token, a stop string) has none.
"""

from __future__ import annotations

import codecs
from collections import deque
from collections.abc import Sequence
from typing import Final

from maskwright.engine import TokenScore
from maskwright.sampling import Scale
from maskwright.server.json import Json
from maskwright.vocab import Vocabulary

LEAST: Final = -9999.0
"""Stands for impossible: JSON has no infinity."""

_DECODER = codecs.getincrementaldecoder("utf-8")


class ScoreReader:
    """Reads the scores of one answer from its start. `scale` says which probability is told: the
    model's own, or that among what the grammar allows."""

    def __init__(self, vocab: Vocabulary, scale: Scale) -> None:
        self._texts = vocab.tokens
        self._names = {token: name for name, token in vocab.special_tokens.items()}
        self._scale: Scale = scale
        self._decoder = _DECODER("replace")
        self._written = 0
        """Characters that the tokens so far make."""
        self._sent = 0
        self._held: deque[tuple[int, Json]] = deque()
        """Entries whose text is not sent, each with the place of its first character."""

    def read(self, text: str, token_ids: Sequence[int], scores: Sequence[TokenScore]) -> list[Json]:
        """The entries of `text`, which is new, and of the tokens and scores that came with it."""
        for token, told in zip(token_ids, scores, strict=False):
            data, begun = self._texts[token], bool(self._decoder.getstate()[0])
            # What has no text stands after a character that was begun, and may never be ended.
            place = self._written + (begun and not data)
            self._held.append((place, self._entry(told)))
            self._written += len(self._decoder.decode(data))
        self._sent += len(text)
        found: list[Json] = []
        while self._held and self._held[0][0] < self._sent:
            found.append(self._held.popleft()[1])
        return found

    def _entry(self, told: TokenScore) -> Json:
        own = told.raw if self._scale == "raw" else told.masked
        others = [
            self._told(other.token, other.raw if self._scale == "raw" else other.masked)
            for other in told.top
        ]
        return {**self._told(told.token, own), "top_logprobs": others}

    def _told(self, token: int, value: float | None) -> Json:
        text = self._texts[token]
        return {
            "token": text.decode(errors="replace") or self._names.get(token, ""),
            "logprob": LEAST if value is None else max(value, LEAST),
            "bytes": list(text),
        }
