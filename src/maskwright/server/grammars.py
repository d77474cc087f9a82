"""Compiled grammars, kept by their schema's text; compiled off the event loop, once each."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from maskwright.mask import Grammar


class GrammarStore:
    """The last `size` grammars by recency of use.

    Requests that ask for one text at the same time share one compilation, which goes on when the
    client that began it leaves. Failures aren't kept. To be used from one event loop.
    """

    def __init__(self, compile_text: Callable[[str], Grammar], size: int) -> None:
        self._compile = compile_text
        self._size = size
        self._ready: OrderedDict[str, Grammar] = OrderedDict()
        self._pending: dict[str, asyncio.Task[Grammar]] = {}
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="compile")

    async def get(self, text: str) -> Grammar:
        """The grammar of a schema's JSON text. Raises what compiling raises (InputError)."""
        grammar = self._ready.get(text)
        if grammar is not None:
            self._ready.move_to_end(text)
            return grammar
        task = self._pending.get(text)
        if task is None:
            task = asyncio.create_task(self._compile_and_keep(text))
            task.add_done_callback(_mark_retrieved)
            self._pending[text] = task
        return await asyncio.shield(task)

    async def _compile_and_keep(self, text: str) -> Grammar:
        try:
            loop = asyncio.get_running_loop()
            grammar = await loop.run_in_executor(self._thread, self._compile, text)
        finally:
            del self._pending[text]
        self._ready[text] = grammar
        if len(self._ready) > self._size:
            self._ready.popitem(last=False)
        return grammar


def _mark_retrieved(task: asyncio.Task[Grammar]) -> None:
    """The waiters got the failure; if all of them left, it is nobody's."""
    if not task.cancelled():
        task.exception()
