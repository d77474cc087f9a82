"""Answers questions about texts of one grammar, with a matcher a request."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from hashlib import blake2b
from typing import Final

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from maskwright.errors import GenerationError
from maskwright.mask import Grammar, Matcher
from maskwright.mask.position import Position
from maskwright.processes.messages import (
    ENDLESS,
    OWN,
    Description,
    Lesson,
    Scope,
    Step,
    TextQuestion,
)

MOST_ROW_BYTES: Final = 32 << 20
"""Bytes of the masks that the other process is known to hold."""


class SentRows:
    """The numbers of masks that have been sent. Those that were used longest ago are forgotten
    first, here and, by the next lesson, in the other process."""

    def __init__(self, room: int = MOST_ROW_BYTES) -> None:
        self._room = room
        self._numbers: OrderedDict[bytes, int] = OrderedDict()
        self._next = 0
        self._size = 0
        self.rows: list[tuple[int, bytes]] = []
        """Rows that go with the next lesson."""
        self.forgotten: list[int] = []
        """Numbers that are forgotten with the next lesson."""

    def number(self, row: npt.NDArray[np.int32]) -> int:
        """The number of a mask, int32 `[words]`."""
        data = row.tobytes()
        digest = data if len(data) <= 64 else blake2b(data, digest_size=16).digest()
        known = self._numbers.get(digest)
        if known is not None:
            self._numbers.move_to_end(digest)
            return known
        number = self._numbers[digest] = self._next
        self._next += 1
        self.rows.append((number, data))
        self._size += len(data)
        while self._size > self._room and len(self._numbers) > 1:
            _, oldest = self._numbers.popitem(last=False)
            self.forgotten.append(oldest)
            self._size -= len(data)
        return number

    def take(self) -> tuple[list[tuple[int, bytes]], list[int]]:
        """What goes with a lesson: new rows, and numbers that are forgotten."""
        rows, self.rows = self.rows, []
        forgotten, self.forgotten = self.forgotten, []
        return rows, forgotten


class Reading:
    """A matcher of one request, and the numbers of its grammar's positions."""

    def __init__(self, grammar: Grammar, number: Callable[[Position], int], rows: SentRows) -> None:
        """`number` gives the number by which the other process knows a position."""
        self.matcher: Final[Matcher] = grammar.matcher()
        self._number = number
        self._rows = rows
        self._mask = np.zeros(grammar.vocabulary.words, np.int32)
        self.read = 0
        """Tokens read so far."""

    def go_to(self, known: int, tokens: list[int]) -> None:
        """Read the text that consists of the first `known` tokens read before and `tokens`."""
        self.matcher.rollback(self.read - known)
        self.read = known
        for token in tokens:
            self._accept(token)

    def lesson(self, question: TextQuestion) -> Lesson:
        """The answer to a question, which continues where the last one ended or before. Raises what
        a matcher raises; then the reading is of no more use."""
        tokens, new = question.tokens, question.new
        self.go_to(question.known, tokens[: len(tokens) - new])
        here = self._describe()
        steps = [self._step(token) for token in tokens[len(tokens) - new :]]
        left, end = question.left, self._describe()
        while left and not (end.complete or self.matcher.terminated):
            run = self.matcher.forced_run() if question.canonical else None
            if run is None or not run.within(left):
                here, steps = _put(here, steps, replace(self._with_mask(end, left), run=run))
                break
            here, steps = _put(here, steps, replace(end, run=run))
            steps += [self._step(token) for token in run.tokens]
            left, end = left - len(run.tokens), self._describe()
        # What was forced is read again, with the tokens that turn out to be the text's.
        ahead = len(steps) - new
        self.matcher.rollback(ahead)
        self.read -= ahead
        return Lesson(here, steps, *self._rows.take())

    def _accept(self, token: int) -> None:
        if not self.matcher.accept(token):
            raise GenerationError(f"The grammar refused token {token}, which its mask allowed.")
        self.read += 1

    def _step(self, token: int) -> Step:
        before = self.matcher.position
        self._accept(token)
        shared = before.moved(token) is self.matcher.position or self.matcher.terminated
        return Step(token, shared and self.matcher.by_position, self._describe())

    def _describe(self) -> Description:
        matcher = self.matcher
        number = OWN
        if matcher.by_position:
            number = self._number(matcher.position)
        if matcher.terminated:
            return Description(number, matcher.state, accepting=True, complete=True)
        return Description(number, matcher.state, matcher.accepting, matcher.complete)

    def _with_mask(self, end: Description, left: int) -> Description:
        matcher, mask = self.matcher, self._mask
        matcher.fill_mask(mask, left)
        low, high, shared = matcher.mask_scope(left)
        scope = Scope(low, high, shared and matcher.by_position)
        free = None if high >= ENDLESS else matcher.free_mask(left, mask)
        number = self._rows.number
        row, free_row = number(mask), None if free is None else number(free)
        return replace(end, row=row, scope=scope, free_row=free_row)


def _put(here: Description, steps: list[Step], end: Description) -> tuple[Description, list[Step]]:
    """Replace the description of the position that the last step has reached."""
    if not steps:
        return end, steps
    return here, [*steps[:-1], replace(steps[-1], reached=end)]
