"""Expands a grammar ahead of its texts: where every token of a mask leads, and what comes there.

Done while there is nothing else to do, so that the first text of a grammar mostly finds what it
needs. Only what holds for every text is told: tokens that end a name or an item which must differ
from others are left to questions about one text.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

from maskwright.mask import Grammar, Matcher
from maskwright.mask.position import Position
from maskwright.mask.ready_rows.strings import is_within
from maskwright.processes.lessons import SentRows, forced_run
from maskwright.processes.messages import ENDLESS, Description, Expansion, Scope, Step, Target
from maskwright.vocab import Vocabulary

MOST_TOKENS: Final = 8_192
"""Tokens of a mask up to which its position is expanded unasked: it takes about a millisecond."""

PATIENCE: Final = 4
"""Questions asked at a position with a larger mask after which it is expanded too."""

MOST_CHECKED: Final = 600
"""Tokens that are looked at one by one."""

MOST_TARGETS: Final = 48
"""Positions described in one expansion, those first to which most tokens lead."""

MOST_IN_A_ROW: Final = 6
"""Expansions after one question, the nearest positions first."""

OTHER: Final = 255
"""The group of tokens whose way depends on the text, or was not found out: it is not told."""

AMPLE: Final = 1 << 59
"""A budget that suffices everywhere."""


@lru_cache(maxsize=1)
def tokens_with_quotes(vocabulary: Vocabulary) -> npt.NDArray[np.bool_]:
    """[V]: whether a token's text contains a quotation mark. Kept for one vocabulary, since a
    process has one."""
    spellings = vocabulary.spellings
    return np.fromiter((b'"' in text for text in spellings), np.bool_, len(spellings))


class Ahead:
    """What of one grammar has been expanded, and what comes next: the texts that one, two or more
    tokens make of the last one that a question was asked about."""

    def __init__(
        self,
        grammar: Grammar,
        number: Callable[[Position], int],
        rows: SentRows,
    ) -> None:
        """`number` gives the number by which the other process knows a position."""
        self._walker = grammar.walker
        self._number = number
        self._rows = rows
        self._row = np.zeros(grammar.vocabulary.words, np.int32)
        self._matcher: Matcher | None = None
        self._next: deque[tuple[int, ...]] = deque()
        """Tokens after the matcher's text that lead to a position to be expanded."""
        self._left = 0
        self._expanded: dict[Position, tuple[tuple[int, ...], ...]] = {}
        """Positions that have been expanded, and the tokens of the ways that have been described
        from there."""
        self._passed: set[Position] = set()
        """Positions that have been come to since the last question."""
        self._asked: Counter[Position] = Counter()
        self._quotes = tokens_with_quotes(grammar.vocabulary)

    def note(self, matcher: Matcher) -> None:
        """A question was asked about the text of a matcher: go on from there."""
        if matcher.by_position:
            self._asked[matcher.position] += 1
            self._matcher = matcher.fork()
            self._next = deque()
            self._passed.clear()
            self._left = MOST_IN_A_ROW

    def expand(self) -> Expansion | None:
        """Expand the next position; None if nothing is left to be done. Raises what a walk does."""
        matcher = self._matcher
        if matcher is not None and not self._passed:
            self._pass_forced_text(matcher)
            self._next.append(())
        while matcher is not None and self._next and self._left:
            path = self._next.popleft()
            taken = 0
            try:
                while taken < len(path) and matcher.accept(path[taken]):
                    taken += 1
                expansion = self._expand(matcher, path) if taken == len(path) else None
            finally:
                matcher.rollback(taken)
            if expansion is not None:
                self._left -= 1
                return expansion
        self._matcher = None
        return None

    def _pass_forced_text(self, matcher: Matcher) -> None:
        while not matcher.complete and (run := forced_run(matcher)[0]).tokens:
            for token in run.tokens:
                matcher.accept(token)

    def _expand(self, matcher: Matcher, path: tuple[int, ...]) -> Expansion | None:
        position = matcher.position
        if position in self._passed or matcher.complete or not matcher.by_position:
            return None
        self._passed.add(position)
        if position in self._expanded:
            self._next += ((*path, *way) for way in self._expanded[position])
            return None
        row = self._walker.tables.rows[matcher.row]
        allowed = int(np.unpackbits(row.view(np.uint8)).sum())
        if allowed > MOST_TOKENS and self._asked[position] < PATIENCE:
            return None
        self._expanded[position] = ()
        tokens, targets, group = self._walker.tokens_needing_more_than(position.configuration, -1)
        sizes = np.bincount(group, minlength=len(targets))
        _, first = np.unique(group, return_index=True)
        place = np.full(len(targets), OTHER, np.uint8)
        told: list[Target] = []
        ways: list[tuple[int, ...]] = []
        for at in np.argsort(-sizes, kind="stable")[:MOST_TARGETS].tolist():
            token = int(tokens[first[at]])
            target = self._target(matcher, token)
            if target is not None:
                place[at] = len(told)
                told.append(target)
                ways.append((token, *(step.token for step in target.steps)))
        self._expanded[position] = tuple(ways)
        self._next += ((*path, *way) for way in ways)
        groups = np.full(len(self._quotes), OTHER, np.uint8)
        groups[tokens] = place[group]
        self._leave_out(matcher, groups, tokens)
        known = np.flatnonzero(groups != OTHER).astype(np.int32)
        way = (known.tobytes(), groups[known].tobytes())
        return Expansion(0, self._place(matcher), *way, told, *self._rows.take())

    def _leave_out(
        self, matcher: Matcher, groups: npt.NDArray[np.uint8], tokens: npt.NDArray[np.int32]
    ) -> None:
        """Take those `tokens` out of their groups whose way depends on the text."""
        leaf, keys = matcher.position.configuration.leaf, self._walker.tables.leaves.keys
        if is_within(leaf, keys):  # nothing but a quote ends a string
            tokens = tokens[self._quotes[tokens]]
        tokens = tokens[groups[tokens] != OTHER]
        if len(tokens) > MOST_CHECKED:
            groups[tokens] = OTHER
            return
        for token in tokens.tolist():
            before = matcher.position
            if not matcher.accept(token):
                groups[token] = OTHER
                continue
            if before.moves.get(token) is not matcher.position:
                groups[token] = OTHER
            matcher.rollback(1)

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
                steps[-1] = steps[-1]._replace(reached=end)
            return Target(reached, steps)
        finally:
            matcher.rollback(taken)

    def _step(self, matcher: Matcher, token: int) -> bool:
        """Accept a token; False, and nothing changes, where it leads depends on the text."""
        before = matcher.position
        if not matcher.accept(token):
            return False
        if before.moves.get(token) is matcher.position and matcher.by_position:
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
        run, shared = forced_run(matcher)
        if shared:
            described = described._replace(run=run)
        matcher.fill_mask(self._row, AMPLE)
        scope = Scope(*matcher.mask_scope(AMPLE))
        if scope.high < ENDLESS or not scope.shared:
            return described
        return described._replace(row=self._rows.number(self._row), scope=scope)
