"""JSON objects from texts and files; what is wrong with a text that is no JSON, in the words of
somebody who wrote it.

The messages of Python's `json` differ between its versions, and say what the parser expected, which
after a trailing comma is a property name.
"""

from __future__ import annotations

import json
import re
from json import JSONDecodeError
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

_WORD: Final = re.compile(r"[^\W\d]\w*")
_OF_PYTHON: Final = {"True": "true", "False": "false", "None": "null", "undefined": "null"}
_QUOTES: Final = "'\u2018\u2019\u201c\u201d`"
_IN_NUMBERS: Final = frozenset("+-.0123456789eE")
_NO_NUMBER: Final = "this is no number of JSON, which is written like -1, 0.5 or 1e6"


def object_in(text: str | bytes) -> dict[str, Any] | None:
    """The JSON object that a text is; None if it is none."""
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return cast(dict[str, Any], value) if isinstance(value, dict) else None


def object_in_file(file: Path) -> dict[str, Any]:
    """The JSON object in a file; an empty one if it can't be read or has none."""
    try:
        return object_in(file.read_bytes()) or {}
    except OSError:
        return {}


class JsonFault(NamedTuple):
    """The first fault of a text: its reason, and its place as an index of the text."""

    reason: str
    position: int

    def described(self, text: str, *, one_line: bool = False) -> str:
        """The reason with line and column, which count from 1; `one_line`: with the column only,
        since what is said elsewhere names the line that the text is."""
        line = text.count("\n", 0, self.position) + 1
        column = self.position - text.rfind("\n", 0, self.position)
        place = f"column {column}" if one_line else f"line {line}, column {column}"
        return f"{self.reason} at {place}" if text.strip() else self.reason


def json_reason(error: ValueError | RecursionError, *, one_line: bool = False) -> str:
    """What is wrong, with its place, of an error of `json.loads` of any kind. `one_line`: see
    `JsonFault.described`."""
    if isinstance(error, JSONDecodeError):
        return json_fault(error).described(error.doc, one_line=one_line)
    if isinstance(error, RecursionError):
        return "it is nested too deep"
    if isinstance(error, UnicodeDecodeError):
        return f"it is not UTF-8 (byte {error.start})"
    return "a number has too many digits"


def json_fault(error: JSONDecodeError) -> JsonFault:
    """What is wrong, and where. It is found in the text alone, except what only the parser knows:
    whether a name, a value, a colon or a comma was expected."""
    text, at = error.doc, error.pos
    rest = text[at:].lstrip()
    if not text.strip():
        return JsonFault("there is nothing but white space" if text else "it is empty", 0)
    if text.startswith("\ufeff"):
        return JsonFault("it begins with a byte order mark, which JSON doesn't have", 0)
    comma = _trailing_comma(text, at)
    if comma is not None:
        after = text[comma + 1 :].lstrip()[0]
        return JsonFault(f"the comma before {after!r} is one too many", comma)
    if error.msg.startswith("Unterminated string"):
        return JsonFault("the string that begins here has no end", at)
    if error.msg.startswith("Invalid control character"):
        reason = "a string has a line break, a tab or another control character: write \\n or \\t"
        return JsonFault(reason, at)
    if error.msg.startswith("Invalid \\"):
        return JsonFault("this is no escape of JSON; a backslash is written \\\\", at)
    if not rest:
        return JsonFault("it ends too early", len(text.rstrip()))
    if text[at - 1 : at].isdigit() and rest[0] in _IN_NUMBERS and at == len(text) - len(rest):
        return JsonFault(_NO_NUMBER, at)
    return JsonFault(_reason(error.msg, rest), len(text) - len(rest))


def _reason(message: str, rest: str) -> str:
    """What is wrong with a text that has `rest` where the parser has stopped."""
    word = _WORD.match(rest)
    if message.startswith("Extra data"):
        return "something follows after the end of the value"
    if rest.startswith(("//", "/*", "#")):
        return "JSON has no comments"
    if rest[0] in _QUOTES:
        return f'strings stand between double quotes ("), not {rest[0]}'
    if word is not None and word[0] in _OF_PYTHON:
        return f"{word[0]} is written {_OF_PYTHON[word[0]]} in JSON"
    if message.startswith("Expecting property name"):
        return "a name between double quotes is missing here"
    if message.startswith("Expecting ':'"):
        return "a colon is missing after the name"
    if message.startswith("Expecting ','"):
        return "a comma is missing here, or a bracket that closes"
    if rest[0] in _IN_NUMBERS:
        return _NO_NUMBER
    if word is not None:
        return f"{word[0]!r} is no value of JSON; a string stands between double quotes"
    return "a value is missing here"


def _trailing_comma(text: str, at: int) -> int | None:
    """The index of a comma that comes before a closing bracket, if the parser has stopped there:
    at the comma or at the bracket, which depends on its version."""
    if text.startswith(",", at):
        return at if text[at + 1 :].lstrip()[:1] in ("}", "]") else None
    before = text[:at].rstrip()
    closes = text[at:].lstrip()[:1] in ("}", "]")
    return len(before) - 1 if closes and before.endswith(",") else None
