"""A text read by a grammar byte by byte: how much of it is accepted, and what could follow."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from maskwright.mask import Grammar
from maskwright.vocab import Vocabulary


class Verdict(enum.Enum):
    """Whether a text matches. The values are the exit codes of `check`."""

    MATCH = 0
    MISMATCH = 1
    INCOMPLETE = 3


@dataclass(frozen=True, slots=True)
class Walk:
    """The first `accepted` bytes of `text`, skipped ones included, are a prefix of a text of the
    grammar.

    `next` holds every byte that may follow them, in ascending order; `forced` the bytes that must
    follow, in their order. `may_end`: the prefix is a text of the grammar itself.
    """

    text: bytes
    accepted: int
    next: bytes
    forced: bytes
    may_end: bool

    @property
    def verdict(self) -> Verdict:
        if self.accepted < len(self.text):
            return Verdict.MISMATCH
        return Verdict.MATCH if self.may_end else Verdict.INCOMPLETE


def byte_vocabulary() -> Vocabulary:
    """A vocabulary with one token for each byte, and an end token."""
    return Vocabulary([*(bytes([byte]) for byte in range(256)), b""], eos=256)


def walk(grammar: Grammar, text: bytes, start: int = 0) -> Walk:
    """Read `text[start:]` with a new matcher of a grammar that was compiled for
    `byte_vocabulary()`."""
    matcher = grammar.matcher()
    accepted = start + matcher.accept_bytes(text[start:])
    return Walk(
        text,
        accepted,
        next=matcher.next_bytes(),
        forced=bytes(matcher.forced_tokens()),
        may_end=matcher.accepting,
    )
