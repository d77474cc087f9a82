"""Splits an answer, while it is generated, into words, reasoning and tool calls, by the events of
its text, wherever its grammar lives.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol, TypeAlias

from maskwright.grammar.tools.python_literals import json_text
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


@dataclass(frozen=True, slots=True)
class Reasoning:
    """A piece of the reasoning section."""

    text: str


@dataclass(frozen=True, slots=True)
class CallBegun:
    """A tool call begins. `index`: its number in the answer, from 0; `custom`: whether it calls a
    custom tool."""

    index: int
    id: str
    name: str
    custom: bool = False


@dataclass(frozen=True, slots=True)
class ArgumentsText:
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
