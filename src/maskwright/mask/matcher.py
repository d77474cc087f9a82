"""The one mutable object of a request: where its text stands in the grammar."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from maskwright.automaton.machine import Configuration
from maskwright.mask.forced import forced_tokens

if TYPE_CHECKING:
    from maskwright.mask.grammar import Grammar


class Matcher:
    """A position in a grammar, moved by tokens.

    All of its state is the text, and the configurations after each accepted token, so rolling back
    and forking are list operations, and equal texts give equal states. Not thread-safe; matchers of
    one grammar may be used in different threads.
    """

    __slots__ = ("_ended", "_ends", "_grammar", "_path", "_text")

    def __init__(self, grammar: Grammar) -> None:
        self._grammar = grammar
        self._path = [grammar.start]
        self._text = bytearray()
        self._ends = [0]
        self._ended = False

    @property
    def _here(self) -> Configuration:
        return self._path[-1]

    @property
    def row(self) -> int:
        """The number of the present mask in the row table of the vocabulary."""
        return self._grammar.row(self._here)

    def fill_mask(self, out: npt.NDArray[np.int32], budget: int | None = None) -> None:
        """Write the mask: bit i of word w of `out` (int32, ceil(V/32)) allows token 32*w+i.

        `budget` is the number of tokens that may still come, the next one included; near the end
        only tokens stay allowed after which the text can be completed within it. Raises
        `BudgetError` if that is no longer possible, `ValueError` for an array of another type or
        shape. After an end token nothing is allowed.
        """
        words = self._grammar.vocabulary.words
        if out.dtype != np.int32 or out.shape != (words,):
            raise ValueError(f"out must be int32 of shape ({words},), not {out.dtype} {out.shape}")
        if self._ended:
            out[:] = 0
        elif budget is None:
            number = self.row
            np.copyto(out, self._grammar.space.table.rows[number])
        else:
            self._grammar.budgets.fill(self._here, budget, out, bytes(self._text))

    def accept(self, token: int) -> bool:
        """Move on by a token; False, and nothing changes, if the mask doesn't allow it."""
        grammar = self._grammar
        if self._ended or not 0 <= token < grammar.vocabulary.size:
            return False
        if token in grammar.vocabulary.eos:
            if not self.accepting:
                return False
            self._ended = True
            self._push(self._here, b"")
            return True
        data = grammar.vocabulary.spellings[token]
        following = grammar.advance(self._here, data, self._text) if data else None
        if following is None:
            return False
        self._push(following, data)
        return True

    def _push(self, here: Configuration, data: bytes) -> None:
        self._path.append(here)
        self._text += data
        self._ends.append(len(self._text))

    def accept_bytes(self, data: bytes) -> int:
        """Move on by as many of the bytes as fit, as one step; returns how many fitted."""
        taken = 0
        here = self._here
        while taken < len(data):
            before = self._text + data[:taken]
            following = self._grammar.advance(here, data[taken : taken + 1], before)
            if following is None:
                break
            here = following
            taken += 1
        if taken:
            self._push(here, data[:taken])
        return taken

    @property
    def accepting(self) -> bool:
        """Whether the text so far is complete."""
        return self._grammar.accepting(self._here)

    @property
    def complete(self) -> bool:
        """Whether the text is complete and nothing but an end token may follow."""
        return self.accepting and not self._grammar.next_bytes(self._here)

    @property
    def terminated(self) -> bool:
        """Whether an end token has been accepted."""
        return self._ended

    @property
    def min_tokens(self) -> int:
        """Tokens after which the text can be complete, 0 if it is; see `budget` for the bound."""
        return self._grammar.budgets.tokens_needed(self._here, bytes(self._text))

    def next_bytes(self) -> bytes:
        """The bytes that may come next, ascending."""
        return b"" if self._ended else self._grammar.next_bytes(self._here)

    def forced_tokens(self) -> list[int]:
        """The tokens that must come next whatever is sampled, as the tokenizer would cut them."""
        return [] if self._ended else forced_tokens(self._grammar, self._here, bytes(self._text))

    def rollback(self, count: int) -> None:
        """Undo the last `count` accepted tokens; `ValueError` if there were fewer."""
        if not 0 <= count < len(self._path):
            raise ValueError(f"can't roll back {count} of {len(self._path) - 1} tokens")
        if count:
            del self._path[-count:]
            del self._ends[-count:]
            del self._text[self._ends[-1] :]
            self._ended = False

    def fork(self) -> Matcher:
        """An independent matcher at the same position."""
        twin = Matcher(self._grammar)
        twin._path = self._path.copy()
        twin._text = self._text.copy()
        twin._ends = self._ends.copy()
        twin._ended = self._ended
        return twin

    def reset(self) -> None:
        """Back to the start of the text."""
        self.__init__(self._grammar)

    def __repr__(self) -> str:
        return f"Matcher({len(self._path) - 1} tokens, at {tuple(self._here)})"
