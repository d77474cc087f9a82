"""Places in texts: line, column and caret; JSON Pointers (RFC 6901), and which value is where."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from maskwright.grammar.schema.document import escape, unescape
from maskwright.grammar.schema.tree import ReportEntry
from maskwright.immutable import Immutable

WINDOW: Final = 72
"""Characters of a long line that are shown."""


class TextPosition(Immutable):
    """The place of a byte: line and column, counted from 1, the column in characters."""

    line: int
    column: int
    excerpt: str
    caret: int

    def lines(self) -> tuple[str, str]:
        """The line of text, cut to a window, and a caret under the place."""
        return self.excerpt, " " * self.caret + "^"


def line_and_column(text: str, at: int) -> tuple[int, int]:
    """The place of a character: line and column, counted from 1."""
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)


def position_of(text: bytes, offset: int, window: int = WINDOW) -> TextPosition:
    """The place of byte `offset`; `len(text)` stands for the end of the text. `window`: characters
    of its line that are shown."""
    start = text.rfind(b"\n", 0, offset) + 1
    stop = text.find(b"\n", offset)
    row = text[start : len(text) if stop < 0 else stop]
    column = len(row[: offset - start].decode("utf-8", "replace"))
    shown = "".join(c if c.isprintable() else "·" for c in row.decode("utf-8", "replace"))
    left = max(0, column - window + min(12, window // 4))
    right = left + window
    cut = ("…" if left else "") + shown[left:right] + ("…" if right < len(shown) else "")
    caret = column - left + (1 if left else 0)
    return TextPosition(text.count(b"\n", 0, offset) + 1, column + 1, cut, caret)


_TOKEN: Final = re.compile(
    r'[ \t\r\n]*(?:(?P<mark>[\[\]{},:])|(?P<string>"(?:[^"\\]|\\.)*"?)'
    r'|(?P<scalar>[^\s\[\]{},:"]+))',
    re.DOTALL,
)
_OUTLINE: Final = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[\]{},:]', re.DOTALL)


class ValueSpan(Immutable):
    """Where a value stands in a text, in characters, and where the name before it does, if it is a
    member's."""

    start: int
    stop: int
    name: int | None = None

    @property
    def begin(self) -> int:
        """Where the member begins that it is, else the value."""
        return self.start if self.name is None else self.name


class _Level:
    """An array or object that is being read."""

    def __init__(self, bracket: str, start: int, pointer: str = "") -> None:
        """`pointer`: that of the array or object, for whoever asks for it."""
        self.bracket = bracket
        self.start = start
        self.pointer = pointer
        self.index = 0
        self.name: str | None = None
        self.name_at: int | None = None
        self.has_colon = False

    def step(self) -> str | None:
        """The last reference token of the pointer of the value that comes; None before a colon."""
        if self.bracket == "[":
            return str(self.index)
        return escape(self.name) if self.has_colon and self.name is not None else None

    def next(self) -> None:
        self.index += 1
        self.name = self.name_at = None
        self.has_colon = False


def reference_tokens(pointer: str) -> list[str]:
    """The names and indexes of a pointer, outermost first."""
    return [unescape(token) for token in pointer.split("/")[1:]]


def pointer_of(*tokens: str | int) -> str:
    """The pointer of these names and indexes."""
    return "".join(f"/{escape(str(token))}" for token in tokens)


def value_at(document: Any, pointer: str) -> Any:
    """What a pointer refers to in a document; None if there is nothing, as under another base
    URI."""
    for token in reference_tokens(pointer):
        if isinstance(document, dict) and token in document:
            document = document[token]
        elif isinstance(document, list) and token.isdigit() and int(token) < len(document):
            document = document[int(token)]
        else:
            return None
    return document


def local_target(schema: Mapping[str, Any]) -> str | None:
    """The pointer of what a schema's `$ref` names within its document; None if it has none."""
    reference = schema.get("$ref")
    if isinstance(reference, str) and (reference == "#" or reference.startswith("#/")):
        return reference.removeprefix("#")
    return None


def entry_pointer(entry: ReportEntry) -> str:
    """The pointer of what an entry of a report is about."""
    return entry.pointer + (pointer_of(entry.keyword) if entry.keyword else "")


def pointer_at(prefix: str) -> str:
    """The pointer of the value that is being read, or comes next, where a prefix of a JSON text
    ends. Between the members of an object, and within a name, it is that of the object.

    Only brackets, separators and names count, so that a long text is read quickly: 100 kB in some
    milliseconds, a fifth of what `value_spans` takes.
    """
    levels: list[_Level] = []
    inside: _Level | None = None
    for token in _OUTLINE.findall(prefix):
        mark = token[0]
        if mark == '"':
            if inside is not None and _is_name(inside) and len(token) > 1 and token[-1] == '"':
                inside.name = token
        elif mark in "[{":
            inside = _Level(mark, 0)
            levels.append(inside)
        elif mark in "]}":
            levels.pop()
            inside = levels[-1] if levels else None
        elif inside is not None:
            if mark == ",":
                inside.next()
            else:
                inside.has_colon = True
    for level in levels:
        if level.name is not None:
            level.name = _read_name(level.name)
    steps = [level.step() for level in levels]
    return "".join(f"/{step}" for step in steps if step is not None)


def innermost(spans: Mapping[str, ValueSpan], pointer: str) -> ValueSpan | None:
    """What a pointer refers to in a text; the innermost value around it that the text has, if it
    has none at the pointer. None for a text without values."""
    while pointer and pointer not in spans:
        pointer = pointer.rpartition("/")[0]
    return spans.get(pointer)


def value_spans(text: str) -> dict[str, ValueSpan]:
    """The places of all values of a valid JSON text, by pointer. Of equal names the last counts, as
    for Python's parser."""
    return dict(_values(text))


def _values(text: str) -> Iterator[tuple[str, ValueSpan]]:
    """The values of a text or a prefix of one, each when it ends, with its pointer."""
    levels: list[_Level] = []
    at = 0
    while (found := _TOKEN.match(text, at)) is not None:
        at = found.end()
        mark, string = found["mark"], found["string"]
        start = found.start(found.lastgroup or 0)
        inside = levels[-1] if levels else None
        if mark is not None and mark in "[{":
            levels.append(_Level(mark, start, _pointer_in(inside)))
        elif mark == ",":
            if inside is not None:
                inside.next()
        elif mark == ":":
            if inside is not None:
                inside.has_colon = True
        elif mark is not None:
            closed = levels.pop()
            yield (
                closed.pointer,
                ValueSpan(closed.start, at, levels[-1].name_at if levels else None),
            )
        elif string is not None and inside is not None and _is_name(inside):
            if len(string) > 1 and string.endswith('"'):
                inside.name, inside.name_at = _read_name(string), start
        else:
            name_at = None if inside is None else inside.name_at
            yield _pointer_in(inside), ValueSpan(start, at, name_at)


def _is_name(level: _Level) -> bool:
    return level.bracket == "{" and not level.has_colon


def _read_name(literal: str) -> str:
    try:
        name: str = json.loads(literal)
    except ValueError:  # it ends within an escape
        return literal[1:-1]
    return name


def _pointer_in(level: _Level | None) -> str:
    """The pointer of the value that comes in an array or object; of the whole text for None."""
    return "" if level is None else f"{level.pointer}/{level.step()}"
