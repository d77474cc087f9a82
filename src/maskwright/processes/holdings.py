"""What a grammar process holds, as the engine's process knows it."""

from __future__ import annotations

from typing import Final

import numpy as np

from maskwright.processes.follower import FollowedGrammar
from maskwright.processes.learned import Row, shared_array
from maskwright.processes.messages import Description, Expansion, Forget, Lesson


class Holdings:
    """The numbers of the grammars, texts and readers that a process knows, and the masks that it
    has sent. `number` is the process's own, which no other ever has."""

    def __init__(self, number: int) -> None:
        self.number: Final = number
        self.grammars: set[int] = set()
        self.texts: dict[int, int] = {}
        """The grammars of texts, by the texts' numbers."""
        self.readers: dict[int, int] = {}
        """The grammars of readers."""
        self._forget = Forget([], [], [], [])
        self._rows: dict[int, Row] = {}

    def take_forgotten(self) -> Forget | None:
        """What the process is to forget with the next message; None for nothing."""
        if not any(self._forget):
            return None
        forget, self._forget = self._forget, Forget([], [], [], [])
        return forget

    def forget(
        self, *, text: int | None = None, reader: int | None = None, grammar: int | None = None
    ) -> None:
        """Have the process forget what has ended, with the next message. With a grammar it forgets
        the texts and readers of it."""
        if text is not None and self.texts.pop(text, None) is not None:
            self._forget.requests.append(text)
        if reader is not None and self.readers.pop(reader, None) is not None:
            self._forget.readers.append(reader)
        if grammar is not None and grammar in self.grammars:
            self.grammars.discard(grammar)
            self._forget.grammars.append(grammar)
            for number in [each for each, its in self.texts.items() if its == grammar]:
                self.forget(text=number)
            for number in [each for each, its in self.readers.items() if its == grammar]:
                self.forget(reader=number)

    def teach_again(self, grammar: int) -> None:
        """What was sent about a grammar has been forgotten here; have it sent again."""
        if grammar in self.grammars:
            self._forget.taught.append(grammar)

    def take_rows(self, lesson: Lesson) -> dict[int, Row]:
        """Keep the masks that come with a lesson, and return those that it names."""
        self._keep(lesson.rows)
        named = self._named([lesson.here, *(step.reached for step in lesson.steps)])
        self._drop(lesson.forgotten)
        return named

    def take_expansion(self, expansion: Expansion, grammar: FollowedGrammar | None) -> None:
        """Keep the masks that come with an expansion, and have its grammar, if there still is one,
        learn from it."""
        self._keep(expansion.rows)
        if grammar is not None:
            described = [one for target in expansion.targets for one in target.described]
            grammar.take_in(self.number, expansion, self._named(described))
        self._drop(expansion.forgotten)

    def _named(self, described: list[Description]) -> dict[int, Row]:
        """The masks that descriptions name."""
        numbers = (number for one in described for number in (one.row, one.free_row))
        return {number: self._rows[number] for number in numbers if number is not None}

    def _keep(self, rows: list[tuple[int, bytes]]) -> None:
        for number, data in rows:
            self._rows[number] = shared_array(data, np.int32)

    def _drop(self, numbers: list[int]) -> None:
        for number in numbers:
            self._rows.pop(number, None)
