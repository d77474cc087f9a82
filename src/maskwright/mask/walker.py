"""The machine walked over the trie of tokens: the masks of positions, and where tokens lead."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import Final

import numpy as np
import numpy.typing as npt

from maskwright.automaton.json.levels import Levels
from maskwright.automaton.leaf.keys import PartsEnded
from maskwright.automaton.leaf.rows import DEAD
from maskwright.automaton.machine.exits import Configuration
from maskwright.automaton.machine.step import PENDING
from maskwright.automaton.rules.text_contexts import TextContexts
from maskwright.immutable import Immutable
from maskwright.limits import spend
from maskwright.mask.name_positions import NamePositions
from maskwright.mask.position import UNKNOWN, Position, Positions, unpacked
from maskwright.mask.ready_rows.text_rows import CharacterRun
from maskwright.mask.recognizer import Recognizer
from maskwright.mask.shared.leaf_bounds import ENDLESS
from maskwright.mask.walk.walk import LEAF_NEED, NOTHING, UNMEASURED, PrecomputedMask

_NODES_A_STEP: Final = 256
"""Nodes of the trie whose visit takes some 15 microseconds."""


class TokenGroups(Immutable):
    """Tokens that a walk has listed, grouped by the configuration to which they lead."""

    tokens: npt.NDArray[np.int32]
    """[n]: ids of tokens."""
    targets: list[Configuration]
    """[groups]: each configuration once."""
    group: npt.NDArray[np.int64]
    """[n]: for each token the index of its target."""

    def representatives(self) -> list[tuple[Configuration, int]]:
        """Return each target with the first token that leads there."""
        first = np.empty(len(self.targets), np.int32)
        first[self.group[::-1]] = self.tokens[::-1]  # of equal indices the last one counts
        return list(zip(self.targets, first.tolist(), strict=True))


class Walker:
    """Computes the masks of one grammar's positions, and moves positions by tokens."""

    def __init__(self, recognizer: Recognizer) -> None:
        self.recognizer: Final = recognizer
        self.tables: Final = recognizer.tables
        self._node_bounds = recognizer.shared.node_bounds
        self._limits = recognizer.shared.limits
        contexts = recognizer.machine.contexts
        self._is_json = isinstance(contexts, Levels)
        self._is_one_language = not self._is_json and isinstance(contexts, TextContexts)
        self._precomputed = recognizer.shared.precomputed
        self.positions: Positions | None = recognizer.positions
        """What finds masks and moves where the machine lacks nothing, so that nothing has to be
        counted, and there is no question; None if they have to be asked for here."""
        self._text_positions = recognizer.shared.text_positions

    @cached_property
    def names(self) -> NamePositions:
        """The positions within names that must differ from some that only the text has."""
        return NamePositions(self.recognizer)

    def find(self, position: Position, read_prefix: Callable[[], bytes | bytearray]) -> None:
        """Compute the mask row of a position, if it isn't known.

        `read_prefix` gives the text so far; masks don't depend on it where every text can be
        spelled (`budget.verdicts` has the others).
        """
        lacking = partial(self.find_lacking, read_prefix)
        if self.positions is None:
            lacking(position, None)
        else:
            self.positions.find(position, lacking)

    def find_lacking(
        self,
        read_prefix: Callable[[], bytes | bytearray],
        position: Position,
        stopped: PrecomputedMask | None,
    ) -> None:
        """Compute the mask row of a variant, or of a position for which the machine lacks
        something. `stopped`: what is ready of the mask, if a walk has stopped for it."""
        del read_prefix
        with self.recognizer:
            if position.variant:
                plain = self.recognizer.position(position.configuration)
                self.recognizer.positions.find(plain, self._find_plain)
                self._set_row(position, plain.row)
            else:
                self._find_plain(position, stopped)

    def _find_plain(self, position: Position, stopped: PrecomputedMask | None) -> None:
        """`find_lacking` for a position that is no variant, within a question."""
        if stopped is not None:
            position.row = self._supplied_row(position.leaf, position.node, stopped, stopped=True)
            return
        alike = self._at(position, self.tables.alike(position.leaf))
        if alike.row < 0:
            alike.row = self._walk(alike.configuration)
        position.row = alike.row

    def measure(self, position: Position, read_prefix: Callable[[], bytes | bytearray]) -> None:
        """Compute the mask row of a position, and the budget that certainly suffices there."""
        del read_prefix
        with self.recognizer:
            plain = self.recognizer.position(position.configuration)
            if plain.sufficient_budget == UNKNOWN:
                simpler = self._at(plain, self.tables.unbounded(plain.configuration.leaf))
                if simpler.sufficient_budget == UNKNOWN:
                    here = simpler.configuration
                    most, must_walk = self._precomputed_bound(here)
                    self._set_row(simpler, self._walk(here, whole=must_walk, limit=ENDLESS))
                    needed = max(self.tables.scratch.most_needed, most)
                    simpler.sufficient_budget = 1 + needed
                plain.row, plain.sufficient_budget = simpler.row, simpler.sufficient_budget
            if position is not plain:
                self._set_row(position, plain.row)
                position.sufficient_budget = plain.sufficient_budget

    def _at(self, position: Position, leaf: int) -> Position:
        """The position with another leaf state in the same context."""
        here = position.configuration
        if leaf == here.leaf:
            return position
        return self.recognizer.position(Configuration(leaf, here.node))

    def _set_row(self, position: Position, row: int) -> None:
        if position.excluded:
            row = self.tables.rows.without(row, self.names.tokens(position))
        position.row = row

    def after(
        self, position: Position, token: int, read_prefix: Callable[[], bytes | bytearray]
    ) -> Position | None:
        """Return the position after a token that is no end token; None if it is not allowed.

        `read_prefix` returns the text so far, and is called only if the target depends on it.
        """
        by_text = position.by_text
        if by_text is None or token not in by_text:
            return self._found_after(position, token, read_prefix)
        recognizer, positions = self.recognizer, self._text_positions
        text = bytes(read_prefix()) + recognizer.vocabulary.spellings[token]
        with self.tables.lock:
            known = positions.after(recognizer.start, text)
            if known is None:
                known = self._found_after(position, token, read_prefix)
                if known is not None:
                    positions.keep(recognizer.start, text, known)
        return known

    def _found_after(
        self, position: Position, token: int, read_prefix: Callable[[], bytes | bytearray]
    ) -> Position | None:
        """Like `after`, not looked up."""
        recognizer = self.recognizer
        here, by_text = position.by_text.get(token) if position.by_text else None, False
        if here is None:
            here, by_text = recognizer.take_token(position.configuration, token, read_prefix)
        if here is None:
            return None
        if self.names.apply(here):
            spelling = recognizer.vocabulary.spellings[token]
            with self.tables.lock:
                following = self.names.of_every_text(position, spelling, here)
                if following is None:
                    self._note(position, token, None if by_text else here)
                    return self.names.of(here, bytes(read_prefix()) + spelling)
        else:
            following = recognizer.position(here)
        if by_text:
            self._note(position, token, None)
        else:
            position.keep(token, following)
        return following

    def _note(self, position: Position, token: int, here: Configuration | None) -> None:
        """Note that the position after a token depends on the text."""
        if position.by_text is None:
            position.by_text = {}
        position.by_text[token] = here

    def position(self, here: Configuration, text: bytes) -> Position:
        """The position after `text`, which has led to a configuration."""
        if not self.names.apply(here):
            return self.recognizer.position(here)
        with self.tables.lock:
            return self.names.of(here, text)

    def row(self, here: Configuration) -> int:
        """Return the number of the mask row at a configuration."""
        position = self.recognizer.position(here)
        self.find(position, bytes)
        return position.row

    def successors(self, here: Configuration) -> list[tuple[Configuration, int]]:
        """Return the configurations to which one token leads, each with the first such token."""
        with self.recognizer:
            return self._listed(here, whole=True, limit=UNMEASURED).representatives()

    def tokens_needing_more_than(self, here: Configuration, budget: int) -> TokenGroups:
        """The allowed tokens after which more than `budget` tokens may be needed to complete the
        text, by upper bounds. With a negative budget, or where not every byte is a token: all."""
        with self.recognizer:
            limit = max(budget, UNMEASURED) if self.tables.parts.has_every_byte else UNMEASURED
            whole = limit == UNMEASURED
            if not whole:
                bound, must_walk = self._precomputed_bound(here)
                whole = must_walk or bound > budget
            return self._listed(here, whole=whole, limit=limit)

    def bound(self, here: Configuration) -> int:
        """Return an upper bound on the tokens that complete the text from a configuration, whatever
        the text; at least `ENDLESS` if none is known. Every byte has to be a token."""
        with self.recognizer:
            tables = self.tables
            leaf = tables.leaf_bounds.compute(tables.leaves, here.leaf, self._limits)
            return leaf + self._node_bounds.compute(here.node)

    def _listed(self, here: Configuration, *, whole: bool, limit: int) -> TokenGroups:
        """Walk, and group the tokens that are allowed and may need more than the limit."""
        listed = np.empty((3, self.tables.vocabulary.size), np.int32)
        self._walk(here, listed, whole=whole, limit=limit)
        tokens, leaves, nodes = listed[:, : self.tables.scratch.listed]
        packed = (leaves.astype(np.int64) << 32) | nodes
        # Most tokens lead where the one before them leads, and sorting takes longest.
        begins = np.flatnonzero(np.append(len(packed) > 0, packed[1:] != packed[:-1]))
        found, of_run = np.unique(packed[begins], return_inverse=True)
        group = np.repeat(of_run, np.diff(begins, append=len(packed)))
        return TokenGroups(tokens, [unpacked(each) for each in found.tolist()], group)

    def _precomputed_bound(self, here: Configuration) -> tuple[int, bool]:
        """Returns (bound, must_walk) for the tokens of the precomputed mask: an upper bound on the
        tokens needed after any of them, and whether they must be walked for a bound all the
        same."""
        tables, leaf, node = self.tables, here.leaf, here.node
        if self.precomputed(here).ready is None:
            return 0, False
        after_leaf = self._node_bounds.compute(node)
        in_string = tables.precomputed_string(leaf) is not None
        if in_string or self._text_row(here) is not None:
            bound = tables.bound_in_string(leaf, self._limits, inside=in_string)
            return bound + after_leaf, False
        return (0, True) if after_leaf < ENDLESS else (ENDLESS, False)

    def _walk(
        self,
        here: Configuration,
        listed: npt.NDArray[np.int32] | None = None,
        *,
        whole: bool = False,
        limit: int = UNMEASURED,
    ) -> int:
        """The number of the mask row, computed anew; see `Walk.supplied_row`.

        `whole`: walk every token, also those in the precomputed mask.
        """
        known = NOTHING if whole else self.precomputed(here)
        return self._supplied_row(here.leaf, here.node, known, listed, limit=limit)

    def _supplied_row(
        self,
        leaf: int,
        node: int,
        known: PrecomputedMask,
        listed: npt.NDArray[np.int32] | None = None,
        *,
        limit: int = UNMEASURED,
        stopped: bool = False,
    ) -> int:
        walk, machine = self.recognizer.walk, self.recognizer.machine
        number = walk.supplied_row(leaf, node, known, limit, stopped, listed, machine, self._bound)
        spend(1 + walk.scratch.visited // _NODES_A_STEP)
        return number

    def _bound(self, at: int, need: int) -> None:
        """Compute a bound that a walk has stopped for."""
        if need == LEAF_NEED:
            self.tables.leaf_bounds.compute(self.tables.leaves, at, self._limits)
        else:
            self._node_bounds.compute(at)

    def precomputed(self, here: Configuration) -> PrecomputedMask:
        """Return the part of the mask at a configuration that ready rows provide."""
        tables = self.tables
        leaf = int(tables.leaves.rows.ready_leaf[here.leaf]) or here.leaf
        known = self._precomputed.get(leaf)
        if known is not None:
            return known
        in_string = tables.precomputed_string(leaf)
        # Text beside strings is a number or a literal in JSON: ten digits at most lead alike.
        if in_string is not None or self._is_json or not tables.is_text(leaf):
            found = self._precomputed[leaf] = in_string or NOTHING
            return found
        in_text = self._text_row(here)
        if in_text is not None:
            return in_text
        recognizer = self.recognizer
        take = recognizer.machine.arrays.take_bytes
        while (spaced := take(here.leaf, here.node, b" ")) == PENDING:
            recognizer.machine.serve_requests()
        run = self._widest_run(here)
        after_space = self._widest_run(unpacked(spaced)) if spaced >= 0 else None
        if run is None and after_space is None:
            return NOTHING
        return tables.texts.precomputed(run, after_space)

    def _text_row(self, here: Configuration) -> PrecomputedMask | None:
        """The mask at a place in a text that is one regular language; None if another way to find
        it is quicker."""
        return self.tables.precomputed_text(here.leaf) if self._is_one_language else None

    def _widest_run(self, here: Configuration) -> CharacterRun | None:
        """Return the run with the most characters with which the text may continue, after leaves
        that may have ended too."""
        tables, best = self.tables, None
        while here.leaf != DEAD and tables.is_text(here.leaf):
            run = tables.run(here.leaf)
            if best is None or (run is not None and run.first.size > best.first.size):
                best = run
            if not isinstance(tables.leaves.label_of(here.leaf), PartsEnded):
                break
            here = self.recognizer.leave(here)
        return best
