"""Where bytes lead from one level of a machine, whatever is below it on the stack.

This is the machine of `automaton.machine.step` read in plain Python, as `automaton.machine.trace`
reads it. A stack here has only the contexts above some base; where a level at the base is popped,
the result is the label that the level below would be left with.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from maskwright.automaton.leaf.characters import open_targets
from maskwright.automaton.leaf.keys import Begun, Key
from maskwright.automaton.leaf.rows import DEAD
from maskwright.automaton.leaf.spelling import DIGITS, PAIR, PAIR_U
from maskwright.automaton.machine.exits import BLOCKED, DONE, DYNAMIC, apply_exit
from maskwright.immutable import Immutable
from maskwright.limits import CHEAP, spend
from maskwright.mask.recognizer import Recognizer

_CONTROL_DIGITS: Final = {4: b"0", 3: b"0", 2: b"01"}
"""By the number of digits that are left of an escape `\\uXXXX`: those up to `\\u001f`."""

_LAST_CONTROL: Final = 0x1F
_LETTER_U: Final = ord("u")

END: Final = 256
"""Stands for the end of the text wherever a byte may stand."""

Moves: TypeAlias = npt.NDArray[np.int32]
"""int32 [257]: the number of the outcome of each byte and of `END`; 0 where it is refused."""
Stack: TypeAlias = tuple[int, ...]
"""Contexts above a base, the innermost last."""


def _plain_first() -> npt.NDArray[np.int32]:
    order = sorted(
        range(256),
        key=lambda byte: (not chr(byte).isalnum() or byte > 127, not 32 <= byte < 127, byte),
    )
    return np.array(order, np.int32)


PLAIN_FIRST: Final = _plain_first()
"""Every byte, those that people read most easily first."""


def _controls_are_alike(key: Key) -> bool:
    """Whether a backslash has been read after which all control characters lead to one state, to
    which the escape of a line break leads as well."""
    if not (isinstance(key, Begun) and key.is_escape):
        return False
    lines = (replace(key, part=DIGITS + 1, value=digit) for digit in (0, 1))
    found = [pair for line in lines for pair in open_targets(line)]
    return len({target for target, _ in found}) <= 1 and sum(n for _, n in found) in (0, 32)


class Standing(Immutable):
    """A leaf state over contexts."""

    leaf: int
    stack: Stack


class Popped(Immutable):
    """Every level above the base has been popped; the level below is left with `label` next, before
    the byte is read unless it has been."""

    label: Hashable
    has_read: bool


Outcome: TypeAlias = Standing | Popped | None
"""What a byte leads to; None if it is refused."""

ENDED: Final = Standing(DEAD, (DONE,))
"""After the end of the text."""


class LevelMoves:
    """The moves of one grammar, each computed once."""

    def __init__(self, recognizer: Recognizer, *, few_escapes: bool) -> None:
        """`few_escapes`: leave out escapes `\\uXXXX` of characters that have another spelling in
        JSON strings, and so lead nowhere else."""
        self._recognizer = recognizer
        self._few_escapes = few_escapes
        self._machine = recognizer.machine
        self._rows: dict[int, npt.NDArray[np.int32]] = {}
        self._moves: dict[tuple[int, int], Moves] = {}
        self._handed: dict[tuple[Hashable, int], Moves] = {}
        self._numbers: dict[Outcome, int] = {None: 0}
        self._reaches: dict[int, dict[int, bytes]] = {}
        self.outcomes: list[Outcome] = [None]
        """By number; equal outcomes have one number."""
        self.depends_on_text = False
        """Whether an exit was taken that depends on the text, as if names and items were new."""

    def start(self) -> Standing:
        """Where every text begins."""
        leaf, node = self._recognizer.start
        return Standing(leaf, tuple(reversed(self._machine.stack(node))))

    def moves(self, leaf: int, context: int) -> Moves:
        """The outcomes at a leaf state over one context."""
        known = self._moves.get((leaf, context))
        if known is None:
            with self._recognizer:
                known = self._moves[leaf, context] = self._find_moves(leaf, context)
        return known

    def handed(self, label: Hashable, context: int) -> Moves:
        """The outcomes where a level has been popped with `label`, and the byte has yet to be read
        on the level of `context`."""
        known = self._handed.get((label, context))
        if known is None:
            with self._recognizer:
                left = self._leave(label, (context,))
                known = self._handed[label, context] = self._after_leaving(left)
        return known

    def lifted(self, outcome: Outcome, below: Stack, byte: int) -> Outcome:
        """The outcome of `byte` where the contexts `below` stand under the level that has
        `outcome`."""
        with self._recognizer:
            return self._lifted(outcome, below, byte)

    def row(self, leaf: int) -> npt.NDArray[np.int32]:
        """int32 [256]: the next state within the leaf by byte, DEAD where there is none."""
        known = self._rows.get(leaf)
        if known is None:
            spend(CHEAP)
            known = np.full(256, DEAD, np.int32)
            leaves = self._machine.leaves
            if leaf != DEAD and not leaves.rows.eager[leaf]:
                digits = self._digits(leaves.keys[leaf])
                for byte, target in leaves.next_states(leaf).items():
                    if digits is None or byte in digits:
                        known[byte] = target
            self._rows[leaf] = known
        return known

    def _digits(self, key: Key) -> bytes | None:
        """The digits of an escape that are followed: only control characters', which have no
        spelling of one byte. None for all."""
        if not self._few_escapes or not isinstance(key, Begun) or not DIGITS < key.part <= PAIR_U:
            return None
        left = key.part - DIGITS
        if key.part >= PAIR or key.value << 4 * left > _LAST_CONTROL:
            return b""
        return _CONTROL_DIGITS.get(left)

    def gate(self, context: int) -> tuple[int, int] | None:
        """The names that a context still allows; see `Contexts.gate`."""
        return self._machine.contexts.gate(context)

    def is_open(self, leaf: int, context: int) -> bool:
        """Whether a context still allows a name that can be reached from a leaf state."""
        return self._machine.gate_open(leaf, context)

    def reaches(self, leaf: int) -> dict[int, bytes]:
        """The states of a leaf, one of each kind, from which it can be left, with bytes that lead
        there. States are of one kind that have one label and go on with the same bytes."""
        known = self._reaches.get(leaf)
        if known is None:
            with self._recognizer:
                known = self._reaches[leaf] = self._find_reaches(leaf)
        return known

    def _find_reaches(self, leaf: int) -> dict[int, bytes]:
        arrays = self._machine.leaves
        paths = {leaf: b""}
        kinds: set[tuple[Hashable, bytes, int, int]] = set()
        found: dict[int, bytes] = {}
        waiting = deque([leaf])
        while waiting:
            state = waiting.popleft()
            row = self.row(state)
            if self._few_escapes and _controls_are_alike(arrays.keys[state]):
                row = row.copy()
                row[_LETTER_U] = DEAD
            label = arrays.label_of(state)
            gates = int(arrays.rows.gate_low[state]), int(arrays.rows.gate_high[state])
            kind = (label, (row != DEAD).tobytes(), *gates)
            if label is not None and kind not in kinds:
                kinds.add(kind)
                found[state] = paths[state]
            targets, firsts = np.unique(row[PLAIN_FIRST], return_index=True)
            for target, first in zip(targets.tolist(), firsts.tolist(), strict=True):
                if target != DEAD and target not in paths:
                    paths[target] = paths[state] + bytes([int(PLAIN_FIRST[first])])
                    waiting.append(target)
        return found

    def _find_moves(self, leaf: int, context: int) -> Moves:
        if context == DONE:
            moves = np.zeros(END + 1, np.int32)
            moves[END] = self._number(ENDED)
            return moves
        row = self.row(leaf)
        label = self._label(leaf)
        left = None if label is None else self._leave(label, (context,))
        moves = self._after_leaving(left).copy()
        for target in np.unique(row).tolist():
            if target != DEAD and self._machine.gate_open(target, context):
                moves[:END][row == target] = self._number(
                    self._settled(Standing(target, (context,)))
                )
        return moves

    def _after_leaving(self, left: Outcome) -> Moves:
        """The outcomes of a byte that is read after a leaf was left."""
        moves = np.zeros(END + 1, np.int32)
        if left is None:
            return moves
        if isinstance(left, Popped):
            moves[:] = self._number(left)
            return moves
        above = self.moves(left.leaf, left.stack[-1])
        if len(left.stack) == 1:
            return above
        for byte in np.flatnonzero(above).tolist():
            outcome = self.outcomes[above[byte]]
            moves[byte] = self._number(self._lifted(outcome, left.stack[:-1], byte))
        return moves

    def _lifted(self, outcome: Outcome, below: Stack, byte: int) -> Outcome:
        while below and isinstance(outcome, Popped):
            if outcome.has_read:
                left = self._leave(outcome.label, below)
                if isinstance(left, Popped):
                    return Popped(left.label, True)
                return self._settled(left)
            outcome = self.outcomes[self.handed(outcome.label, below[-1])[byte]]
            below = below[:-1]
        if isinstance(outcome, Standing):
            return Standing(outcome.leaf, below + outcome.stack)
        return outcome

    def _settled(self, here: Outcome) -> Outcome:
        """Leave leaves that are left as soon as they are reached."""
        while isinstance(here, Standing) and here.stack[-1] != DONE and self._is_over(here.leaf):
            here = self._leave(self._label(here.leaf), here.stack)
            if isinstance(here, Popped):
                return Popped(here.label, True)
        return here

    def _is_over(self, leaf: int) -> bool:
        return self._label(leaf) is not None and not (self.row(leaf) != DEAD).any()

    def _label(self, leaf: int) -> Hashable:
        return None if leaf == DEAD else self._machine.leaves.label_of(leaf)

    def _leave(self, label: Hashable, stack: Stack) -> Outcome:
        """Leave a leaf with a label."""
        while stack:
            spend(CHEAP)
            taken = self._machine.contexts.exit(stack[-1], label)
            if taken.kind == BLOCKED:
                return None
            self.depends_on_text |= bool(taken.kind & DYNAMIC)
            removed, added = apply_exit(taken)
            stack = stack[: len(stack) - removed] + added
            if not taken.pops:
                return Standing(taken.leaf, stack)
            label = taken.result
        return Popped(label, False)

    def _number(self, outcome: Outcome) -> int:
        number = self._numbers.setdefault(outcome, len(self.outcomes))
        if number == len(self.outcomes):
            self.outcomes.append(outcome)
        return number
