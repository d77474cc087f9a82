"""Splits a reasoning section off the beginning of an answer.

Models that think write their thoughts between two marks before the answer, as their chat template
shows: `<think>…</think>`, or `[THINK]…[/THINK]`. Some templates begin the section in the prompt.
Line breaks next to the marks belong to neither part.
"""

from __future__ import annotations

import codecs
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import Final, Literal, NamedTuple

from maskwright.server.answer.parts import Part, PartReader, Reasoning, TextPart


class ThinkingMarks(NamedTuple):
    begin: str
    end: str


_KNOWN: Final = (ThinkingMarks("<think>", "</think>"), ThinkingMarks("[THINK]", "[/THINK]"))


def thinking_marks_of(chat_template: str) -> ThinkingMarks | None:
    """Return the marks that occur in a template; None if none do."""
    return next((marks for marks in _KNOWN if marks.end in chat_template), None)


class ThinkingReader:
    """Reads what `inner` reads, with the beginning of its words as reasoning if it is a section.

    `begun`: whether the prompt has begun the section.
    """

    def __init__(self, inner: PartReader, marks: ThinkingMarks, *, begun: bool) -> None:
        self._inner = inner
        self._marks = marks
        self._place: Literal["before", "inside", "after", "words"] = "inside" if begun else "before"
        self._returned = False
        """Whether some of the reasoning has been returned."""
        self._held = ""
        """Text that may belong to a mark, or to the line breaks next to one."""
        self._at = 0
        """How many characters of the answer come before the text that is held."""

    async def read(self, text: str, token_ids: Sequence[int], *, final: bool) -> list[Part]:
        parts: list[Part] = []
        for part in await self._inner.read(text, token_ids, final=final):
            if isinstance(part, TextPart):
                self._at = self._at if self._held else part.at
                self._held += part.text
                parts += self._split(final=False)
            else:
                parts += self._split(final=True)
                parts.append(part)
        return parts + list(self._split(final=True)) if final else parts

    def _split(self, *, final: bool) -> Iterator[Part]:
        """Yield the parts of the text that is held; with `final`, all of it."""
        if self._place == "before":
            begun = self._held.lstrip()
            if not final and self._marks.begin.startswith(begun):
                return
            if begun.startswith(self._marks.begin):
                self._hold(begun[len(self._marks.begin) :])
                self._place = "inside"
            else:
                self._place = "words"
        if self._place == "inside":
            yield from self._reasoning(final=final)
        if self._place == "after":
            self._hold(self._held.lstrip("\n"))
            self._place = "words" if self._held else "after"
        if self._place == "words" and self._held:
            yield TextPart(self._held, self._at)
            self._hold("")

    def _hold(self, rest: str) -> None:
        """Hold only the end of what is held."""
        self._at += len(self._held) - len(rest)
        self._held = rest

    def _reasoning(self, *, final: bool) -> Iterator[Part]:
        thought, mark, rest = self._held.partition(self._marks.end)
        if mark:
            self._place = "after"
            self._hold(rest)
        else:
            stop = len(thought) if final else len(thought) - _held_back(thought, self._marks.end)
            self._hold(thought[stop:])
            thought = thought[:stop]
        if mark:
            thought = thought.rstrip("\n")
        if not self._returned:
            thought = thought.lstrip("\n")
        if thought:
            self._returned = True
            yield Reasoning(thought)


class TrimmedReader:
    """Reads what `inner` reads, whose reasoning stands apart already, without the line breaks at
    the beginning and end of the reasoning."""

    def __init__(self, inner: PartReader) -> None:
        self._inner = inner
        self._returned = False
        self._held = ""
        """Line breaks that may be the end of the reasoning."""

    async def read(self, text: str, token_ids: Sequence[int], *, final: bool) -> list[Part]:
        parts: list[Part] = []
        for part in await self._inner.read(text, token_ids, final=final):
            if not isinstance(part, Reasoning):
                parts.append(part)
            elif thought := self._trimmed(part.text):
                parts.append(Reasoning(thought))
        return parts

    def _trimmed(self, text: str) -> str:
        whole = self._held + text if self._returned else text.lstrip("\n")
        thought = whole.rstrip("\n")
        self._held = whole[len(thought) :]
        self._returned = self._returned or bool(thought)
        return thought


class ReasoningTokens:
    """Counts the tokens of one answer that hold a part of its reasoning, marks excluded."""

    def __init__(self, texts: Sequence[bytes], marks: ThinkingMarks) -> None:
        """`texts`: the vocabulary's tokens as bytes."""
        self._texts = texts
        self._marks = marks
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._text = ""
        self._reasoning = ""
        self._ends: list[int] = []
        """For each token, the characters of the answer up to its end."""

    def take(self, token_ids: Sequence[int], parts: Sequence[Part]) -> None:
        """Add the next tokens, and the parts that have become certain."""
        for token in token_ids:
            self._text += self._decoder.decode(self._texts[token])
            self._ends.append(len(self._text))
        self._reasoning += "".join(part.text for part in parts if isinstance(part, Reasoning))

    @property
    def count(self) -> int:
        """The number of tokens so far."""
        if not self._reasoning:
            return 0
        begin, size = self._marks.begin, len(self._text) - len(self._text.lstrip())
        if self._text.startswith(begin, size):
            size += len(begin)
        start = self._text.find(self._reasoning, size)
        if start < 0:
            return 0
        first = bisect_right(self._ends, start)
        return bisect_left(self._ends, start + len(self._reasoning)) + 1 - first


def _held_back(text: str, mark: str) -> int:
    """Return how many of the last characters of a text may belong to line breaks and a mark."""
    for size in range(min(len(mark) - 1, len(text)), 0, -1):
        if text.endswith(mark[:size]):
            before = text[: len(text) - size]
            return len(text) - len(before.rstrip("\n"))
    return len(text) - len(text.rstrip("\n"))
