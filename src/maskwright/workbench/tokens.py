"""The tokens of a vocabulary that may follow a text."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maskwright.mask import Grammar, Matcher


class AllowedTokens(NamedTuple):
    """The tokens that may come next, by id in ascending order; `size` is that of the vocabulary.
    An end token has the text `<end>`."""

    ids: list[int]
    texts: list[str]
    size: int

    def data(self, shown: int | None = None) -> dict[str, object]:
        """How many they are, and the first `shown` of them, as plain data."""
        ids, texts = self.ids[:shown], self.texts[:shown]
        return {"count": len(self.ids), "of": self.size, "ids": ids, "texts": texts}


def allowed_tokens(grammar: Grammar, text: bytes) -> AllowedTokens:
    """The tokens that may follow `text`, which must be the beginning of a text of the grammar.

    Raises `UnspellableError` where no token of the vocabulary can follow.
    """
    matcher = grammar.matcher()
    taken = matcher.accept_bytes(text)
    assert taken == len(text), "the text is no prefix"
    return tokens_of(matcher)


def tokens_of(matcher: Matcher) -> AllowedTokens:
    """The tokens that may follow the text of a matcher."""
    vocabulary = matcher.recognizer.vocabulary
    row = np.zeros(vocabulary.words, np.int32)
    matcher.fill_mask(row)
    bits = np.unpackbits(row.view(np.uint8), bitorder="little")[: vocabulary.size]
    ids: list[int] = np.flatnonzero(bits).tolist()
    texts = [token_text(vocabulary.tokens[i], i in vocabulary.eos) for i in ids]
    return AllowedTokens(ids, texts, vocabulary.size)


def token_text(token: bytes, is_end: bool = False) -> str:
    """A token as it is shown; bytes that are no UTF-8 as `\\xNN`."""
    return "<end>" if is_end else token.decode(errors="backslashreplace")
