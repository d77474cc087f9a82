"""Splits an answer, while it is generated, into words, reasoning and tool calls, by the events of
its text, wherever its grammar lives.

Models that think write their thoughts between two marks before the answer, as their chat template
shows: `<think>…</think>`, or `[THINK]…[/THINK]`. Some templates begin the section in the prompt.
Line breaks next to the marks belong to neither part.
"""

from __future__ import annotations

import asyncio
import codecs
import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple, Protocol, TypeAlias

from maskwright.grammar.tools.python_arguments import json_text
from maskwright.immutable import Immutable
from maskwright.mask import CaptureBegun, CaptureEnded, CaptureText, Event, EventSource
from maskwright.server.json import Json

_BEGUN: Final = re.compile(r"\\(u[0-9a-fA-F]{0,3}|x[0-9a-fA-F]?)?$")
"""An escape that has been begun at the end of a text without other backslashes before it."""


class Unescaper:
    """The text of one string. `spelling`: the language in whose literals it is written ("json",
    "python"), or "raw"."""

    def __init__(self, spelling: str) -> None:
        self._spelling = spelling
        self._held = ""

    def read(self, piece: str) -> str:
        """Return the text of a piece and of what was held back. The beginning of an escape is held
        back, until the rest of it comes."""
        text = self._held + piece
        if self._spelling == "raw":
            return text
        whole = text.replace("\\\\", "__")  # an escaped backslash begins nothing
        found = _BEGUN.search(whole)
        stop = len(text) if found is None else found.start()
        self._held, text = text[stop:], text[:stop]
        quoted = f'"{text}"'
        return json.loads(quoted if self._spelling == "json" else json_text(quoted))


@dataclass(frozen=True, slots=True)
class TextPart:
    """A piece of the answer's text. `at`: how many characters of the answer, as the model wrote it,
    come before it. `logprobs`: the entries of the tokens that begin in it, if they are wanted."""

    text: str
    at: int = field(default=0, compare=False)
    logprobs: Sequence[Json] = field(default=(), compare=False)


class Reasoning(Immutable):
    """A piece of the reasoning section."""

    text: str


class CallBegun(Immutable):
    """A tool call begins. `index`: its number in the answer, from 0; `custom`: whether it calls a
    custom tool."""

    index: int
    id: str
    name: str
    custom: bool = False


class ArgumentsText(Immutable):
    """A piece of the JSON text of a call's arguments, or of the input of a custom tool."""

    index: int
    text: str
    custom: bool = False


Part: TypeAlias = TextPart | Reasoning | CallBegun | ArgumentsText


class PartReader(Protocol):
    """Splits one answer, which it reads from its beginning."""

    async def read(self, text: str, token_ids: Sequence[int], *, final: bool) -> list[Part]:
        """Return the parts of the next text and tokens; `final` if they are the last ones."""
        ...


class WordReader:
    """Takes the whole answer as words."""

    def __init__(self) -> None:
        self._read = 0
        """Characters so far."""

    async def read(self, text: str, token_ids: Sequence[int], *, final: bool) -> list[Part]:
        at = self._read
        self._read += len(text)
        return [TextPart(text, at)] if text else []


class ToolReader:
    """Distinguishes calls from words by the events of the answer's grammar."""

    def __init__(self, events: EventSource, new_id: Callable[[], str]) -> None:
        """`new_id`: gives the id of the next call."""
        self._events = events
        self._new_id = new_id
        self._call = -1
        self._members = 0
        self._input = Unescaper("json")

    async def read(self, text: str, token_ids: Sequence[int], *, final: bool) -> list[Part]:
        events = await asyncio.wrap_future(self._events.read(token_ids, final=final))
        return [part for event in events for part in self._parts(event)]

    def _parts(self, event: Event) -> Iterator[Part]:
        match event:
            case CaptureText(name="text", text=text, at=at):
                yield TextPart(text, at)
            case CaptureText(name="reasoning", text=text):
                yield Reasoning(text)
            case CaptureBegun(name=name) if name.startswith("call:"):
                self._call += 1
                self._members = 0
                yield CallBegun(self._call, self._new_id(), name.removeprefix("call:"))
            case CaptureBegun(name=name) if name.startswith("custom:"):
                self._call += 1
                id = self._new_id()
                yield CallBegun(self._call, id, name.removeprefix("custom:"), custom=True)
            case CaptureBegun(name="input:json" | "input:python" | "input:raw" as name):
                self._input = Unescaper(name.removeprefix("input:"))
            case CaptureText(name="input:json" | "input:python" | "input:raw", text=text):
                yield from self._input_text(self._input.read(text))
            case CaptureText(name="arguments", text=text):
                yield ArgumentsText(self._call, text)
            case CaptureBegun(name="parameters"):
                yield ArgumentsText(self._call, "{")
            case CaptureEnded(name="parameters"):
                yield ArgumentsText(self._call, "}")
            case CaptureEnded(name=name, text=text) if name.startswith("json:"):
                yield self._member(name.removeprefix("json:"), text)
            case CaptureEnded(name=name, text=text) if name.startswith("python:"):
                yield self._member(name.removeprefix("python:"), json_text(text))
            case CaptureEnded(name=name, text=text) if name.startswith("string:"):
                value = json.dumps(text, ensure_ascii=False)
                yield self._member(name.removeprefix("string:"), value)
            case _:
                pass

    def _input_text(self, text: str) -> Iterator[Part]:
        if text:
            yield ArgumentsText(self._call, text, custom=True)

    def _member(self, key: str, value: str) -> Part:
        comma = ", " if self._members else ""
        self._members += 1
        return ArgumentsText(self._call, f"{comma}{json.dumps(key)}: {value}")


@dataclass(slots=True)
class WholeAnswer:
    """All parts of an answer, joined."""

    words: str = ""
    reasoning: str = ""
    calls: list[tuple[str, str, str]] = field(default_factory=list[tuple[str, str, str]])
    """(id, name, JSON text of the arguments, or the input of a custom tool)."""
    custom: set[int] = field(default_factory=set[int])
    """Which of the calls are of custom tools."""

    def add(self, part: Part) -> None:
        match part:
            case TextPart(text=text):
                self.words += text
            case Reasoning(text=text):
                self.reasoning += text
            case CallBegun(id=id, name=name, custom=custom):
                if custom:
                    self.custom.add(len(self.calls))
                self.calls.append((id, name, ""))
            case ArgumentsText(text=text):
                id, name, before = self.calls[-1]
                self.calls[-1] = (id, name, before + text)


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
