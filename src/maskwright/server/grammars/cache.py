"""Compiled grammars, kept by their recipe; compiled off the event loop, once each."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor

from maskwright.mask import Grammar
from maskwright.server.exchange import GrammarSource
from maskwright.server.grammars.recipes import Recipe
from maskwright.server.observe.metrics import Metrics


class GrammarStore:
    """The grammars that were used last, as many as `room` bytes hold (see `Grammar.size`), at least
    one.

    Requests that ask for one recipe at the same time share one compilation, which goes on when the
    client that began it leaves. Failures aren't kept. To be used from one event loop.
    """

    def __init__(self, room: int, metrics: Metrics) -> None:
        self._room = room
        self._metrics = metrics
        self._ready: OrderedDict[str, Grammar] = OrderedDict()
        self._pending: dict[str, asyncio.Task[Grammar]] = {}
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="compile")

    async def get(self, recipe: Recipe) -> tuple[GrammarSource, Grammar]:
        """The grammar, and where it came from. Raises what compiling raises (InputError)."""
        grammar = self._ready.get(recipe.key)
        if grammar is not None:
            self._ready.move_to_end(recipe.key)
            self._metrics.got_grammar("kept")
            return "kept", grammar
        task = self._pending.get(recipe.key)
        source: GrammarSource = "shared"
        if task is None:
            source = "compiled"
            task = asyncio.create_task(self._compile_and_keep(recipe))
            task.add_done_callback(_mark_retrieved)
            self._pending[recipe.key] = task
        grammar = await asyncio.shield(task)
        self._metrics.got_grammar(source)
        return source, grammar

    async def _compile_and_keep(self, recipe: Recipe) -> Grammar:
        try:
            loop = asyncio.get_running_loop()
            grammar = await loop.run_in_executor(self._thread, self._built, recipe)
        finally:
            del self._pending[recipe.key]
        self._ready[recipe.key] = grammar
        self._make_room()
        return grammar

    def _built(self, recipe: Recipe) -> Grammar:
        begin, failed = time.perf_counter(), True
        try:
            grammar = recipe.build()
            _ = grammar.min_tokens  # counted here, and not on the event loop
            failed = False
        finally:
            self._metrics.compiled(time.perf_counter() - begin, failed=failed)
        return grammar

    def _make_room(self) -> None:
        """Forget the least recently used ones. Grammars grow while they are used, so all are asked;
        those that requests still hold live on without being kept."""
        held = sum(grammar.size for grammar in self._ready.values())
        while held > self._room and len(self._ready) > 1:
            _, oldest = self._ready.popitem(last=False)
            held -= oldest.size


def _mark_retrieved(task: asyncio.Task[Grammar]) -> None:
    """The waiters got the failure; if all of them left, it is nobody's."""
    if not task.cancelled():
        task.exception()
