"""Events of a JSON value, derived from the leaves that its text leaves."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

from maskwright.automaton.events.events import (
    ContainerClosed,
    ContainerOpened,
    Event,
    StringText,
    ValueRead,
)
from maskwright.automaton.json.labels import Closed, Satisfied, StructuralLabel
from maskwright.automaton.machine.trace import Left
from maskwright.automaton.value.level import Level, LevelPhase
from maskwright.grammar.schema.document import escape

# Characters in UTF-8, simple escapes, and escapes of code units: a high surrogate is whole only
# with the low one after it.
_WHOLE_CHARACTERS: Final = re.compile(
    rb"(?:[\x00-\x5B\x5D-\x7F]|[\xC0-\xDF].|[\xE0-\xEF]..|[\xF0-\xF7]..."
    rb'|\\["\\/bfnrt]|\\u(?![dD][89abAB])[0-9a-fA-F]{4}'
    rb"|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})*",
    re.DOTALL,
)


class JsonReader:
    """Follows one JSON value at a time through `text`, the whole text so far, which grows."""

    def __init__(self, text: bytearray) -> None:
        self._text = text
        self._open: list[str | int] = []
        """Of each open object or array: the name of the member, or the index of the item, that is
        being read."""
        self._start = 0
        """Where the present name or value begins."""
        self._reported = 1
        """Up to where the present string has been reported."""

    def begin(self, at: int) -> None:
        """Follow the beginning of a value at byte `at`."""
        self._open = []
        self._begin(at)

    def left(self, level: Level, left: Left) -> Iterator[Event]:
        """The events of leaving a leaf or an inner level of `level`."""
        match left.label:
            case StructuralLabel.SPACE | StructuralLabel.COMMA:
                self._begin(left.at)
            case StructuralLabel.OBJECT | StructuralLabel.ARRAY:
                kind = "object" if left.label is StructuralLabel.OBJECT else "array"
                yield ContainerOpened(self._pointer, kind)
                self._open.append(0 if kind == "array" else "")
            case StructuralLabel.CLOSE:
                self._open.pop()
                yield ContainerClosed(self._pointer)
            case Closed():
                self._advance()
            case Satisfied():
                pass  # its value has been reported when it was read
            case _ if level.bracket == "{" and level.phase is not LevelPhase.VALUE:
                self._open[-1] = str(json.loads(self._text[self._start : left.at]))
                self._begin(left.at)
            case _:
                yield from self.string_text(left.at - 1)
                yield ValueRead(self._pointer, json.loads(self._text[self._start : left.at]))
                self._begin(left.at)
                self._advance()

    def string_text(self, stop: int) -> Iterator[Event]:
        """The new whole characters of the string that is being read, if one is, up to `stop`."""
        if not self._text.startswith(b'"', self._start):
            return
        match = _WHOLE_CHARACTERS.match(self._text, self._reported, stop)
        assert match is not None
        if match.end() > self._reported:
            self._reported = match.end()
            yield StringText(self._pointer, json.loads(b'"%b"' % match[0], strict=False))

    def _begin(self, at: int) -> None:
        self._start = at
        self._reported = at + 1

    def _advance(self) -> None:
        """Follow the end of a value: in an array, the next one has the next index."""
        if self._open and isinstance(place := self._open[-1], int):
            self._open[-1] = place + 1

    @property
    def _pointer(self) -> str:
        return "".join(f"/{escape(str(place))}" for place in self._open)


def may_read_string(level: Level) -> bool:
    """Whether a string that is being read on a level is a value, and no name."""
    return level.phase is LevelPhase.VALUE or (
        level.phase is LevelPhase.FIRST and level.bracket == "["
    )
