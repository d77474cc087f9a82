"""A compiled grammar: a machine over a vocabulary, with its mask rows; and how to compile one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

import numpy as np
import numpy.typing as npt

from maskwright.automaton.completion import Completion, Finisher
from maskwright.automaton.last_value import last_value
from maskwright.automaton.leaf import DEAD, Text
from maskwright.automaton.machine import BLOCKED, Configuration, Contexts, Machine
from maskwright.automaton.step import advance, is_accepting, next_bytes, node_of
from maskwright.grammar.schema import Report
from maskwright.limits import Limits
from maskwright.mask.budget import Budgets
from maskwright.mask.matcher import Matcher
from maskwright.mask.space import Space, packed
from maskwright.mask.walk import MOST_DYNAMIC, walk

if TYPE_CHECKING:
    from collections.abc import Callable


class FinishingContexts(Contexts, Finisher, Protocol):
    """What a grammar is made of: contexts that also know how to finish."""


_NONE: Final = np.zeros(0, np.int32)


class Grammar:
    """What compiling gives: immutable to its users, thread-safe, lazily filled inside."""

    def __init__(
        self, space: Space, contexts: FinishingContexts, report: Report, limits: Limits
    ) -> None:
        self.report: Final = report
        self.vocabulary: Final = space.vocabulary
        self.space: Final = space
        self._eos = np.zeros(space.vocabulary.words, np.int32)
        for token in space.vocabulary.eos:
            self._eos[token >> 5] |= np.int32(np.uint32(1 << (token & 31)).astype(np.int32))
        self._rows: dict[Configuration, int] = {}
        self._accepting: dict[Configuration, bool] = {}
        with space.lock:
            self.machine = Machine(space.leaves, contexts, limits)
            self.budgets: Final = Budgets(self, Completion(self.machine, contexts, limits))

    @property
    def start(self) -> Configuration:
        return self.machine.start

    def matcher(self) -> Matcher:
        """A matcher at the start of a text."""
        return Matcher(self)

    def row(self, here: Configuration) -> int:
        """The number of the mask row at a configuration."""
        number = self._rows.get(here)
        if number is None:
            with self.space.lock:
                number = self._rows[here] = self.space.table.number(self.allowed(here))
        return number

    def allowed(self, here: Configuration) -> npt.NDArray[np.int32]:
        """The mask at a configuration, computed afresh."""
        space = self.space
        with space.lock:
            key = space.leaves.keys[here.leaf]
            ready, trie = None, space.trie
            gated = bool(space.leaves.arrays.gate_high[here.leaf])
            if isinstance(key, Text) and key.inside and not gated:
                ready, trie = space.strings.ready(here.leaf, key.term), space.strings.leaving
            while True:
                out = np.zeros(space.vocabulary.words, np.int32) if ready is None else ready.copy()
                arrays = self.machine.arrays
                walk(space.leaves.arrays, arrays, trie, space.scratch, *here, out, _NONE, _NONE)
                if not self._supplied():
                    break
            if self.accepting(here):
                out |= self._eos
            return out

    def following(
        self, here: Configuration, *, leaving: bool = False
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """For each token the (leaf, node) behind it, leaf -1 where it is not allowed.

        int32 [V] each. With `leaving` only tokens that pass a closing quote are looked at.
        """
        space = self.space
        with space.lock:
            trie = space.strings.leaving if leaving else space.trie
            while True:
                out = np.zeros(space.vocabulary.words, np.int32)
                leaves = np.full(space.vocabulary.size, DEAD, np.int32)
                nodes = np.zeros(space.vocabulary.size, np.int32)
                arrays = self.machine.arrays
                walk(space.leaves.arrays, arrays, trie, space.scratch, *here, out, leaves, nodes)
                if not self._supplied():
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
        out[:] = packed(kept)
        if self.accepting(here):
            out |= self._eos

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
                arrays = self.machine.arrays
                leaf, node = advance(self.space.leaves.arrays, arrays, *here, values[done:])
                if self._supplied():
                    continue
                if not arrays.counts[7]:
                    return None if leaf == DEAD else Configuration(int(leaf), int(node))
                dynamic += 1
                if dynamic > MOST_DYNAMIC:
                    return None
                done += int(arrays.counts[9])
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
            following = int(node_of(self.machine.arrays, found.context, parent))
            if not self._supplied():
                return Configuration(found.leaf, following)

    def accepting(self, here: Configuration) -> bool:
        """Whether the text may end here."""
        known = self._accepting.get(here)
        if known is None:
            known = self._accepting[here] = self._run(
                lambda: bool(is_accepting(self.space.leaves.arrays, self.machine.arrays, *here))
            )
        return known

    def next_bytes(self, here: Configuration) -> bytes:
        """The bytes that may come next, ascending."""
        allowed = np.zeros(256, np.bool_)
        self._run(
            lambda: bool(next_bytes(self.space.leaves.arrays, self.machine.arrays, *here, allowed))
        )
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
