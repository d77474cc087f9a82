"""Forced tokens: what must come next whatever the model prefers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from maskwright.automaton.leaf import special_tokens as special
from maskwright.errors import UnspellableError

if TYPE_CHECKING:
    from maskwright.automaton.machine.exits import Configuration
    from maskwright.mask.grammar import Grammar

MOST_BYTES: Final = 1024
"""Forced bytes looked at in one go."""


def forced_bytes(grammar: Grammar, here: Configuration, before: bytes) -> bytes:
    """The bytes that every text goes on with from here."""
    found = bytearray()
    while len(found) < MOST_BYTES and (byte := grammar.forced_byte(here)):
        following = grammar.advance(here, byte, before + found)
        if following is None:
            break
        found += byte
        here = following
    return bytes(found)


def forced_tokens(grammar: Grammar, here: Configuration, before: bytes) -> list[int]:
    """The canonical tokens of the forced bytes, as far as what follows can't change them.

    The text is cut as the vocabulary's tokenizer cuts it. From the first cut on at which the rest
    of the forced bytes is the beginning of some longer token, what comes next could be merged
    with it, so those tokens are left out.
    """
    data = forced_bytes(grammar, here, before)
    if not data:
        return []
    vocabulary = grammar.vocabulary
    settled: list[int] = []
    parts = list(special.pieces(data))
    for number, (text, token_id) in enumerate(parts, start=1):
        if token_id is not None:
            settled.append(token_id)
            continue
        at = 0
        try:
            tokens = vocabulary.encode(text)
        except UnspellableError:  # what comes next begins within a token
            break
        for token in tokens:
            if number == len(parts) and grammar.begins_longer_token(text[at:]):
                break
            settled.append(token)
            at += len(vocabulary.tokens[token])
    return settled
