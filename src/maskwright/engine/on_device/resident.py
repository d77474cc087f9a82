"""Tables of states that stay on the device, one after the other in memory of a fixed size."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from maskwright.engine.on_device.automaton import STOPPED, TokenAutomaton
from maskwright.kernels.steps.next_rows import NextRows

MASK_BYTES: Final = 64 << 20
"""Bytes of all masks on the device: 4,096 masks of a vocabulary of 131,072 tokens."""

MOST_STATES: Final = 1 << 16
MOST_MOVES: Final = 1 << 20
"""States and moves of all tables, 20 and 8 bytes each."""


class ResidentTables:
    """The tables on `device`, for masks of `words` words. `masks` is int32 `[places, words]`.

    The addresses of its tensors never change, so that steps which read them can be recorded once.
    A table that doesn't fit after the others takes the place of all of them: tables are small, and
    those in use are copied anew. To be used from one thread at a time.
    """

    def __init__(
        self,
        words: int,
        device: torch.device,
        *,
        mask_bytes: int = MASK_BYTES,
        states: int = MOST_STATES,
        moves: int = MOST_MOVES,
    ) -> None:
        places = min(states, max(1, mask_bytes // (4 * words)))

        def room(*shape: int) -> Tensor:
            return torch.zeros(*shape, dtype=torch.int32, device=device)

        self.masks = room(places, words)
        self.copied = 0
        """Tables that have been copied to the device."""
        self._states = room(5, states)
        self._moves = room(2, moves)
        self._bases: dict[TokenAutomaton, int] = {}
        self._most = 0
        self._clear()

    @property
    def next_rows(self) -> NextRows:
        """The tables as the kernel reads them."""
        return NextRows(*self._states.unbind(), *self._moves.unbind(), most=self._most)

    def bases(self, automata: Sequence[TokenAutomaton]) -> list[int] | None:
        """Return where the states of each of `automata` begin on the device, after copying those
        there that it lacks; None if they don't fit together."""
        each = dict.fromkeys(automata)
        if not self._fits([one for one in each if one not in self._bases]):
            self._clear()
            if not self._fits(each):
                return None
        for automaton in each:
            if automaton not in self._bases:
                self._copy(automaton)
        return [self._bases[automaton] for automaton in automata]

    def _clear(self) -> None:
        self._bases.clear()
        self._most = 0
        self._masks_used = self._states_used = self._moves_used = 0

    def _fits(self, automata: Iterable[TokenAutomaton]) -> bool:
        each = list(automata)
        return (
            self._masks_used + sum(len(one.rows) for one in each) <= len(self.masks)
            and self._states_used + sum(len(one.mask) for one in each) <= self._states.shape[1]
            and self._moves_used + sum(len(one.tokens) for one in each) <= self._moves.shape[1]
        )

    def _copy(self, automaton: TokenAutomaton) -> None:
        base, states, moves = self._states_used, len(automaton.mask), len(automaton.tokens)
        starts = automaton.starts + np.int32(self._moves_used)
        columns = np.stack(
            (
                automaton.mask + np.int32(self._masks_used),
                automaton.needs,
                _moved(automaton.others, base),
                starts[:-1],
                starts[1:],
            )
        )
        pairs = np.stack((automaton.tokens, _moved(automaton.targets, base)))
        rows = np.stack(automaton.rows)
        for place, values in (
            (self._states[:, base : base + states], columns),
            (self._moves[:, self._moves_used : self._moves_used + moves], pairs),
            (self.masks[self._masks_used : self._masks_used + len(rows)], rows),
        ):
            place.copy_(torch.from_numpy(values))
        self._bases[automaton] = base
        self._states_used += states
        self._moves_used += moves
        self._masks_used += len(rows)
        self._most = max(self._most, int(np.diff(automaton.starts).max(initial=0)))
        self.copied += 1


def _moved(targets: NDArray[np.int32], base: int) -> NDArray[np.int32]:
    """Numbers of states on the device."""
    return np.where(targets == STOPPED, STOPPED, targets + np.int32(base)).astype(np.int32)
