"""A compiled grammar: a machine over a vocabulary, with its mask rows; and how to compile one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

import numpy as np
import numpy.typing as npt

from maskwright.automaton.completion import Completion, Finisher
from maskwright.automaton.last_value import last_value
from maskwright.automaton.leaf import DEAD
from maskwright.automaton.machine import BLOCKED, NO_NODE, Configuration, Contexts, Machine
from maskwright.automaton.step import is_accepting, next_bytes, node_of
from maskwright.grammar.schema import Report
from maskwright.limits import Limits
from maskwright.mask.budget import Budgets
from maskwright.mask.matcher import Matcher
from maskwright.mask.position import Position
from maskwright.mask.rows import FULL, packed
from maskwright.mask.space import NOTHING, Space
from maskwright.mask.tables import Begun, Directory, Scratch
from maskwright.mask.walk import DYNAMIC, MOST_DYNAMIC, PENDING, find_row, take_bytes, take_token

if TYPE_CHECKING:
    from collections.abc import Callable


_SPACE: Final = np.frombuffer(b" ", np.uint8)


class FinishingContexts(Contexts, Finisher, Protocol):
    """What a grammar is made of: contexts that also know how to finish."""


class Grammar:
    """What compiling gives: immutable to its users, thread-safe, lazily filled inside."""

    def __init__(
        self, space: Space, contexts: FinishingContexts, report: Report, limits: Limits
    ) -> None:
        self.report: Final = report
        self.vocabulary: Final = space.vocabulary
        self.space: Final = space
        self._positions: dict[Configuration, Position] = {}
        self._directory = Directory()
        self.scratch = Scratch.of(space.trie.height, space.vocabulary.words)
        with space.lock:
            self.machine = Machine(space.leaves, contexts, limits)
            self.budgets: Final = Budgets(self, Completion(self.machine, contexts, limits))
        self.first: Final = self.position(self.machine.start)
        self.ended: Final = self._ended()
        """Behind an end token; it is no configuration of the machine."""

    @property
    def start(self) -> Configuration:
        return self.machine.start

    def _ended(self) -> Position:
        position = Position(Configuration(DEAD, NO_NODE))
        position.accepting = True
        position.complete = True
        position.enough = 0
        position.row = 0
        position.record = self.space.table.address(0)
        return position

    def matcher(self) -> Matcher:
        """A matcher at the start of a text."""
        return Matcher(self)

    def position(self, here: Configuration) -> Position:
        """What is known of a configuration."""
        known = self._positions.get(here)
        if known is None:
            known = self._positions.setdefault(here, Position(here))
        return known

    def row(self, here: Configuration) -> int:
        """The number of the mask row at a configuration."""
        position = self.position(here)
        if position.record == 0:
            self.find(position)
        return position.row

    def find(self, position: Position) -> None:
        """Find the mask row of a position, if it isn't known."""
        with self.space.lock:
            if position.record == 0:
                number = self._walk(position.configuration)
                position.row = number
                position.record = self.space.table.address(number)

    def _walk(
        self,
        here: Configuration,
        leaves: npt.NDArray[np.int32] | None = None,
        nodes: npt.NDArray[np.int32] | None = None,
        *,
        whole: bool = False,
    ) -> int:
        """The number of the mask row, computed afresh; see `mask.walk.find_row`."""
        leaf, node = here
        begun = NOTHING if whole else self._begun(here)
        to_leaves = 0 if leaves is None else int(leaves.ctypes.data)
        to_nodes = 0 if nodes is None else int(nodes.ctypes.data)
        resumed = 0
        while True:
            number = find_row(self.address(), leaf, node, *begun, resumed, to_leaves, to_nodes)
            if number >= 0:
                return number
            if number == FULL:
                self.space.table.grow()
            else:
                self.machine.supply()
            resumed = 1

    def _begun(self, here: Configuration) -> Begun:
        """What of the mask at a configuration is at hand."""
        space = self.space
        found = space.begun_string(here.leaf)
        if found is not None:
            return found
        if not space.is_text(here.leaf):
            return NOTHING
        while (behind := take_bytes(self.address(), *here, _SPACE)) == PENDING:
            self.machine.supply()
        run, spaced = space.run(here.leaf), None if behind < 0 else space.run(behind >> 32)
        return space.texts.begun(run, spaced) if run or spaced else NOTHING

    def address(self) -> int:
        """Where compiled code finds everything."""
        space = self.space
        directory, leaves, machine = self._directory, space.leaves.arrays, self.machine.arrays
        rows = space.table.arrays
        if (
            directory.leaves is not leaves
            or directory.machine is not machine
            or directory.rows is not rows
        ):
            directory.write(leaves, machine, rows, space.whole, space.spelling, self.scratch)
        return directory.address

    def following(
        self, here: Configuration, *, leaving: bool = False
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """For each token the (leaf, node) behind it, leaf -1 where it is not allowed.

        int32 [V] each. With `leaving` only tokens that pass a closing quote are looked at.
        """
        with self.space.lock:
            leaves = np.full(self.vocabulary.size, DEAD, np.int32)
            nodes = np.zeros(self.vocabulary.size, np.int32)
            self._walk(here, leaves, nodes, whole=not leaving)
            return leaves, nodes

    def successors(
        self, here: Configuration, *, leaving: bool = False
    ) -> list[tuple[Configuration, int]]:
        """The configurations that one token leads to, each with the first such token."""
        leaves, nodes = self.following(here, leaving=leaving)
        allowed = np.flatnonzero(leaves >= 0)
        pairs = (leaves[allowed].astype(np.int64) << 32) | nodes[allowed]
        distinct, first = np.unique(pairs, return_index=True)
        return [
            (Configuration(pair >> 32, pair & 0xFFFFFFFF), int(allowed[at]))
            for pair, at in zip(distinct.tolist(), first.tolist(), strict=True)
        ]

    def write_allowed(
        self, here: Configuration, kept: npt.NDArray[np.bool_], out: npt.NDArray[np.int32]
    ) -> None:
        """Write the mask row of the tokens in `kept` (bool [V]), and of end tokens if they fit."""
        if self.accepting(here):
            kept[list(self.vocabulary.eos)] = True
        out[:] = packed(kept)

    def begins_longer_token(self, data: bytes) -> bool:
        """Whether some token goes on behind these bytes."""
        return data in self.space.prefixes

    @property
    def min_tokens(self) -> int:
        """Tokens in which a text can certainly be written: those of the shortest text."""
        return self.budgets.tokens_needed(self.start)

    def least_tokens(self, enough: int) -> int:
        """The fewest tokens found for any text; looks beyond `min_tokens` if that is more than
        `enough`, for some longer texts take fewer tokens."""
        with self.space.lock:
            return self.budgets.least_tokens(self.start, enough)

    def after(
        self, position: Position, token: int, before: Callable[[], bytes | bytearray]
    ) -> Position | None:
        """The position behind a token that is no end token; None if it is not allowed.

        `before` gives the text so far, and is only asked at the end of a name or item that must
        differ from those before it.
        """
        with self.space.lock:
            while (behind := take_token(self.address(), *position.configuration, token)) == PENDING:
                self.machine.supply()
            if behind == DYNAMIC:
                data = self.vocabulary.spellings[token]
                here = self.advance(position.configuration, data, before())
                return None if here is None else self.position(here)
            if behind < 0:
                return None
            following = self.position(Configuration(behind >> 32, behind & 0xFFFFFFFF))
            position.moves[token] = following
            return following

    def advance(
        self, here: Configuration, data: bytes, before: bytes | bytearray = b""
    ) -> Configuration | None:
        """The configuration after `data`; None if the text can't go on so.

        `before` is the text so far: at the end of a name or item that must differ from those
        before it, that is where the name or item is read from.
        """
        with self.space.lock:
            dynamic = 0
            done = 0
            values = np.frombuffer(data, np.uint8)
            while True:
                behind = take_bytes(self.address(), *here, values[done:])
                if behind == PENDING:
                    self.machine.supply()
                    continue
                if behind != DYNAMIC:
                    return None if behind < 0 else Configuration(behind >> 32, behind & 0xFFFFFFFF)
                dynamic += 1
                if dynamic > MOST_DYNAMIC:
                    return None
                done += int(self.machine.arrays.counts[9])
                following = self._dynamic_exit(bytes(before) + data[:done])
                if following is None:
                    return None
                here = following

    def _dynamic_exit(self, text: bytes) -> Configuration | None:
        """Take the exit at which the last `advance` stopped, knowing the text."""
        context, label, node = (int(n) for n in self.machine.arrays.counts[4:7])
        read = last_value(text)
        found = self.machine.contexts.exit(context, self.space.leaves.labels[label], read)
        if found.kind == BLOCKED:
            return None
        self.machine.know_context(found.context)
        while True:
            parent = int(self.machine.arrays.node_parent[node])
            following = int(node_of(self.address(), found.context, parent))
            if not self._supplied():
                return Configuration(found.leaf, following)

    def accepting(self, here: Configuration) -> bool:
        """Whether the text may end here."""
        position = self.position(here)
        if position.accepting is None:
            position.accepting = self._run(lambda: bool(is_accepting(self.address(), *here)))
        return position.accepting

    def complete(self, position: Position) -> bool:
        """Whether the text may end here, and nothing but an end token may follow."""
        if position.complete is None:
            here = position.configuration
            position.complete = self.accepting(here) and not self.next_bytes(here)
        return position.complete

    def next_bytes(self, here: Configuration) -> bytes:
        """The bytes that may come next, ascending."""
        allowed = np.zeros(256, np.bool_)
        self._run(lambda: bool(next_bytes(self.address(), *here, allowed)))
        return bytes(np.flatnonzero(allowed).astype(np.uint8))

    def _run(self, question: Callable[[], bool]) -> bool:
        """Ask the machine until it needs nothing more to answer."""
        with self.space.lock:
            while True:
                answer = question()
                if not self._supplied():
                    return answer

    def _supplied(self) -> bool:
        """Whether the machine had to be extended, so that the last question must be asked again."""
        counts = self.machine.arrays.counts
        if counts[1] == 0 and counts[2] == 0:
            return False
        self.machine.supply()
        return True
