"""Resolves the escapes of a string that arrives in pieces."""

from __future__ import annotations

import json
import re
from typing import Final

from maskwright.grammar.tools.python_literals import json_text

_BEGUN: Final = re.compile(r"\\(u[0-9a-fA-F]{0,3}|x[0-9a-fA-F]?)?$")
"""An escape that has been begun at the end of a text without other backslashes before it."""


class Unescaper:
    """The text of one string. `spelling`: the literals of which language it is written in ("json",
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
