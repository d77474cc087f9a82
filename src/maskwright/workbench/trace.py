"""A text token by token: what each token is, how many were allowed, and what the mask took."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from maskwright.mask import Grammar
from maskwright.workbench.place import ShapePlace, place_of
from maskwright.workbench.tokens import token_text


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
    read = b""
    for token in [*vocabulary.encode(text), *vocabulary.eos[:1]]:
        start = time.perf_counter()
        matcher.fill_mask(row)
        microseconds = 1e6 * (time.perf_counter() - start)
        run = run or matcher.forced_tokens()
        allowed = int(np.unpackbits(row.view(np.uint8)).sum())
        is_allowed = bool(int(row[token >> 5]) >> (token & 31) & 1)
        data, state = vocabulary.tokens[token], matcher.state
        shown = token_text(data, token in vocabulary.eos)
        at = _at(place_of(matcher, read)) if len(text) <= LONGEST else ""
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
