"""The place at which the beginning of a JSON text stands."""

from __future__ import annotations

import json


def open_place(text: bytes) -> list[str | int]:
    """The names and indexes that lead to the innermost value of `text` that isn't complete: to the
    object itself, where a name comes next or is being read."""
    path: list[str | int] = []
    awaits_name = False
    at = 0
    while at < len(text):
        byte = text[at]
        if byte == ord('"'):
            end = _string_end(text, at)
            if end is None:
                break
            if awaits_name:
                path[-1], awaits_name = str(json.loads(text[at:end])), False
            at = end
            continue
        if byte in b"{[":
            path.append(0 if byte == ord("[") else "")
            awaits_name = byte == ord("{")
        elif byte in b"}]" and path:
            path.pop()
            awaits_name = False
        elif byte == ord(",") and path:
            last = path[-1]
            awaits_name = isinstance(last, str)
            path[-1] = last if isinstance(last, str) else last + 1
        at += 1
    return path[:-1] if awaits_name else path


def _string_end(text: bytes, at: int) -> int | None:
    """The index after the string that begins at `at`; None if it isn't complete."""
    at += 1
    while at < len(text):
        if text[at] == ord('"'):
            return at + 1
        at += 1 + (text[at] == ord("\\"))
    return None
