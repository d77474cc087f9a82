"""The events of an answer's text, wherever its grammar lives."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Sequence
from typing import Protocol

from maskwright.mask import Event, Grammar
from maskwright.processes import AnyGrammar, FollowedGrammar


class EventSource(Protocol):
    """Reads one answer from its start."""

    async def read(self, token_ids: Sequence[int], *, final: bool) -> list[Event]:
        """The events of the next tokens; `final` with the last ones."""
        ...


class LocalEvents:
    """Events read by a matcher in this process."""

    def __init__(self, grammar: Grammar) -> None:
        self._matcher = grammar.matcher()

    async def read(self, token_ids: Sequence[int], *, final: bool) -> list[Event]:
        for token in token_ids:
            accepted = self._matcher.accept(token)
            assert accepted, "the engine sampled a token that the grammar forbids"
        return self._matcher.events(final=final)


class RemoteEvents:
    """Events read by the process in which the grammar lives."""

    def __init__(self, grammar: FollowedGrammar) -> None:
        self._processes = grammar.processes
        self._reader = grammar.processes.reader(grammar)
        ended = weakref.finalize(self, self._processes.forget_reader, self._reader)
        ended.atexit = False

    async def read(self, token_ids: Sequence[int], *, final: bool) -> list[Event]:
        future = self._processes.events(self._reader, list(token_ids), final=final)
        return await asyncio.wrap_future(future)


def events_of(grammar: AnyGrammar) -> EventSource:
    """The source of the events of one answer."""
    return LocalEvents(grammar) if isinstance(grammar, Grammar) else RemoteEvents(grammar)
