"""Which texts only one of two grammars has, and whether that was decided.

Two machines are walked over together, level by level, and both read one text. What happens on a
level doesn't depend on what is below it until the level is left, so the walk is that of a product
of two pushdown automata with summaries: pairs of places on a level are visited once for each pair
in which the level began, and each way in which the level ends is continued in every level below
that waits for it (Reps, Horwitz and Sagiv, "Precise interprocedural dataflow analysis via graph
reachability", 1995).

Where bytes lead from one level is the machine of `automaton.machine.step` read in plain Python, as
`automaton.machine.trace` reads it. A stack there has only the contexts above some base; where a
level at the base is popped, the result is the label that the level below would be left with.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterator
from functools import cache
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from maskwright.automaton.json.levels import Levels
from maskwright.automaton.leaf.characters import open_targets
from maskwright.automaton.leaf.keys import Begun, Key
from maskwright.automaton.leaf.rows import DEAD
from maskwright.automaton.leaf.spelling import DIGITS, PAIR, PAIR_U
from maskwright.automaton.machine.exits import BLOCKED, DONE, DYNAMIC, apply_exit
from maskwright.errors import LimitError
from maskwright.immutable import Immutable
from maskwright.limits import CHEAP, Limits, Work, spend
from maskwright.mask import Grammar
from maskwright.mask.compile.constructs import SchemaConstructs
from maskwright.mask.recognizer import Recognizer
from maskwright.workbench.choices import COMPARISON_SECONDS, MOST_PAIRS
from maskwright.workbench.difference.schema_pairs import SchemaPairs

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
        self.machine = recognizer.machine
        self.moves: Callable[[int, int], Moves] = cache(self._moves)
        """The outcomes at a leaf state over one context."""
        self.handed: Callable[[Hashable, int], Moves] = cache(self._handed)
        """The outcomes where a level has been popped with a label, and the byte has yet to be read
        on the level of a context."""
        self.row: Callable[[int], npt.NDArray[np.int32]] = cache(self._row)
        """int32 [256]: the next state within a leaf by byte, DEAD where there is none."""
        self.reaches: Callable[[int], dict[int, bytes]] = cache(self._reaches)
        """The states of a leaf, one of each kind, from which it can be left, with bytes that lead
        there. States are of one kind that have one label and go on with the same bytes."""
        self._numbers: dict[Outcome, int] = {None: 0}
        self.outcomes: list[Outcome] = [None]
        """By number; equal outcomes have one number."""
        self.depends_on_text = False
        """Whether an exit was taken that depends on the text, as if names and items were new."""

    def start(self) -> Standing:
        """Where every text begins."""
        start = self._recognizer.start
        leaf, node = start.leaf, start.node
        return Standing(leaf, tuple(reversed(self.machine.stack(node))))

    def _handed(self, label: Hashable, context: int) -> Moves:
        with self._recognizer:
            return self._after_leaving(self._leave(label, (context,)))

    def lifted(self, outcome: Outcome, below: Stack, byte: int) -> Outcome:
        """The outcome of `byte` where the contexts `below` stand under the level that has
        `outcome`."""
        with self._recognizer:
            return self._lifted(outcome, below, byte)

    def _row(self, leaf: int) -> npt.NDArray[np.int32]:
        spend(CHEAP)
        row = np.full(256, DEAD, np.int32)
        leaves = self.machine.leaves
        if leaf != DEAD and not leaves.rows.eager[leaf]:
            digits = self._digits(leaves.keys[leaf])
            for byte, target in leaves.next_states(leaf).items():
                if digits is None or byte in digits:
                    row[byte] = target
        return row

    def _digits(self, key: Key) -> bytes | None:
        """The digits of an escape that are followed: only control characters', which have no
        spelling of one byte. None for all."""
        if not self._few_escapes or not isinstance(key, Begun) or not DIGITS < key.part <= PAIR_U:
            return None
        left = key.part - DIGITS
        if key.part >= PAIR or key.value << 4 * left > _LAST_CONTROL:
            return b""
        return _CONTROL_DIGITS.get(left)

    def _reaches(self, leaf: int) -> dict[int, bytes]:
        with self._recognizer:
            arrays = self.machine.leaves
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

    def _moves(self, leaf: int, context: int) -> Moves:
        with self._recognizer:
            if context == DONE:
                moves = np.zeros(END + 1, np.int32)
                moves[END] = self._number(ENDED)
                return moves
            row = self.row(leaf)
            label = self._label(leaf)
            left = None if label is None else self._leave(label, (context,))
            moves = self._after_leaving(left).copy()
            for target in np.unique(row).tolist():
                if target != DEAD and self.machine.gate_open(target, context):
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
        return None if leaf == DEAD else self.machine.leaves.label_of(leaf)

    def _leave(self, label: Hashable, stack: Stack) -> Outcome:
        """Leave a leaf with a label."""
        while stack:
            spend(CHEAP)
            taken = self.machine.contexts.exit(stack[-1], label)
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
        self._found: deque[tuple[int, bytes]] = deque()
        self.pairs = 0
        """Pairs that have been visited."""
        self.finished = False
        """Whether all pairs have been visited."""

    def differences(self, most_pairs: int) -> Iterator[tuple[int, bytes]]:
        """Every difference: the number of a side, 0 or 1, and a text at whose end only this one may
        continue or end. Ends early where a bound is met."""
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
                if left.machine.gate_open(leaf, context):
                    here = Standing(leaf, a.stack), Standing(leaf, b.stack)
                    leaving = np.append(left.row(leaf) == DEAD, True)
                    self._step(walk, pair, data, here, leaving)
            return
        self._step(walk, pair, b"", pair, np.ones(END + 1, np.bool_))

    def _gates_agree(self, pair: Pair) -> bool:
        """Whether both contexts allow the same names within a leaf."""
        mine, others = (side.machine.contexts for side in self._sides)
        return mine.gate(pair[0].stack[-1]) == others.gate(pair[1].stack[-1])

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
            self._found.append((0 if one is not None else 1, walk.text(way)))

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
        return all(self.found[side] is not None or side in self._without for side in (0, 1))

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
