"""Which texts only one of two grammars has, and whether that was decided.

Two machines are walked over together, level by level, and both read one text. What happens on a
level doesn't depend on what is below it until the level is left, so the walk is that of a product
of two pushdown automata with summaries: pairs of places on a level are visited once for each pair
in which the level began, and each way in which the level ends is continued in every level below
that waits for it (Reps, Horwitz and Sagiv, "Precise interprocedural dataflow analysis via graph
reachability", 1995).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from maskwright.automaton.json.levels import Levels
from maskwright.automaton.leaf.rows import DEAD
from maskwright.errors import LimitError
from maskwright.immutable import Immutable
from maskwright.limits import Limits, Work, spend
from maskwright.mask import Grammar
from maskwright.mask.compile.constructs import SchemaConstructs
from maskwright.workbench.choices import COMPARISON_SECONDS, MOST_PAIRS
from maskwright.workbench.difference.level_moves import (
    END,
    PLAIN_FIRST,
    LevelMoves,
    Moves,
    Outcome,
    Popped,
    Stack,
    Standing,
)
from maskwright.workbench.difference.schema_pairs import SchemaPairs

_ORDER: Final = np.append(PLAIN_FIRST, END)

Pair: TypeAlias = tuple[Standing, Standing]
Ending: TypeAlias = tuple[Outcome, Outcome, tuple[int, ...]]
"""The outcomes by which a level is left, at least one of them a `Popped`, and the bytes that may be
read next; none where the next byte has been read on the level."""


class Way(NamedTuple):
    """How a place is reached: from a pair of its level (None for the first), by a level above that
    ends, if there is one, and then by `tail`."""

    before: Pair | None
    above: tuple[LevelWalk, Ending] | None
    tail: bytes


class LevelWalk:
    """The pairs of one level that began in one pair."""

    def __init__(self, first: Pair, caller: tuple[LevelWalk, Pair] | None) -> None:
        self.ways: dict[Pair, Way] = {first: Way(None, None, b"")}
        self.endings: dict[Ending, Way] = {}
        """Each way in which the level ends; without the byte that has yet to be read."""
        self.callers: list[tuple[LevelWalk, Pair]] = []
        """The pairs that go on where this level ends."""
        self._caller = caller

    def text(self, way: Way) -> bytes:
        """A text of the grammars that leads through this level to where `way` leads."""
        text = self._read(way)
        caller = self._caller
        while caller is not None:
            walk, pair = caller
            text = walk._read(walk.ways[pair]) + text
            caller = walk._caller
        return text

    def _read(self, way: Way) -> bytes:
        """What is read on this level and above it."""
        parts: list[bytes] = []
        while True:
            parts.append(way.tail)
            if way.above is not None:
                walk, ending = way.above
                parts.append(walk._read(walk.endings[ending]))
            if way.before is None:
                return b"".join(reversed(parts))
            way = self.ways[way.before]


class OneSided(NamedTuple):
    """A text at whose end only one of two grammars may continue or end: number `side`, 0 or 1."""

    side: int
    prefix: bytes


class PairWalk:
    """All differences between two grammars, in an order in which short texts come early."""

    def __init__(self, sides: tuple[LevelMoves, LevelMoves], *, one_machine: bool, one_table: bool):
        """`one_machine`: equal places of both are places of one machine. `one_table`: equal leaf
        states are states of one table."""
        self._sides = sides
        self._one_machine = one_machine
        self._one_table = one_machine or one_table
        self._root = LevelWalk((sides[0].start(), sides[1].start()), None)
        self._levels: dict[Pair, LevelWalk] = {}
        self._waiting: deque[tuple[LevelWalk, Pair]] = deque()
        self._found: deque[OneSided] = deque()
        self.pairs = 0
        """Pairs that have been visited."""
        self.finished = False
        """Whether all pairs have been visited."""

    def differences(self, most_pairs: int) -> Iterator[OneSided]:
        """Every difference; ends early where a bound is met."""
        (first,) = self._root.ways
        if not (self._one_machine and first[0] == first[1]):
            self._waiting.append((self._root, first))
        while self._waiting:
            if self.pairs >= most_pairs:
                return
            spend()
            self.pairs += 1
            self._visit(*self._waiting.popleft())
            while self._found:
                yield self._found.popleft()
        self.finished = True

    def _visit(self, walk: LevelWalk, pair: Pair) -> None:
        a, b = pair
        context = a.stack[-1]
        if len(a.stack) > 1 and len(b.stack) > 1:
            self._enter(walk, pair)
            return
        left = self._sides[0]
        if self._one_table and a.leaf == b.leaf != DEAD and self._gates_agree(pair):
            for leaf, data in left.reaches(a.leaf).items():
                if left.is_open(leaf, context):
                    here = Standing(leaf, a.stack), Standing(leaf, b.stack)
                    leaving = np.append(left.row(leaf) == DEAD, True)
                    self._step(walk, pair, data, here, leaving)
            return
        self._step(walk, pair, b"", pair, np.ones(END + 1, np.bool_))

    def _gates_agree(self, pair: Pair) -> bool:
        """Whether both contexts allow the same names within a leaf."""
        left, right = self._sides
        return left.gate(pair[0].stack[-1]) == right.gate(pair[1].stack[-1])

    def _step(
        self, walk: LevelWalk, before: Pair, data: bytes, here: Pair, which: npt.NDArray[np.bool_]
    ) -> None:
        """Go on by one byte of `which` from `here`, which `data` leads to."""
        (a, b), (left, right) = here, self._sides
        mine, others = left.moves(a.leaf, a.stack[-1]), right.moves(b.leaf, b.stack[-1])
        for one, other, bytes_read in self._grouped(mine, others, which):
            for found in self._resolved((one, a.stack[:-1]), (other, b.stack[:-1]), bytes_read):
                self._reach(walk, Way(before, None, data), *found)

    def _grouped(
        self, mine: Moves, others: Moves, which: npt.NDArray[np.bool_]
    ) -> Iterator[tuple[Outcome, Outcome, list[int]]]:
        """The bytes that lead to equal pairs of outcomes, the plainest first."""
        left, right = self._sides
        order = _ORDER[which[_ORDER]]
        keys = (mine[order].astype(np.int64) << 32) | others[order]
        for key in np.unique(keys).tolist():
            if key:
                one, other = left.outcomes[key >> 32], right.outcomes[key & 0xFFFFFFFF]
                yield one, other, order[keys == key].tolist()

    def _resolved(
        self, mine: tuple[Outcome, Stack], others: tuple[Outcome, Stack], bytes_read: list[int]
    ) -> Iterator[tuple[Outcome, Outcome, list[int]]]:
        """The outcomes with the contexts that stand below, down to the base of the level."""
        (one, below), (other, below_other) = mine, others
        left, right = self._sides
        unread = [isinstance(each, Popped) and not each.has_read for each in (one, other)]
        if all(unread) and below and below_other:
            assert isinstance(one, Popped)
            assert isinstance(other, Popped)
            which = np.zeros(END + 1, np.bool_)
            which[bytes_read] = True
            after = left.handed(one.label, below[-1]), right.handed(other.label, below_other[-1])
            for first, second, some in self._grouped(*after, which):
                yield from self._resolved((first, below[:-1]), (second, below_other[:-1]), some)
            return
        if not any(unread) or not (below or below_other):
            byte = bytes_read[0] if bytes_read else END
            yield left.lifted(one, below, byte), right.lifted(other, below_other, byte), bytes_read
            return
        for byte in bytes_read:
            yield left.lifted(one, below, byte), right.lifted(other, below_other, byte), [byte]

    def _reach(
        self, walk: LevelWalk, way: Way, one: Outcome, other: Outcome, bytes_read: list[int]
    ) -> None:
        """Note what bytes lead to: another pair, a difference, or the end of the level. No bytes
        are given where the level above has read them."""
        if any(isinstance(each, Popped) and not each.has_read for each in (one, other)):
            self._end(walk, way, (one, other, tuple(bytes_read)))
            return
        if bytes_read and bytes_read[0] != END:
            way = way._replace(tail=way.tail + bytes(bytes_read[:1]))
        if isinstance(one, Popped) or isinstance(other, Popped):
            self._end(walk, way, (one, other, ()))
        elif one is not None and other is not None:
            pair = one, other
            is_one_place = walk is self._root and self._one_machine and one == other
            if not is_one_place and pair not in walk.ways:
                walk.ways[pair] = way
                self._waiting.append((walk, pair))
        elif one is not None or other is not None:
            self._found.append(OneSided(0 if one is not None else 1, walk.text(way)))

    def _enter(self, walk: LevelWalk, pair: Pair) -> None:
        """Go on in the level that has begun above the one of `walk`."""
        a, b = pair
        first = Standing(a.leaf, a.stack[-1:]), Standing(b.leaf, b.stack[-1:])
        level = self._levels.get(first)
        if level is None:
            level = self._levels[first] = LevelWalk(first, (walk, pair))
            self._waiting.append((level, first))
        level.callers.append((walk, pair))
        for ending in [*level.endings]:
            self._return(level, ending, walk, pair)

    def _end(self, level: LevelWalk, way: Way, ending: Ending) -> None:
        """Note that a level ends, and go on below it."""
        if ending not in level.endings:
            level.endings[ending] = way
            for walk, pair in [*level.callers]:
                self._return(level, ending, walk, pair)

    def _return(self, level: LevelWalk, ending: Ending, walk: LevelWalk, pair: Pair) -> None:
        """Go on in `walk` at `pair`, above which `level` has ended."""
        one, other, bytes_read = ending
        way = Way(pair, (level, ending), b"")
        below, below_other = pair[0].stack[:-1], pair[1].stack[:-1]
        for found in self._resolved((one, below), (other, below_other), [*bytes_read]):
            self._reach(walk, way, *found)


_UNBOUNDED: Final = 1 << 62


class Comparison(Immutable):
    """What was found out about two grammars, first and second.

    `only_first`, `only_second`: the shortest text found that only this one accepts; None if none
    was found. `decided`: whether none was found because there is none. `pairs`: pairs of places
    that were visited.
    """

    only_first: bytes | None
    only_second: bytes | None
    decided: bool
    pairs: int

    @property
    def equal(self) -> bool | None:
        """Whether both accept the same texts; None if that wasn't decided."""
        if self.only_first is not None or self.only_second is not None:
            return False
        return True if self.decided else None


def compare(
    first: Grammar,
    second: Grammar,
    *,
    most_pairs: int = MOST_PAIRS,
    seconds: float = COMPARISON_SECONDS,
) -> Comparison:
    """Compare the texts of two grammars, both compiled for one vocabulary of single bytes.

    Schemas are compared part by part first, and what this leaves open by a walk over the machines
    of both. It ends once each direction is decided, once all pairs of places have been visited, or
    at a bound: `most_pairs`, or `seconds` of time. In the walk, where names or items must differ
    from earlier ones and both grammars read on differently, or tokens are counted, nothing is
    decided by having visited all pairs.
    """
    known = _Differences(first, second)
    try:
        with Work(Limits(work=_UNBOUNDED, seconds=seconds)):
            known.compare_parts()
            if not known.is_over:
                known.walk(most_pairs)
    except LimitError:  # what was found stays
        pass
    return Comparison(known.found[0], known.found[1], known.is_over, known.pairs)


class _Differences:
    """What is known so far of the texts that only one of two grammars accepts."""

    def __init__(self, first: Grammar, second: Grammar) -> None:
        self._grammars = first, second
        self.found: list[bytes | None] = [None, None]
        """The shortest text found that only this grammar accepts."""
        self._without: set[int] = set()
        """The sides that have no text of their own."""
        self.pairs = 0

    @property
    def is_over(self) -> bool:
        """Whether each side has a text of its own, or is known to have none."""
        return all(self._is_decided(side) for side in (0, 1))

    def _is_decided(self, side: int) -> bool:
        return self.found[side] is not None or side in self._without

    def compare_parts(self) -> None:
        """Compare two schemas whose instances are written in one way. Raises `LimitError`."""
        one, other = (grammar.recognizer for grammar in self._grammars)
        mine, others = one.constructs, other.constructs
        if not (isinstance(mine, SchemaConstructs) and isinstance(others, SchemaConstructs)):
            return
        if mine.kind != others.kind:
            return
        pairs = SchemaPairs(mine, others)
        for side, text in pairs.texts():
            if _accepts(self._grammars[side], text) and not _accepts(
                self._grammars[1 - side], text
            ):
                self._note(side, text)
        self._without.update(side for side in (0, 1) if pairs.has_none(side))

    def walk(self, most_pairs: int) -> None:
        """Walk over the machines of both. Raises `LimitError`."""
        first, second = self._grammars
        both = first.recognizer, second.recognizer
        one_machine = both[0].machine is both[1].machine
        few_escapes = one_machine and isinstance(both[0].machine.contexts, Levels)
        sides = (
            LevelMoves(both[0], few_escapes=few_escapes),
            LevelMoves(both[1], few_escapes=few_escapes),
        )
        one_table = both[0].tables is both[1].tables
        walk = PairWalk(sides, one_machine=one_machine, one_table=one_table)
        exact = first.matcher().by_position and second.matcher().by_position
        try:
            for side, prefix in walk.differences(most_pairs):
                if side in self._without:
                    continue
                text = _only_of(self._grammars[side], self._grammars[1 - side], prefix)
                exact &= text is not None
                if text is not None:
                    self._note(side, text)
                if self.is_over:
                    return
        finally:
            self.pairs = walk.pairs
        if exact and walk.finished and not any(side.depends_on_text for side in sides):
            self._without.update(side for side in (0, 1) if self.found[side] is None)

    def _note(self, side: int, text: bytes) -> None:
        known = self.found[side]
        if known is None or len(text) < len(known):
            self.found[side] = text


def _only_of(grammar: Grammar, other: Grammar, prefix: bytes) -> bytes | None:
    """A text that begins with `prefix` and that `grammar` accepts and `other` doesn't, as their
    matchers judge it; None if none is found."""
    matcher = grammar.matcher()
    if matcher.accept_bytes(prefix) < len(prefix):
        return None
    recognizer = matcher.recognizer
    with recognizer:
        ending = recognizer.shared.completion.find(matcher.position.configuration, prefix)
    if ending is None:
        return None
    text = prefix + ending
    return text if _accepts(grammar, text) and not _accepts(other, text) else None


def _accepts(grammar: Grammar, text: bytes) -> bool:
    matcher = grammar.matcher()
    return matcher.accept_bytes(text) == len(text) and matcher.accepting
