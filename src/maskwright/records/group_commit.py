"""Appends lines of many tasks to a journal, with few synchronisations.

To synchronise a file takes milliseconds. While that happens in a thread, further lines gather, and
are then written together (group commit, as databases write their logs).
"""

from __future__ import annotations

import asyncio

from maskwright.records.journal import Journal


class GroupCommit:
    """The appending side of a journal for the tasks of one event loop."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._waiting: list[tuple[bytes, asyncio.Future[None]]] = []
        self._writing: asyncio.Task[None] | None = None

    async def append(self, line: bytes) -> None:
        """Append one line, and return once it is on the disk. Raises OSError. A line whose task is
        cancelled meanwhile is written all the same."""
        written: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((line, written))
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write())
        await written

    async def settle(self) -> None:
        """Wait until no line is being written."""
        if self._writing is not None:
            await self._writing

    async def _write(self) -> None:
        while self._waiting:
            taken, self._waiting = self._waiting, []
            lines = b"".join(line for line, _ in taken)
            try:
                await asyncio.to_thread(self._journal.append, lines)
            except OSError as error:
                for _, written in taken:
                    if not written.done():
                        written.set_exception(error)
            else:
                for _, written in taken:
                    if not written.done():
                        written.set_result(None)
