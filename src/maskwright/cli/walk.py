"""A text walked through a grammar byte by byte: how far it goes, and what could follow there."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from maskwright.mask import Grammar
from maskwright.vocab import Vocabulary


class Verdict(enum.Enum):
    """What a walk found. The values are the exit codes of `check`."""

    MATCH = 0
    MISMATCH = 1
    INCOMPLETE = 3


@dataclass(frozen=True, slots=True)
class Walk:
    """`accepted` leading bytes of `text` begin some output of the grammar (skipped ones count).

    `next` holds the bytes any of which may follow them, in ascending order; `forced` those that
    must follow, one after the other; `may_end` says that they are an output themselves.
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
    """One token a byte, and an end token."""
    return Vocabulary([*(bytes([byte]) for byte in range(256)), b""], eos=256)


def walk(grammar: Grammar, text: bytes, start: int = 0) -> Walk:
    """Feed `text[start:]` to a fresh matcher of a grammar compiled for `byte_vocabulary()`."""
    matcher = grammar.matcher()
    accepted = start + matcher.accept_bytes(text[start:])
    return Walk(
        text,
        accepted,
        next=matcher.next_bytes(),
        forced=bytes(matcher.forced_tokens()),
        may_end=matcher.accepting,
    )
