"""Finds forced tokens: the tokens that must come next, whatever the model prefers."""

from __future__ import annotations

from typing import Final

from maskwright.automaton.leaf import special_tokens as special
from maskwright.automaton.machine.exits import Configuration
from maskwright.errors import UnspellableError
from maskwright.mask.recognizer import Recognizer

MOST_BYTES: Final = 1024
"""Most forced bytes that one call returns."""


def forced_bytes(recognizer: Recognizer, here: Configuration, prefix: bytes) -> bytes:
    """Return the bytes with which every text continues from here."""
    forced = bytearray()
    while len(forced) < MOST_BYTES and (byte := recognizer.forced_byte(here)):
        following = recognizer.advance(here, byte, prefix + forced)
        if following is None:
            break
        forced += byte
        here = following
    return bytes(forced)


def forced_tokens(recognizer: Recognizer, here: Configuration, prefix: bytes) -> list[int]:
    """Return the canonical tokens of the forced bytes, as far as the following text can't change
    them.

    The vocabulary's tokenizer divides the bytes into tokens. If the bytes from the beginning of
    some token on are a proper prefix of a longer token, the tokenizer might merge them with what
    follows. So that token and all after it are left out.
    """
    data = forced_bytes(recognizer, here, prefix)
    if not data:
        return []
    vocabulary = recognizer.vocabulary
    settled: list[int] = []
    parts = list(special.pieces(data))
    for number, (text, token_id) in enumerate(parts, start=1):
        if token_id is not None:
            settled.append(token_id)
            continue
        at, is_last = 0, number == len(parts)
        if is_last and vocabulary.siblings.continues(text):  # found out before dividing all of it
            break
        try:
            tokens = vocabulary.encode(text)
        except UnspellableError:  # the following text begins within a token
            break
        for token in tokens:
            if is_last and vocabulary.siblings.continues(text[at:]):
                break
            settled.append(token)
            at += len(vocabulary.tokens[token])
    return settled
