"""The tokens of a vocabulary that may follow a text, and a text token by token: what each token is,
how many were allowed, and what the mask took."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from maskwright.mask import Grammar, Matcher
from maskwright.workbench.place import ShapePlace, place_of


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


def tokens_of(matcher: Matcher) -> AllowedTokens:
    """The tokens that may follow the text of a matcher. Raises `UnspellableError` where no token of
    the vocabulary can."""
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


class TracedToken(NamedTuple):
    """One token of a text. `allowed` counts the tokens that the mask allows in its place, itself
    included if `is_allowed`; `is_forced`: the grammar forces it, so that no model is asked.
    `microseconds`: the time for the mask, which is longer where it is the first of its kind.

    `bytes`: the token's in hexadecimal. `state`: the numbers of the grammar's state in which the
    token was read, equal where the same may follow; they are valid within one process. `at`: the
    JSON Pointer of the value that was being read, or the stack of rules; empty in texts of more
    than `LONGEST` bytes, where it would take too long, and where neither is known.
    """

    token: int
    text: str
    allowed: int
    is_allowed: bool
    is_forced: bool
    microseconds: float
    bytes: str
    state: tuple[int, ...]
    at: str


LONGEST: Final = 20_000


def traced(grammar: Grammar, text: bytes) -> Iterator[TracedToken]:
    """The tokens of a text, in the tokenizer's own division and with an end token after them if
    the vocabulary has one, up to the first that is not allowed. Raises `UnspellableError`."""
    vocabulary = grammar.vocabulary
    matcher = grammar.matcher()
    row = np.zeros(vocabulary.words, np.int32)
    run: list[int] = []  # what is left of the tokens that were forced together
    read = bytearray()
    for token in [*vocabulary.encode(text), *vocabulary.eos[:1]]:
        start = time.perf_counter()
        matcher.fill_mask(row)
        microseconds = 1e6 * (time.perf_counter() - start)
        run = run or matcher.forced_tokens()
        allowed = int.from_bytes(row.tobytes(), "little").bit_count()
        is_allowed = bool(int(row[token >> 5]) >> (token & 31) & 1)
        data, state = vocabulary.tokens[token], matcher.state
        shown = token_text(data, token in vocabulary.eos)
        at = _at(place_of(matcher, bytes(read))) if len(text) <= LONGEST else ""
        is_forced = run[:1] == [token]
        run = run[1:] if is_forced else []
        yield TracedToken(
            token, shown, allowed, is_allowed, is_forced, microseconds, data.hex(), state, at
        )
        if not is_allowed:
            return
        matcher.accept(token)
        read += data


def _at(place: ShapePlace) -> str:
    if place.instance is not None:
        return place.instance or "the whole text"
    return " > ".join(place.rules[0]) if place.rules else ""
