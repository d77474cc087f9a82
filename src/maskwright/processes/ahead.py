"""Expands a grammar ahead of its texts: where every token of a mask leads, and what comes there.

Done while there is nothing else to do, so that the first text of a grammar mostly finds what it
needs. Only what holds for every text is sent: tokens that end a name or an item which must differ
from others are left to questions about one text.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from typing import Final

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from maskwright.mask import Grammar, Matcher
from maskwright.mask.position import Position
from maskwright.mask.ready_rows.strings import is_within
from maskwright.processes.lessons import SentRows
from maskwright.processes.messages import ENDLESS, Description, Expansion, Scope, Step, Target

MOST_TOKENS: Final = 8_192
"""Tokens of a mask up to which its position is expanded unasked, and that are looked at between two
interruptions: it takes some milliseconds."""

PATIENCE: Final = 4
"""Questions asked at a position with a larger mask after which it is expanded too."""

MOST_CHECKED: Final = 600
"""Tokens of a position that are looked at one by one."""

MOST_TARGETS: Final = 48
"""Places described of those to which the tokens of a position lead."""

MOST_IN_A_ROW: Final = 6
"""Expansions after one question, the nearest positions first."""

MOST_LOOKED_AT: Final = 32
"""Positions looked at after one question, expanded or not: beyond them texts hardly come from
there, and all that is known would be walked through in search of something unknown."""

AMPLE: Final = 1 << 59
"""A budget that suffices everywhere."""


class _Expanding:
    """What is left to be sent of one position, and the ways that have been sent."""

    def __init__(self, tokens: npt.NDArray[np.int32], group: npt.NDArray[np.int64]) -> None:
        """`tokens`: the allowed ones, and by `group` which of them lead to one place."""
        by_group = np.argsort(group, kind="stable")
        groups = np.split(tokens[by_group], np.cumsum(np.bincount(group))[:-1])
        groups.sort(key=len, reverse=True)
        self.left: deque[npt.NDArray[np.int32]] = deque(
            each[begin : begin + MOST_TOKENS]
            for each in groups[:MOST_TARGETS]
            for begin in range(0, len(each), MOST_TOKENS)
        )
        """Tokens that lead to one place, ascending; many of them first, so many at a time as are
        looked at between two interruptions."""
        self.to_check = MOST_CHECKED
        """Tokens that may still be looked at one by one."""
        self.ways: list[tuple[int, ...]] = []
        """For each place that has been sent: a token that leads there, and the tokens that are
        forced after it."""


class Ahead:
    """What of one grammar has been expanded, and what comes next: the texts that one, two or more
    tokens make of the last one that a question was asked about."""

    def __init__(self, grammar: Grammar, number: Callable[[Position], int], rows: SentRows) -> None:
        """`number` gives the number by which the other process knows a position."""
        self._walker = grammar.walker
        self._number = number
        self._rows = rows
        self._row = np.zeros(grammar.vocabulary.words, np.int32)
        self._matcher: Matcher | None = None
        self._next: deque[tuple[int, ...]] = deque()
        """Tokens after the matcher's text that lead to a position to be expanded."""
        self._left = 0
        """Expansions that may still come after the last question."""
        self._expanding: dict[Position, _Expanding] = {}
        """The positions of which something has been sent."""
        self._passed: set[Position] = set()
        """Positions that have been come to since the last question."""
        self._asked: Counter[Position] = Counter()
        self._quotes = grammar.walker.tables.parts.holds_quote

    def note(self, matcher: Matcher) -> None:
        """A question was asked about the text of a matcher: go on from there."""
        if matcher.by_position:
            self._asked[matcher.position] += 1
            self._matcher = matcher.copy()
            self._next = deque()
            self._passed.clear()
            self._left = MOST_IN_A_ROW

    def expand(self, interrupted: Callable[[], bool]) -> Expansion | None:
        """Expand the next position; None if nothing is left to be done. Raises what a walk does.

        Where it is `interrupted`, which it asks after each place that it has described, it returns
        what it has; a later text that comes to the position has the rest sent."""
        matcher = self._matcher
        if matcher is not None and not self._passed:
            self._pass_forced_text(matcher)
            self._next.append(())
        while (
            matcher is not None and self._next and self._left and len(self._passed) < MOST_LOOKED_AT
        ):
            path = self._next.popleft()
            taken = 0
            try:
                while taken < len(path) and matcher.accept(path[taken]):
                    taken += 1
                expansion = None
                if taken == len(path):
                    expansion = self._expand(matcher, path, interrupted)
            finally:
                matcher.rollback(taken)
            if expansion is not None:
                self._left -= 1
                return expansion
        self._matcher = None
        return None

    def _pass_forced_text(self, matcher: Matcher) -> None:
        while not matcher.complete and (run := matcher.forced_run()).tokens:
            for token in run.tokens:
                matcher.accept(token)

    def _expand(
        self, matcher: Matcher, path: tuple[int, ...], interrupted: Callable[[], bool]
    ) -> Expansion | None:
        """Tell what is left of the position at which the matcher stands after `path`."""
        position = matcher.position
        if position in self._passed or matcher.complete or not matcher.by_position:
            return None
        self._passed.add(position)
        here = self._expanding.get(position) or self._begin(matcher)
        if here is None:
            return None
        self._next += ((*path, *way) for way in here.ways)
        if not here.left:
            return None
        targets: list[Target] = []
        known: list[npt.NDArray[np.int32]] = []
        while here.left:
            if targets and interrupted():
                self._passed.discard(position)
                self._next.appendleft(path)
                break
            try:
                tokens = self._shared(matcher, here, here.left.popleft())
                target = self._target(matcher, int(tokens[0])) if len(tokens) else None
            except Exception:  # what takes too much is the matter of the text that gets there
                break
            if target is not None:
                way = (int(tokens[0]), *(step.token for step in target.steps))
                here.ways.append(way)
                self._next.append((*path, *way))
                targets.append(target)
                known.append(tokens)
        tokens = np.concatenate(known) if known else np.empty(0, np.int32)
        numbers = np.arange(len(targets), dtype=np.uint8)
        groups = np.repeat(numbers, [len(each) for each in known])
        order = np.argsort(tokens)
        way = (tokens[order].tobytes(), groups[order].tobytes())
        return Expansion(0, self._place(matcher), *way, targets, not here.left, *self._rows.take())

    def _begin(self, matcher: Matcher) -> _Expanding | None:
        """Find out what there is to be sent of the position of a matcher; None if that costs more
        than the questions about it that are to be expected."""
        position = matcher.position
        row = self._walker.tables.rows[matcher.row]
        allowed = int(np.unpackbits(row.view(np.uint8)).sum())
        if allowed > MOST_TOKENS and self._asked[position] < PATIENCE:
            return None
        every = self._walker.tokens_needing_more_than(position.configuration, -1)
        here = self._expanding[position] = _Expanding(every.tokens, every.group)
        return here

    def _shared(
        self, matcher: Matcher, here: _Expanding, tokens: npt.NDArray[np.int32]
    ) -> npt.NDArray[np.int32]:
        """Those of the tokens whose way is one for every text; none of them if that would take too
        long to find out."""
        position = matcher.position
        unsure = np.ones(len(tokens), np.bool_)
        if is_within(position.configuration.leaf, self._walker.tables.leaves.keys):
            unsure = self._quotes[tokens]  # nothing but a quote ends a string
        if self._walker.positions is not None:
            places = np.flatnonzero(unsure)
            unsure[places] = ~self._walker.positions.after_every_text(position, tokens[places])
        here.to_check -= int(unsure.sum())
        if here.to_check < 0:
            return tokens[~unsure]
        for at in np.flatnonzero(unsure).tolist():
            token = int(tokens[at])
            if matcher.accept(token):
                unsure[at] = position.moved(token) is not matcher.position
                matcher.rollback(1)
        return tokens[~unsure]

    def _target(self, matcher: Matcher, token: int) -> Target | None:
        """The position after a token, and the way along the text that is forced there; None if the
        position depends on the text."""
        steps: list[Step] = []
        taken = 0
        try:
            if not self._step(matcher, token):
                return None
            taken = 1
            reached = end = self._describe(matcher)
            while end.run is not None and end.run.tokens:
                for each in end.run.tokens:
                    if not self._step(matcher, each):
                        return Target(reached, steps)
                    taken += 1
                    steps.append(Step(each, True, self._place(matcher)))
                end = self._describe(matcher)
                steps[-1] = replace(steps[-1], reached=end)
            return Target(reached, steps)
        finally:
            matcher.rollback(taken)

    def _step(self, matcher: Matcher, token: int) -> bool:
        """Accept a token; False, and nothing changes, where it leads depends on the text."""
        before = matcher.position
        if not matcher.accept(token):
            return False
        if before.moved(token) is matcher.position and matcher.by_position:
            return True
        matcher.rollback(1)
        return False

    def _place(self, matcher: Matcher) -> Description:
        """Where a matcher stands, without what comes next."""
        number = self._number(matcher.position)
        return Description(number, matcher.state, matcher.accepting, matcher.complete)

    def _describe(self, matcher: Matcher) -> Description:
        """Where a matcher stands, the text that is forced there, and the mask."""
        described = self._place(matcher)
        if described.complete:
            return described
        run = matcher.forced_run()
        if run.shared:
            described = replace(described, run=run)
        matcher.fill_mask(self._row, AMPLE)
        scope = Scope(*matcher.mask_scope(AMPLE))
        if scope.high < ENDLESS or not scope.shared:
            return described
        return replace(described, row=self._rows.number(self._row), scope=scope)
