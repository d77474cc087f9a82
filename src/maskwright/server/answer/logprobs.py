"""Log-probabilities of tokens in OpenAI's form, each sent with the text of its token.

Tokens may be ahead of the text, because part of a character and the beginning of a possible stop
string are held back. An entry is sent with the text in which its token begins. Tokens that belong
to no text of the answer (end tokens, stop strings) have no entry.
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
"""The log-probability of an impossible token, since JSON has no infinity."""

_DECODER = codecs.getincrementaldecoder("utf-8")


class ScoreReader:
    """Makes the entries of one answer from its beginning. `scale`: which log-probability they
    contain, the model's own or the one among the tokens that the grammar allows. `as_ids`: a token
    is named by its id."""

    def __init__(self, vocab: Vocabulary, scale: Scale, *, as_ids: bool = False) -> None:
        self._as_ids = as_ids
        self._texts = vocab.tokens
        self._names = {token: name for name, token in vocab.special_tokens.items()}
        self._scale: Scale = scale
        self._decoder = _DECODER("replace")
        self._written = 0
        """Characters in the tokens so far."""
        self._sent = 0
        self._held: deque[tuple[int, Json]] = deque()
        """Entries that were not sent yet, each with the place of its first character."""

    def read(self, text: str, token_ids: Sequence[int], scores: Sequence[TokenScore]) -> list[Json]:
        """Return the entries to send with the new text `text`, after adding new tokens and their
        scores."""
        for token, told in zip(token_ids, scores, strict=False):
            data, begun = self._texts[token], bool(self._decoder.getstate()[0])
            # A token without text comes after a character that was begun and may never end.
            place = self._written + (begun and not data)
            self._held.append((place, self._entry(told)))
            self._written += len(self._decoder.decode(data))
        self._sent += len(text)
        ready: list[Json] = []
        while self._held and self._held[0][0] < self._sent:
            ready.append(self._held.popleft()[1])
        return ready

    def _entry(self, told: TokenScore) -> Json:
        own = told.raw if self._scale == "raw" else told.masked
        others = [
            self._told(other.token, other.raw if self._scale == "raw" else other.masked)
            for other in told.top
        ]
        return {**self._told(told.token, own), "top_logprobs": others}

    def _told(self, token: int, value: float | None) -> Json:
        text = self._texts[token]
        name = text.decode(errors="replace") or self._names.get(token, "")
        return {
            "token": f"token_id:{token}" if self._as_ids else name,
            "logprob": LEAST if value is None else max(value, LEAST),
            "bytes": list(text),
        }
