"""What ends the work of a request before its end: the client has left, or the router is stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any


class Interrupt:
    """Ends one work, which runs in the task of its caller: a task of its own would cost each
    request another turn of the event loop."""

    def __init__(self) -> None:
        self.reason: str | None = None
        """Why the work was ended; None if it was not."""
        self._task: asyncio.Task[Any] | None = None

    def fire(self, reason: str) -> None:
        """End the work if it runs. To be called from another task or a callback of the loop."""
        if self._task is not None and self.reason is None:
            self.reason = reason
            self._task.cancel()

    async def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Run `work` to its end, or until it is ended by `fire`."""
        self._task = task = asyncio.current_task()
        assert task is not None
        try:
            await work
        except asyncio.CancelledError:
            if self.reason is None or task.uncancel():
                raise  # somebody else cancels the task
        finally:
            self._task = None
