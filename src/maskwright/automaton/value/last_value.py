"""The JSON value that a text ends with."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_SEPARATORS = b" \t\n\r,:[{"
_STRING: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)


def last_value(text: bytes) -> str:
    """The last value (or name) of `text`, the beginning of a JSON text that ends with it."""
    last = len(text) - 1
    if text[last] == ord('"'):
        start = string_start(text, last)
    elif text[last] in b"]}":
        start = next(at for at, depth in signs_before(text, last + 1) if depth == 0)
    else:
        start = next((at + 1 for at in range(last, -1, -1) if text[at] in _SEPARATORS), 0)
    return text[start:].decode()


def closing_quote(text: bytes) -> int:
    """The index after the string with which `text` begins."""
    found = _STRING.match(text)
    assert found is not None, "a text that begins with a string"
    return found.end()


def open_bracket(text: bytes, count: int) -> int:
    """The index of the innermost opening bracket without a closing one; for a `count` of 2 that of
    the one around it, and so on. `text` must not end within a string."""
    return next(at for at, depth in signs_before(text, len(text)) if depth == -count)


def signs_before(text: bytes, end: int) -> Iterator[tuple[int, int]]:
    """The indexes of the brackets and colons before `end` that are in no string, the last first,
    each with how many more brackets are closed than opened from there to `end`."""
    depth, at = 0, end - 1
    while at >= 0:
        byte = text[at]
        if byte == ord('"'):
            at = string_start(text, at)
        elif byte in b"]}[{:":
            depth += (byte in b"]}") - (byte in b"[{")
            yield at, depth
        at -= 1


def string_start(text: bytes, end: int) -> int:
    """The opening quote of the string whose closing quote stands at `end`.

    Quotes within the string follow a backslash. The opening one follows a separator or a bracket,
    and what stands before it doesn't matter.
    """
    at = text.rindex(b'"', 0, end)
    while text[at - 1 : at] == b"\\":
        at = text.rindex(b'"', 0, at)
    return at
