"""A compiled grammar: a machine over a vocabulary, with its mask rows; and how to compile one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from maskwright.automaton.leaf.exits import Over
from maskwright.automaton.leaf.rows import DEAD
from maskwright.automaton.machine.arrays import NO_NODE
from maskwright.automaton.machine.exits import BLOCKED, Configuration, Contexts, Exit, apply_exit
from maskwright.automaton.machine.machine import Added
from maskwright.automaton.machine.step import (
    TOO_MANY,
    behind_end,
    is_accepting,
    leave,
    next_bytes,
    node_of,
)
from maskwright.automaton.rules.contexts import RuleContexts
from maskwright.automaton.value.last_value import last_value
from maskwright.grammar.schema.tree import Report
from maskwright.mask.budget.masks import Budgets
from maskwright.mask.matcher.counting import CountingMatcher
from maskwright.mask.matcher.matcher import Matcher
from maskwright.mask.matcher.token_counts import TokenCounts
from maskwright.mask.position import Position
from maskwright.mask.ready_rows.runs import Run
from maskwright.mask.shared.leaf_bounds import ENDLESS
from maskwright.mask.shared.machine import EXIT_BYTES, POSITION_BYTES, Common
from maskwright.mask.shared.vocabulary_tables import NOTHING
from maskwright.mask.walk.arrays import Begun
from maskwright.mask.walk.row_table import FULL
from maskwright.mask.walk.walk import (
    DYNAMIC,
    LEAF_NEED,
    NODE_NEED,
    PENDING,
    UNMEASURED,
    find_row,
    take_bytes,
    take_token,
)

if TYPE_CHECKING:
    from collections.abc import Callable


_OWN_BYTES: Final = 4_000
_SPACE: Final = np.frombuffer(b" ", np.uint8)


def _token_counts(grammar: Grammar, contexts: Contexts) -> TokenCounts | None:
    """None where no text is bounded by a number of tokens."""
    if isinstance(contexts, RuleContexts) and contexts.network.counts_tokens:
        return TokenCounts(grammar, contexts)
    return None


class Grammar:
    """What compiling gives: immutable to its users, thread-safe, lazily filled inside."""

    def __init__(self, common: Common, start: tuple[int, int], report: Report) -> None:
        """`start`: the first context and leaf state."""
        self.report: Final = report
        self.space: Final = common.space
        self.vocabulary: Final = common.space.vocabulary
        self.machine: Final = common.machine
        self.needs: Final = common.needs
        self.scratch: Final = common.space.scratch
        self._limits = common.limits
        self._positions = common.positions
        self._directory = common.directory
        self._added = Added()
        self._positions_added = 0
        with self.space.lock:
            context, leaf = start
            self.machine.begin(self._added)
            self.start: Final = Configuration(leaf, self.machine.root(context))
            self.budgets: Final = Budgets(self, common.completion, common.budgets)
        self.first: Final = self.position(self.start)
        self._counts = _token_counts(self, common.contexts)
        if not self.space.has_every_byte:
            self.budgets.tokens_needed(self.start)  # refuses what no tokens spell
        self.ended: Final = self._ended()
        """Behind an end token; it is no configuration of the machine."""

    def begin(self) -> None:
        """A question of this grammar to the machine, unless it is part of another one."""
        self.machine.begin(self._added)

    def _ended(self) -> Position:
        position = Position(Configuration(DEAD, NO_NODE))
        position.accepting = True
        position.complete = True
        position.enough = 0
        position.row = 0
        position.record = self.space.table.address(0)
        return position

    @property
    def size(self) -> int:
        """Bytes that this grammar has brought at present, roughly: its own, and what the positions
        and exits come to that were not known from others. It grows as texts are matched."""
        known = POSITION_BYTES * self._positions_added + EXIT_BYTES * self._added.exits
        return _OWN_BYTES + known + self.budgets.size

    def matcher(self) -> Matcher:
        """A matcher at the start of a text."""
        counts = self._counts
        return Matcher(self) if counts is None else CountingMatcher(self, counts)

    def position(self, here: Configuration) -> Position:
        """What is known of a configuration."""
        known = self._positions.get(here)
        if known is None:
            known = self._positions.setdefault(here, Position(here))
            self._positions_added += 1
        return known

    def row(self, here: Configuration) -> int:
        """The number of the mask row at a configuration."""
        position = self.position(here)
        self.find(position, bytes)
        return position.row

    def find(self, position: Position, before: Callable[[], bytes | bytearray]) -> None:
        """Find the mask row of a position, if it isn't known; `before` gives the text so far."""
        with self.space.lock:
            if position.record == 0:
                number = self._walk(position.configuration)
                if not self.space.has_every_byte:
                    number = self.budgets.spelled(position.configuration, number, bytes(before()))
                position.row = number
                position.record = self.space.table.address(number)

    def measure(self, position: Position) -> None:
        """Find the mask row of a position, and how many tokens certainly suffice behind it."""
        with self.space.lock:
            here = position.configuration
            most, whole = self._stays(here)
            position.row = self._walk(here, whole=whole, limit=ENDLESS)
            position.record = self.space.table.address(position.row)
            position.enough = 1 + max(int(self.scratch.state[5]), most)

    def doubtful(
        self, here: Configuration, budget: int
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64], npt.NDArray[np.int32]]:
        """The allowed tokens behind which it isn't certain that `budget` tokens suffice.

        The tokens [n]; the configurations (leaf << 32 | node) behind them, each once; and for each
        token the index of its configuration.
        """
        with self.space.lock:
            found = np.empty((3, self.vocabulary.size), np.int32)
            limit = max(budget, UNMEASURED) if self.space.has_every_byte else UNMEASURED
            whole = limit == UNMEASURED or self._stays(here)[0] > budget
            self._walk(here, found, whole=whole, limit=limit)
            tokens, leaves, nodes = found[:, : int(self.scratch.state[6])]
        places, group = np.unique((leaves.astype(np.int64) << 32) | nodes, return_inverse=True)
        return tokens, places, group.astype(np.int32)

    def _stays(self, here: Configuration) -> tuple[int, bool]:
        """What is needed at most behind the tokens whose row is at hand, and whether these have to
        be walked all the same for that to be known."""
        space, (leaf, node) = self.space, here
        if not self.begun(here).base:
            return 0, False
        self.address()  # the arrays reach as far as leaf and node
        self.needs.find(node)
        behind = int(self.needs.array[node])
        if space.begun_string(leaf) is None:
            return (0, True) if behind < ENDLESS else (ENDLESS, False)
        return space.within(leaf, self._limits) + behind, False

    def _walk(
        self,
        here: Configuration,
        found: npt.NDArray[np.int32] | None = None,
        *,
        whole: bool = False,
        limit: int = UNMEASURED,
    ) -> int:
        """The number of the mask row, computed afresh; see `mask.walk.find_row`."""
        leaf, node = here
        begun = NOTHING if whole else self.begun(here)
        to = 0 if found is None else int(found.ctypes.data)
        self.begin()
        resumed = False
        while True:
            number = find_row(self.address(), leaf, node, *begun, limit, resumed, to)
            if number >= 0:
                return number
            if number == FULL:
                self.space.table.grow()
            else:
                self._supply()
            resumed = True

    def _supply(self) -> None:
        """Give a walk what it stopped for."""
        arrays = self.machine.arrays
        number, what = (int(n) for n in arrays.pending[0])
        if arrays.counts[1] and what == LEAF_NEED:
            self.space.needs.find(self.space.leaves, number, self._limits)
        elif arrays.counts[1] and what == NODE_NEED:
            with self.machine.work:
                self.needs.find(number)
        else:
            self.machine.supply()
        self.machine.arrays.counts[1] = 0

    def begun(self, here: Configuration) -> Begun:
        """What of the mask at a configuration is at hand."""
        space = self.space
        found = space.begun_string(here.leaf)
        if found is not None:
            return found
        if not space.is_text(here.leaf):
            return NOTHING
        while (behind := take_bytes(self.address(), *here, _SPACE)) == PENDING:
            self.machine.supply()
        run, spaced = self._text_run(*here), None
        if behind >= 0:
            spaced = self._text_run(behind >> 32, behind & 0xFFFFFFFF)
        return space.texts.begun(run, spaced) if run or spaced else NOTHING

    def _text_run(self, leaf: int, node: int) -> Run | None:
        """The widest run with which the text may go on at once, leaves that are over left out."""
        best: Run | None = None
        while leaf != DEAD and self.space.is_text(leaf):
            run = self.space.run(leaf)
            if best is None or (run is not None and run.first.size > best.first.size):
                best = run
            if not isinstance(self.space.leaves.label_of(leaf), Over):
                break
            before = leaf, node
            leaf, node = leave(self.address(), *before)
            while self._supplied():
                leaf, node = leave(self.address(), *before)
        return best

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
            space.needs.reach(len(leaves.base))
            self.needs.reach(len(machine.node_context))
            directory.write(
                leaves,
                machine,
                rows,
                space.whole,
                space.spelling,
                self.scratch,
                space.needs.array,
                self.needs.array,
            )
        return directory.address

    def successors(self, here: Configuration) -> list[tuple[Configuration, int]]:
        """The configurations that one token leads to, each with the first such token."""
        with self.space.lock:
            found = np.empty((3, self.vocabulary.size), np.int32)
            self._walk(here, found, whole=True)
            tokens, leaves, nodes = found[:, : int(self.scratch.state[6])]
        pairs = (leaves.astype(np.int64) << 32) | nodes
        distinct, first = np.unique(pairs, return_index=True)
        return [
            (Configuration(pair >> 32, pair & 0xFFFFFFFF), int(tokens[at]))
            for pair, at in zip(distinct.tolist(), first.tolist(), strict=True)
        ]

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
        if self._counts is not None:  # a way found there might have too many tokens in some text
            return self.min_tokens
        with self.space.lock:
            return self.budgets.least_tokens(self.start, enough)

    def after(
        self, position: Position, token: int, before: Callable[[], bytes | bytearray]
    ) -> Position | None:
        """The position behind a token that is no end token; None if it is not allowed.

        `before` gives the text so far, and is only asked at the end of a name or item that must
        differ from those before it, or where not every text can be spelled.
        """
        with self.space.lock:
            self.begin()
            while (behind := take_token(self.address(), *position.configuration, token)) == PENDING:
                self.machine.supply()
            if behind == DYNAMIC:
                data = self.vocabulary.spellings[token]
                text = bytes(before())
                here = self.advance(position.configuration, data, text)
                if here is None or not self.budgets.is_spellable(here, text + data):
                    return None
                return self.position(here)
            if behind < 0:
                return None
            place = Configuration(behind >> 32, behind & 0xFFFFFFFF)
            if not self.space.has_every_byte:
                text = bytes(before()) + self.vocabulary.spellings[token]
                if not self.budgets.is_spellable(place, text):
                    return None
            following = self.position(place)
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
            self.begin()
            passed = 0
            done = 0
            values = np.frombuffer(data, np.uint8)
            while True:
                behind = take_bytes(self.address(), *here, values[done:])
                if behind == PENDING:
                    self.machine.supply()
                    continue
                if behind != DYNAMIC:
                    return None if behind < 0 else Configuration(behind >> 32, behind & 0xFFFFFFFF)
                arrays = self.machine.arrays
                passed = int(behind_end(arrays.node_parent, passed, int(arrays.counts[6])))
                if passed >= TOO_MANY:
                    return None
                done += int(self.machine.arrays.counts[9])
                stopped = self._stopped()
                following = self._dynamic_exit(stopped, bytes(before) + data[:done])
                if following is None:
                    return None
                if done < len(data) and self._tells_more(stopped):
                    unseen = self._dynamic_exit(stopped, None)
                    if unseen is None or not self._goes_on(unseen, values[done:], passed):
                        return None
                here = following

    def _stopped(self) -> tuple[int, int, int]:
        """Context, label and node of the dynamic exit at which the last bytes stopped."""
        context, label, node = (int(n) for n in self.machine.arrays.counts[4:7])
        return context, label, node

    def _dynamic_exit(
        self, stopped: tuple[int, int, int], text: bytes | None
    ) -> Configuration | None:
        """Take an exit, knowing the text or (None) as a walk does."""
        context, label, node = stopped
        read = None if text is None else last_value(text)
        with self.machine.work:
            found = self.machine.contexts.exit(context, self.space.leaves.labels[label], read)
        return self.entered(found, node)

    def _tells_more(self, stopped: tuple[int, int, int]) -> bool:
        """Whether more may follow behind a dynamic exit once the text is known."""
        level = self.machine.contexts.level(stopped[0])
        return level is not None and level.wants_repeat

    def _goes_on(self, here: Configuration, data: npt.NDArray[np.uint8], passed: int) -> bool:
        """Whether a walk that doesn't know the text goes on with the rest of a token."""
        while True:
            behind = take_bytes(self.address(), *here, data)
            if behind == PENDING:
                self.machine.supply()
                continue
            if behind != DYNAMIC:
                return behind >= 0
            arrays = self.machine.arrays
            passed = int(behind_end(arrays.node_parent, passed, int(arrays.counts[6])))
            data = data[int(arrays.counts[9]) :]
            following = self._dynamic_exit(self._stopped(), None)
            if passed >= TOO_MANY or following is None:
                return False
            here = following

    def entered(self, found: Exit, node: int) -> Configuration | None:
        """The configuration after an exit from the context of `node`; None if that exit, or one
        that it leads to on a level below, is blocked."""
        machine = self.machine
        while found.kind != BLOCKED:
            removed, added = apply_exit(found)
            if removed:
                node = int(machine.arrays.node_parent[node])
            for context in added:
                node = self._node(context, node)
            if not found.pops:
                return Configuration(found.leaf, node)
            below = int(machine.arrays.node_context[node])
            found = machine.contexts.exit(below, found.result)
        return None

    def _node(self, context: int, parent: int) -> int:
        self.machine.know_context(context)
        while True:
            node = int(node_of(self.address(), context, parent))
            if not self._supplied():
                return node

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

    def forced_byte(self, here: Configuration) -> bytes:
        """The one byte that every text goes on with; none where the text may end, or go on with
        different ones."""
        position = self.position(here)
        if position.forced is None:
            options = b"" if self.accepting(here) else self.next_bytes(here)
            position.forced = options if len(options) == 1 else b""
        return position.forced

    def next_bytes(self, here: Configuration) -> bytes:
        """The bytes that may come next, ascending."""
        allowed = np.zeros(256, np.bool_)
        self._run(lambda: bool(next_bytes(self.address(), *here, allowed)))
        return bytes(np.flatnonzero(allowed).astype(np.uint8))

    def _run(self, question: Callable[[], bool]) -> bool:
        """Ask the machine until it needs nothing more to answer."""
        with self.space.lock:
            self.begin()
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
