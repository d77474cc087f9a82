"""Finds forced tokens: the tokens that must come next, whatever the model prefers."""

from __future__ import annotations

from typing import Final, NamedTuple

from maskwright.automaton.leaf import special_tokens as special
from maskwright.automaton.machine.exits import Configuration
from maskwright.errors import UnspellableError
from maskwright.mask.recognizer import Recognizer

MOST_BYTES: Final = 1024
"""Most forced bytes that one call returns."""


class ForcedRun(NamedTuple):
    """The canonical tokens of the text that a grammar forces at a position, empty if there are
    none. After them the text is `complete`, or can be completed within `needs` tokens. `whole`: the
    forced text, which may be longer than these tokens, goes to the end of the text. `shared`: all
    of this holds for every text at the position."""

    tokens: tuple[int, ...]
    complete: bool
    needs: int
    whole: bool
    shared: bool

    def within(self, left: int) -> tuple[int, ...]:
        """The tokens, if the rest of `left` tokens suffices to complete the text after them;
        otherwise none."""
        rest = left - len(self.tokens)
        fits = rest >= 0 and (self.complete or self.needs <= rest)
        return self.tokens if fits else ()


NOTHING_FORCED: Final = ForcedRun((), complete=False, needs=0, whole=False, shared=True)


class ForcedText(NamedTuple):
    """The bytes with which every text continues from a position, and the configuration after
    them."""

    data: bytes
    end: Configuration


def forced_text(recognizer: Recognizer, here: Configuration, prefix: bytes) -> ForcedText:
    """Return the text that the grammar forces from `here` on, after the text `prefix`."""
    forced = bytearray()
    while len(forced) < MOST_BYTES and (byte := recognizer.forced_byte(here)):
        following = recognizer.advance(here, byte, prefix + forced)
        if following is None:
            break
        forced += byte
        here = following
    return ForcedText(bytes(forced), here)


def canonical_tokens(recognizer: Recognizer, data: bytes) -> list[int]:
    """Return the canonical tokens of the forced bytes `data`, as far as the following text can't
    change them.

    The vocabulary's tokenizer divides the bytes into tokens. If the bytes from the beginning of
    some token on are a proper prefix of a longer token, the tokenizer might merge them with what
    follows. So that token and all after it are left out.
    """
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
