"""The tables of states of the grammars in use, made in the background when first needed.

They are made of the positions of a grammar in this process, which is expanded by trying tokens, or
of one in a grammar process, as far as it has been learned.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import lru_cache, partial
from typing import Final, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from msgspec import Struct

from maskwright.engine.on_device.automaton import (
    NO_TOKENS,
    STOPPED,
    Moves,
    Site,
    TokenAutomaton,
    allowed_by,
    free_automaton,
    tabulate,
)
from maskwright.engine.request.active import Active
from maskwright.errors import MaskwrightError
from maskwright.immutable import Immutable
from maskwright.mask import Matcher
from maskwright.mask.matcher.protocol import ForcedRun
from maskwright.mask.position import Position
from maskwright.processes import Follower
from maskwright.processes.ahead import AMPLE
from maskwright.processes.follower import FollowedGrammar
from maskwright.processes.learned import LearnedPosition
from maskwright.processes.messages import ENDLESS
from maskwright.sampling import Mask

MOST_TRIED: Final = 4_096
"""Tokens of a mask up to which each is tried: that takes some milliseconds. Wider masks are mostly
those inside of free strings, where a text stops in the table."""


class MatcherSite:
    """A position of a grammar in this process. Its matcher belongs to it alone. What takes too much
    is not known: its error is the matter of the text that gets there."""

    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher
        self._mask: tuple[Mask, int] | None = None

    @property
    def key(self) -> Hashable:
        return self._matcher.position

    @property
    def complete(self) -> bool:
        return self._matcher.complete

    def run(self) -> ForcedRun | None:
        with suppress(MaskwrightError):
            run = self._matcher.forced_run()
            return run if run.shared else None
        return None

    def mask(self) -> tuple[Mask, int] | None:
        if self._mask is None and self._matcher.by_position:
            mask = np.zeros(self._matcher.recognizer.vocabulary.words, np.int32)
            with suppress(MaskwrightError):
                self._matcher.fill_mask(mask, AMPLE)
                low, high, shared = self._matcher.mask_scope(AMPLE)
                if high >= ENDLESS and shared:
                    self._mask = mask, low
        return self._mask

    def after(self, token: int) -> MatcherSite | None:
        if not self._step(token):
            return None
        following = MatcherSite(self._matcher.copy())
        self._matcher.rollback(1)
        return following

    def moves(self) -> Moves:
        found = self.mask()
        tokens = NO_TOKENS if found is None else allowed_by(found[0])
        if len(tokens) > MOST_TRIED:
            tokens = NO_TOKENS
        eos = self._matcher.recognizer.vocabulary.eos
        numbers: dict[Position, int] = {}
        targets: list[MatcherSite | None] = [None]
        known: list[int] = []
        groups: list[int] = []
        for token in tokens.tolist():
            if token in eos:
                known.append(token)
                groups.append(0)
            elif self._step(token):
                position = self._matcher.position
                if position not in numbers:
                    numbers[position] = len(targets)
                    targets.append(MatcherSite(self._matcher.copy()))
                known.append(token)
                groups.append(numbers[position])
                self._matcher.rollback(1)
        return Moves(np.array(known, np.int32), np.array(groups, np.intp), targets)

    def _step(self, token: int) -> bool:
        """Accept a token; False, and nothing changes, where it leads depends on the text."""
        before, taken = self._matcher.position, False
        with suppress(MaskwrightError):
            taken = self._matcher.accept(token)
        if not taken:
            return False
        if before.moved(token) is self._matcher.position and self._matcher.by_position:
            return True
        self._matcher.rollback(1)
        return False


class LearnedSite:
    """A position of a grammar in a grammar process."""

    def __init__(self, grammar: FollowedGrammar, position: LearnedPosition) -> None:
        self._grammar = grammar
        self._position = position

    @property
    def key(self) -> Hashable:
        return self._position

    @property
    def complete(self) -> bool:
        return self._position.complete

    def run(self) -> ForcedRun | None:
        return self._position.run

    def mask(self) -> tuple[Mask, int] | None:
        row = self._position.row
        return None if row is None else (row, self._position.sufficient_budget)

    def after(self, token: int) -> LearnedSite | None:
        following = self._position.after(token)
        return None if following is None else LearnedSite(self._grammar, following)

    def moves(self) -> Moves:
        tokens, groups, positions = self._position.known_moves()
        targets = [
            None if position is None else LearnedSite(self._grammar, position)
            for position in (None, *positions)
        ]
        ends = np.array(sorted(self._grammar.vocabulary.eos), np.int32)
        inside = ~np.isin(tokens, ends)
        return Moves(
            np.concatenate((ends, tokens[inside])),
            np.concatenate((np.zeros(len(ends), np.intp), 1 + groups[inside])),
            targets,
        )


REST: Final = 20.0
"""A table that is not whole is made again, if more has been learned, after so many times the
seconds that making it took: at most a twentieth of the time is spent on that. In the background, no
table at all is made sooner after another, as many grammars as there may be."""

LEAST_REST: Final = 0.05
"""Seconds after which it is made again at the earliest."""

MOST_FREE: Final = 64
"""Tables of texts without a grammar, one for each set of end tokens, that are kept."""


class TextState(Immutable):
    """Where a text stands: a table, and the state there."""

    automaton: TokenAutomaton
    state: int


class _Ready(NamedTuple):
    """A table, the seconds that making it took, and when it was ready."""

    automaton: TokenAutomaton
    took: float
    at: float


class _Made(Struct):
    """A table, or the work on it."""

    version: tuple[object, int]
    """What it was made from: where texts begin, and how much was known."""
    work: Future[_Ready]
    before: TokenAutomaton | None
    """The table that serves until then."""

    @property
    def automaton(self) -> TokenAutomaton | None:
        return self.work.result().automaton if self.work.done() else self.before


class Automata:
    """The tables of one engine. `background`: they are made in a thread of their own; otherwise at
    once. To be used from one thread."""

    def __init__(self, *, background: bool, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._executor = ThreadPoolExecutor(1, "maskwright-automata") if background else None
        self._made: WeakKeyDictionary[object, dict[bool, _Made]] = WeakKeyDictionary()
        self._last: Future[_Ready] | None = None
        """The last table that was made in the background."""

    def find(self, active: Active) -> TextState | None:
        """Where the text of a request stands; None where no table follows it, none is ready, or
        so few tokens are left that the mask there is another one. To be called while no post-step
        work of the request is pending."""
        matcher = active.matcher
        if matcher is None:
            return TextState(_without_grammar(active.free_words.tobytes()), 0)
        if isinstance(matcher, Follower):
            grammar, start = matcher.grammar, matcher.grammar.start
            if start is None:
                return None
            source = _TableSource(partial(LearnedSite, grammar, start), (start, grammar.size))
            return self._find(active, grammar, matcher.position, source)
        if type(matcher) is Matcher:  # others count tokens, so their masks depend on the text
            # All of a grammar in this process can be known.
            source = _TableSource(partial(_beginning_of, matcher), (None, 0))
            return self._find(active, matcher.recognizer, matcher.position, source)
        return None

    def stop(self) -> None:
        """End the thread."""
        if self._executor is not None:
            self._executor.shutdown(cancel_futures=True)

    def _find(
        self, active: Active, grammar: object, position: object, source: _TableSource
    ) -> TextState | None:
        canonical = active.writes_forced_text
        tables = self._made.setdefault(grammar, {})
        made = tables.get(canonical)
        if made is None or made.version[0] is not source.version[0]:
            if self._rests:
                return None
            made = tables[canonical] = self._make(source, None, canonical=canonical)
        automaton = made.automaton
        if automaton is None:
            return None
        state = automaton.state(position, active.coming)
        if state == STOPPED and self._may_be_larger(made, source):
            tables[canonical] = self._make(source, automaton, canonical=canonical)
        if state == STOPPED or active.left < automaton.needs[state]:
            return None
        return TextState(automaton, state)

    def _may_be_larger(self, made: _Made, source: _TableSource) -> bool:
        """Whether more has been learned than a table has, which has not just been made."""
        if self._rests or not made.work.done() or made.version == source.version:
            return False
        automaton, took, at = made.work.result()
        return not automaton.whole and self._clock() - at >= max(LEAST_REST, REST * took)

    @property
    def _rests(self) -> bool:
        """Whether no table may be made in the background now."""
        if self._last is None:
            return False
        if not self._last.done():
            return True
        _, took, at = self._last.result()
        return self._clock() - at < REST * took

    def _make(
        self, source: _TableSource, before: TokenAutomaton | None, *, canonical: bool
    ) -> _Made:
        start = source.start()

        def work() -> _Ready:
            begin = self._clock()
            automaton = tabulate(start, canonical=canonical, clock=self._clock)
            end = self._clock()
            return _Ready(automaton, end - begin, end)

        if self._executor is not None:
            self._last = self._executor.submit(work)
            return _Made(source.version, self._last, before)
        future: Future[_Ready] = Future()
        future.set_result(work())
        return _Made(source.version, future, before)


@lru_cache(maxsize=MOST_FREE)
def _without_grammar(words: bytes) -> TokenAutomaton:
    return free_automaton(np.frombuffer(words, np.int32))


class _TableSource(Immutable):
    """What a table is made from."""

    start: Callable[[], Site]
    version: tuple[object, int]


def _beginning_of(matcher: Matcher) -> MatcherSite:
    beginning = matcher.copy()
    beginning.reset()
    return MatcherSite(beginning)
