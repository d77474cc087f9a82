"""The tables of states of the grammars in use, made in the background when first needed."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final, NamedTuple
from weakref import WeakKeyDictionary

from maskwright.engine.on_device.automaton import (
    STOPPED,
    Site,
    TokenAutomaton,
    free_automaton,
    tabulate,
)
from maskwright.engine.on_device.sites import LearnedSite, MatcherSite
from maskwright.engine.request.active import Active
from maskwright.mask import Matcher
from maskwright.processes import Follower

REST: Final = 20.0
"""A table that is not whole is made again, if more has been learned, after so many times the
seconds that making it took: at most a twentieth of the time is spent on that."""

LEAST_REST: Final = 0.05
"""Seconds after which it is made again at the earliest."""

MOST_FREE: Final = 64
"""Tables of texts without a grammar, one for each set of end tokens, that are kept."""


class TextState(NamedTuple):
    """Where a text stands: a table, and the state there."""

    automaton: TokenAutomaton
    state: int


class _Ready(NamedTuple):
    """A table, the seconds that making it took, and when it was ready."""

    automaton: TokenAutomaton
    took: float
    at: float


@dataclass(slots=True)
class _Made:
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
        self._free: dict[bytes, TokenAutomaton] = {}

    def find(self, active: Active) -> TextState | None:
        """Where the text of a request stands; None where no table follows it, none is ready, or
        so few tokens are left that the mask there is another one. To be called while no post-step
        work of the request is pending."""
        matcher = active.matcher
        if matcher is None:
            return TextState(self._without_grammar(active), 0)
        if isinstance(matcher, Follower):
            return self._find(active, matcher.grammar, matcher.position, _learned(matcher))
        if type(matcher) is Matcher:  # others count tokens, so their masks depend on the text
            return self._find(active, matcher.recognizer, matcher.position, _own(matcher))
        return None

    def stop(self) -> None:
        """End the thread."""
        if self._executor is not None:
            self._executor.shutdown(cancel_futures=True)

    def _without_grammar(self, active: Active) -> TokenAutomaton:
        words = active.free_words
        found = self._free.get(words.tobytes())
        if found is None:
            if len(self._free) >= MOST_FREE:
                self._free.clear()
            found = self._free[words.tobytes()] = free_automaton(words)
        return found

    def _find(
        self, active: Active, grammar: object, position: object, source: _TableSource | None
    ) -> TextState | None:
        if source is None:
            return None
        canonical = active.writes_forced_text
        tables = self._made.setdefault(grammar, {})
        made = tables.get(canonical)
        if made is None or made.version[0] is not source.version[0]:
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
        if not made.work.done() or made.version == source.version:
            return False
        automaton, took, at = made.work.result()
        return not automaton.whole and self._clock() - at >= max(LEAST_REST, REST * took)

    def _make(
        self, source: _TableSource, before: TokenAutomaton | None, *, canonical: bool
    ) -> _Made:
        def work() -> _Ready:
            begin = self._clock()
            automaton = tabulate(source.start(), canonical=canonical, clock=self._clock)
            end = self._clock()
            return _Ready(automaton, end - begin, end)

        if self._executor is not None:
            return _Made(source.version, self._executor.submit(work), before)
        future: Future[_Ready] = Future()
        future.set_result(work())
        return _Made(source.version, future, before)


class _TableSource(NamedTuple):
    """What a table is made from."""

    start: Callable[[], Site]
    version: tuple[object, int]


def _own(matcher: Matcher) -> _TableSource:
    """The grammar of a matcher in this process, from its beginning; all of it can be known."""

    def start() -> Site:
        beginning = matcher.copy()
        beginning.reset()
        return MatcherSite(beginning)

    return _TableSource(start, (None, 0))


def _learned(follower: Follower) -> _TableSource | None:
    """What has been learned of a grammar in another process."""
    grammar, start = follower.grammar, follower.grammar.start
    if start is None:
        return None
    return _TableSource(lambda: LearnedSite(grammar, start), (start, grammar.size))
