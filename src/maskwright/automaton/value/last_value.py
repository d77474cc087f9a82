"""The JSON value that a text ends with."""

from __future__ import annotations

import re
from typing import Final

_SEPARATORS = b" \t\n\r,:[{"
_STRING: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)


def last_value(text: bytes) -> str:
    """The last value (or name) of `text`, the beginning of a JSON text that ends with it."""
    return text[_start(text) :].decode()


def closing_quote(text: bytes) -> int:
    """The index after the string with which `text` begins."""
    found = _STRING.match(text)
    assert found is not None, "a text that begins with a string"
    return found.end()


def open_bracket(text: bytes, count: int) -> int:
    """The index of the innermost opening bracket without a closing one; for a `count` of 2 that of
    the one around it, and so on. `text` must not end within a string."""
    depth = 0
    at = len(text)
    while True:
        at -= 1
        byte = text[at]
        if byte == ord('"'):
            at = string_start(text, at)
        elif byte in b"]}":
            depth += 1
        elif byte in b"[{":
            depth -= 1
            count -= depth < 0
            depth = max(depth, 0)
            if count == 0:
                return at


def _start(text: bytes) -> int:
    at = len(text) - 1
    if text[at] == ord('"'):
        return string_start(text, at)
    depth = 0
    while at >= 0:
        byte = text[at]
        if byte == ord('"'):
            at = string_start(text, at)
        elif byte in b"]}":
            depth += 1
        elif byte in b"[{" and depth:
            depth -= 1
            if depth == 0:
                return at
        elif depth == 0 and byte in _SEPARATORS:
            return at + 1
        at -= 1
    return 0


def string_start(text: bytes, end: int) -> int:
    """The opening quote of the string whose closing quote stands at `end`.

    Quotes within the string follow a backslash. The opening one follows a separator or a bracket,
    and what stands before it doesn't matter.
    """
    at = text.rindex(b'"', 0, end)
    while text[at - 1 : at] == b"\\":
        at = text.rindex(b'"', 0, at)
    return at
