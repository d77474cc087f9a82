"""A text read by a grammar byte by byte: how much is accepted, where it ends, what could follow."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from maskwright.mask import Grammar, Matcher
from maskwright.vocab import Vocabulary
from maskwright.workbench.continuations import (
    CharacterRanges,
    Continuations,
    continuations,
    next_characters,
)
from maskwright.workbench.place import ShapePlace, place_of

JSON_SPACE: Final = b" \t\r\n"


class Verdict(enum.Enum):
    """Whether a text matches. The values are the exit codes of `check` and `match`."""

    MATCH = 0
    MISMATCH = 1
    INCOMPLETE = 3


@dataclass(frozen=True)
class TextReading:
    """The first `accepted` bytes of `text`, skipped ones included, are a prefix of a text of the
    grammar; `matcher` stands after them, and has read `text` from `start` on. What follows is
    computed when it is asked for. `spaced`: white space around the text means nothing."""

    text: bytes
    accepted: int
    matcher: Matcher
    start: int = 0
    spaced: bool = False

    @property
    def verdict(self) -> Verdict:
        if self.accepted < len(self.text):
            return Verdict.MISMATCH
        return Verdict.MATCH if self.may_end else Verdict.INCOMPLETE

    @cached_property
    def may_end(self) -> bool:
        """Whether the accepted prefix is a text of the grammar itself."""
        return self.matcher.accepting

    @cached_property
    def next(self) -> bytes:
        """Every byte that may follow the accepted prefix, in ascending order."""
        return self.matcher.next_bytes()

    @cached_property
    def forced(self) -> bytes:
        """The bytes that must follow the accepted prefix, in their order."""
        tokens = self.matcher.recognizer.vocabulary.tokens
        return b"".join(tokens[token] for token in self.matcher.forced_tokens())

    @cached_property
    def characters(self) -> CharacterRanges:
        """Every character that may follow the accepted prefix. Where the prefix ends within a
        character, it is what may complete it."""
        return next_characters(self.matcher)

    @cached_property
    def continuations(self) -> Continuations:
        """How the accepted prefix can go on."""
        return continuations(self.matcher, self.text[: self.accepted])

    @cached_property
    def place(self) -> ShapePlace:
        """Where in the schema or the grammar the accepted prefix ends."""
        return place_of(self.matcher, self.text[: self.accepted])

    @property
    def fault(self) -> int:
        """The byte to point at. Where white space means nothing and the text could have ended, that
        is not the white space that follows but what comes after it."""
        rest = self.text[self.accepted :]
        skipped = self.spaced and self.may_end
        return self.accepted + (len(rest) - len(rest.lstrip(JSON_SPACE)) if skipped else 0)


def byte_vocabulary() -> Vocabulary:
    """A vocabulary with one token for each byte, and an end token."""
    return Vocabulary([*(bytes([byte]) for byte in range(256)), b""], eos=256)


def read_text(
    grammar: Grammar, text: bytes, start: int = 0, *, spaced: bool = False
) -> TextReading:
    """Read `text[start:]` with a new matcher of a grammar, whichever vocabulary it has."""
    matcher = grammar.matcher()
    accepted = start + matcher.accept_bytes(text[start:])
    return TextReading(text, accepted, matcher, start, spaced)


def read_json(grammar: Grammar, text: bytes) -> TextReading:
    """Read a JSON text; white space before and after it is ignored."""
    text = text.rstrip(JSON_SPACE)
    return read_text(grammar, text, len(text) - len(text.lstrip(JSON_SPACE)), spaced=True)


def read_lines(grammar: Grammar, text: bytes) -> TextReading:
    """Read the whole text; if that doesn't match, the text without the line break at its end."""
    whole = read_text(grammar, text)
    if whole.verdict is Verdict.MATCH or not text.endswith(b"\n"):
        return whole
    line = read_text(grammar, text.removesuffix(b"\n").removesuffix(b"\r"))
    return line if line.verdict is Verdict.MATCH else whole
