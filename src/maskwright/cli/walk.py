"""A text walked through a grammar byte by byte: how far it goes, and what could follow there."""

from __future__ import annotations

import enum
from dataclasses import dataclass

import numpy as np

from maskwright.mask import Grammar, Matcher
from maskwright.vocab import Vocabulary

END = 256
"""The token id that ends a text; every smaller id is a byte."""


class Verdict(enum.Enum):
    """What a walk found. The values are the exit codes of `check`."""

    MATCH = 0
    MISMATCH = 1
    INCOMPLETE = 3


@dataclass(frozen=True, slots=True)
class Walk:
    """`accepted` leading bytes of `text` begin some output of the grammar (skipped ones count).

    `next` holds the ids (bytes, and END) that may follow them; `forced` the bytes that must.
    """

    text: bytes
    accepted: int
    next: tuple[int, ...]
    forced: bytes

    @property
    def verdict(self) -> Verdict:
        if self.accepted < len(self.text):
            return Verdict.MISMATCH
        return Verdict.MATCH if END in self.next else Verdict.INCOMPLETE


def byte_vocabulary() -> Vocabulary:
    """One token a byte, and END."""
    return Vocabulary([*(bytes([byte]) for byte in range(256)), b""], eos=END)


def walk(grammar: Grammar, text: bytes, start: int = 0) -> Walk:
    """Feed `text[start:]` to a fresh matcher of a grammar compiled for `byte_vocabulary()`."""
    matcher = grammar.matcher()
    accepted = start
    for byte in text[start:]:
        if not matcher.accept(byte):
            break
        accepted += 1
    return Walk(text, accepted, _next(matcher), bytes(matcher.forced_tokens()))


def _next(matcher: Matcher) -> tuple[int, ...]:
    words = np.zeros((END + 32) // 32, dtype=np.int32)
    matcher.fill_mask(words)
    bits = np.unpackbits(words.view(np.uint8), bitorder="little")
    return tuple(int(token) for token in np.flatnonzero(bits))
