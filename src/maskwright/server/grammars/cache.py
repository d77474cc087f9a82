"""A cache of compiled grammars by recipe. Each is compiled once, in a thread."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor

from maskwright.mask import CompiledGrammar
from maskwright.processes import Build, GrammarProcesses
from maskwright.server.exchange import GrammarSource
from maskwright.server.grammars.recipes import Recipe
from maskwright.server.observe.metrics import Metrics
from maskwright.vocab import Vocabulary


class GrammarStore:
    """The most recently used grammars, up to `room` bytes (see `Grammar.size`) and at least one.

    Requests that need one recipe at the same time share one compilation, which continues if the
    client that began it disconnects. Errors aren't kept. To be used from one event loop.
    """

    def __init__(
        self,
        room: int,
        metrics: Metrics,
        vocabulary: Vocabulary,
        processes: GrammarProcesses | None = None,
    ) -> None:
        """`processes` compile the grammars and answer for them; without, they are compiled in a
        thread of this process."""
        self._room = room
        self._vocabulary = vocabulary
        self._processes = processes
        self._metrics = metrics
        self._ready: OrderedDict[str, CompiledGrammar] = OrderedDict()
        self._pending: dict[str, asyncio.Task[CompiledGrammar]] = {}
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="compile")

    async def get(self, recipe: Recipe) -> tuple[GrammarSource, CompiledGrammar]:
        """Return the grammar and where it came from. Raises the InputError of the compilation."""
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

    async def _compile_and_keep(self, recipe: Recipe) -> CompiledGrammar:
        begin, failed = time.perf_counter(), True
        try:
            if self._processes is not None:
                grammar = await asyncio.wrap_future(self._processes.compile(recipe.build))
            else:
                loop = asyncio.get_running_loop()
                grammar = await loop.run_in_executor(self._thread, self._built, recipe.build)
            failed = False
        except Exception as error:
            recipe.name_place(error)
            raise
        finally:
            self._metrics.compiled(time.perf_counter() - begin, failed=failed)
            del self._pending[recipe.key]
        self._ready[recipe.key] = grammar
        self._make_room()
        return grammar

    def _built(self, build: Build) -> CompiledGrammar:
        grammar = build(self._vocabulary)
        _ = grammar.min_tokens  # counted here, and not on the event loop
        return grammar

    def _make_room(self) -> None:
        """Drop the least recently used grammars until the others fit. Grammars grow while they are
        used, so all sizes are measured anew. Requests keep the grammars that they use."""
        held = sum(grammar.size for grammar in self._ready.values())
        while held > self._room and len(self._ready) > 1:
            _, oldest = self._ready.popitem(last=False)
            held -= oldest.size


def _mark_retrieved(task: asyncio.Task[CompiledGrammar]) -> None:
    """Mark the error of a task as handled, because no request may be left that waits for it."""
    if not task.cancelled():
        task.exception()
