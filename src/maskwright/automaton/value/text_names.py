"""Names that must not come twice, where only the text has those that came before.

Most names are remembered by the progress of their object (see `automaton.json.remembered_names`).
Of the others, contexts know no more than that there are some, and they are read off the text.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final

from maskwright.automaton.value.last_value import string_start
from maskwright.automaton.value.names_read import NamesMemory, NamesRead


class TextNames:
    """The names of one machine's texts. Not thread-safe."""

    def __init__(self, leaves_names_to_text: Callable[[int], bool]) -> None:
        """`leaves_names_to_text`: see `Contexts`."""
        self.matter: Final = leaves_names_to_text
        """Whether a name is read in a context that must differ from some that only the text has."""
        self._memory: Final = NamesMemory()

    def before(self, text: bytes, name: int) -> NamesRead:
        """The names of the members before the one whose name begins at the index `name`."""
        return self._memory.before(text, name)

    def are_repeated(self, context: int, text: bytes) -> bool:
        """Whether the name read in `context` with which `text` ends repeats one that only the text
        has."""
        if not self.matter(context):
            return False
        start = string_start(text, len(text) - 1)
        name = str(json.loads(text[start:].decode()))
        return self._memory.before(text, start).has(name)
