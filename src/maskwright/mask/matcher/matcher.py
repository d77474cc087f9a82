"""The one mutable object of a request: where its text stands in the grammar."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from maskwright.automaton.events.events import Event
from maskwright.mask.budget.masks import BudgetMasks
from maskwright.mask.matcher.forced import forced_tokens
from maskwright.mask.matcher.reader import EventReader
from maskwright.mask.position import Position
from maskwright.mask.walk.row_table import write_row
from maskwright.mask.walker import Walker

_INT32: Final = np.dtype(np.int32)


class Matcher:
    """A position in a grammar, moved by tokens.

    All of its state is the text, and the positions after each accepted token, so rolling back and
    forking are list operations, and equal texts give equal states. Not thread-safe; matchers of one
    grammar may be used in different threads.
    """

    __slots__ = (
        "_budgets",
        "_ends",
        "_events",
        "_path",
        "_recognizer",
        "_steps",
        "_text",
        "_told",
        "_walker",
        "_words",
    )

    def __init__(self, walker: Walker, budgets: BudgetMasks) -> None:
        self._walker = walker
        self._budgets = budgets
        self._recognizer = walker.recognizer
        self._words = (walker.tables.vocabulary.words,)
        self._path = [walker.recognizer.first]
        self._steps: list[int | bytes] = []
        self._text = bytearray()
        self._ends = [0]
        self._events: EventReader | None = None
        self._told = 0
        """Bytes of the text whose events have been told."""

    @property
    def row(self) -> int:
        """The number of the present mask in the row table of the vocabulary."""
        here = self._path[-1]
        if not here.record:
            self._walker.find(here, self._read)
        return here.row

    @property
    def known(self) -> bool:
        """Whether the present mask has been found before, in this text or another."""
        return bool(self._path[-1].record)

    @property
    def state(self) -> tuple[int, ...]:
        """Where the text stands, in the machine's numbers; equal texts have equal ones."""
        return tuple(self._path[-1].configuration)

    def fill_mask(self, out: npt.NDArray[np.int32], budget: int | None = None) -> None:
        """Write the mask: bit i of word w of `out` (int32, ceil(V/32)) allows token 32*w+i.

        `budget` is the number of tokens that may still come, the next one included; near the end
        only tokens stay allowed after which the text can be completed within it. Raises
        `BudgetError` if that is no longer possible, `ValueError` for an array of another type or
        shape. After an end token nothing is allowed. Where `accept_bytes` has led to a place from
        which the vocabulary can't spell any way on, `UnspellableError` says so.
        """
        if out.dtype != _INT32 or out.shape != self._words:
            words = self._words[0]
            raise ValueError(f"out must be int32 of shape ({words},), not {out.dtype} {out.shape}")
        here = self._path[-1]
        if budget is not None and budget < here.sufficient_budget:
            self._budgets.fill(here, budget, out, bytes(self._read()))
            return
        if not here.record:
            self._walker.find(here, self._read)
        try:
            write_row(here.record, out)
        except TypeError:  # the words don't lie side by side
            row = np.empty(out.shape, _INT32)
            write_row(here.record, row)
            out[:] = row

    def accept(self, token: int) -> bool:
        """Move on by a token; False, and nothing changes, if the mask doesn't allow it."""
        path = self._path
        following = path[-1].moves.get(token)
        if following is None:
            following = self._after(token)
            if following is None:
                return False
        path.append(following)
        self._steps.append(token)
        return True

    def _after(self, token: int) -> Position | None:
        """The position after a token that was not taken from here before; None if the mask doesn't
        allow it."""
        recognizer, here = self._recognizer, self._path[-1]
        vocabulary = recognizer.vocabulary
        if here is recognizer.ended or not 0 <= token < vocabulary.size:
            return None
        if token in vocabulary.eos:
            return recognizer.ended if recognizer.accepting(here.configuration) else None
        if not vocabulary.spellings[token]:
            return None
        return self._walker.after(here, int(token), self._read)

    def _read(self) -> bytearray:
        """The text so far."""
        spellings = self._recognizer.vocabulary.spellings
        for step in self._steps[len(self._ends) - 1 :]:
            self._text += step if isinstance(step, bytes) else spellings[step]
            self._ends.append(len(self._text))
        return self._text

    def accept_bytes(self, data: bytes) -> int:
        """Move on by as many of the bytes as fit, as one step; returns how many fitted."""
        recognizer = self._recognizer
        if self._path[-1] is recognizer.ended:
            return 0
        taken = 0
        here = self._path[-1].configuration
        text = self._read()
        while taken < len(data):
            following = recognizer.advance(here, data[taken : taken + 1], text + data[:taken])
            if following is None:
                break
            here = following
            taken += 1
        if taken:
            self._path.append(recognizer.position(here))
            self._steps.append(data[:taken])
        return taken

    @property
    def accepting(self) -> bool:
        """Whether the text so far is complete."""
        here = self._path[-1]
        known = here.accepting
        return self._recognizer.accepting(here.configuration) if known is None else known

    @property
    def complete(self) -> bool:
        """Whether the text is complete and nothing but an end token may follow."""
        here = self._path[-1]
        known = here.complete
        return self._recognizer.complete(here) if known is None else known

    @property
    def terminated(self) -> bool:
        """Whether an end token has been accepted."""
        return self._path[-1] is self._recognizer.ended

    @property
    def min_tokens(self) -> int:
        """Tokens after which the text can be complete, 0 if it is; see `budget` for the bound."""
        if self.terminated:
            return 0
        return self._budgets.costs.tokens_needed(self._path[-1].configuration, bytes(self._read()))

    def next_bytes(self) -> bytes:
        """The bytes that may come next, ascending."""
        if self.terminated:
            return b""
        return self._recognizer.next_bytes(self._path[-1].configuration)

    def forced_tokens(self) -> list[int]:
        """The tokens that must come next whatever is sampled, as the tokenizer would cut them."""
        if self.terminated:
            return []
        here = self._path[-1]
        if here.forced_byte == b"":
            return []
        return forced_tokens(self._recognizer, here.configuration, bytes(self._read()))

    def events(self, *, final: bool = False) -> list[Event]:
        """What the text accepted since the last call says: captures, and JSON's structure.

        Joined, the pieces of text are the same however the text was cut into tokens and calls.
        `final`: the text goes no further, so that what was held back is told.
        What has been told is not taken back when tokens are rolled back; events go on from there.
        """
        text, ended = bytes(self._read()), self.terminated or (final and self.accepting)
        reader = self._events
        # A reader that has told the end reads no further: the end may have been taken back.
        if reader is None or (reader.ended and not (ended and reader.read == len(text))):
            reader = self._events = EventReader(self._recognizer)
            if self._told:
                reader.go_on(text[: self._told], ended=False)
        try:
            events = reader.go_on(text[reader.read :], ended=ended, final=final)
        except BaseException:
            self._events = None  # It stands in the middle of its work.
            raise
        self._told = reader.read
        return events

    def rollback(self, count: int) -> None:
        """Undo the last `count` accepted tokens; `ValueError` if there were fewer."""
        left = len(self._steps) - count
        if count < 0 or left < 0:
            raise ValueError(f"can't roll back {count} of {len(self._steps)} tokens")
        del self._path[left + 1 :]
        del self._steps[left:]
        del self._ends[left + 1 :]
        del self._text[self._ends[-1] :]
        self._told = min(self._told, len(self._text))
        if self._events is not None and self._events.read > len(self._text):
            self._events = None  # It has read bytes that are gone, whatever comes in their place.

    def fork(self) -> Matcher:
        """An independent matcher at the same position."""
        twin = Matcher(self._walker, self._budgets)
        twin._adopt(self)
        return twin

    def _adopt(self, other: Matcher) -> None:
        """Stand where another matcher of the same grammar does."""
        self._path = other._path.copy()
        self._steps = other._steps.copy()
        self._text = other._text.copy()
        self._ends = other._ends.copy()
        self._told = other._told

    def reset(self) -> None:
        """Back to the start of the text."""
        self.__init__(self._walker, self._budgets)

    def __repr__(self) -> str:
        here = "the end" if self.terminated else tuple(self._path[-1].configuration)
        return f"Matcher({len(self._steps)} tokens, at {here})"
