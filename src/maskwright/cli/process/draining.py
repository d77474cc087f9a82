"""The HTTP server of `serve`: how it ends, and how it takes up changed files."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
from collections.abc import Callable
from contextvars import Context
from types import FrameType

import uvicorn

from maskwright.dist.drain import Drain
from maskwright.errors import InputError

log = logging.getLogger(__name__)


class DrainingServer(uvicorn.Server):
    """A server that drains on SIGTERM: it keeps listening, so that its application can refuse new
    requests by name, and ends when the others have been answered. When their time is over, they are
    ended by `cut`. A second SIGTERM, and any SIGINT, ends it without a drain.

    On SIGHUP it calls `reload`, if there is one, whose InputError is logged.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        drain: Drain,
        cut: Callable[[], None],
        reload: Callable[[], None] | None = None,
    ) -> None:
        super().__init__(config)
        self._drain = drain
        self._cut = cut
        self._reload = reload
        self._has_logged = False

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Handle a signal. SIGTERM isn't raised again after the end, as uvicorn does: the process
        would be killed before it has closed what it holds."""
        if sig != signal.SIGTERM:
            super().handle_exit(sig, frame)
        elif self._drain.begun:
            self.should_exit = True
        else:
            self._drain.begin()

    async def on_tick(self, counter: int) -> bool:
        if self._drain.begun and not self._has_logged:
            self._has_logged = True
            log.info(
                "draining: %d requests are being answered, for at most %g s",
                self._drain.active,
                self._drain.seconds,
            )
        if self._drain.done:
            self.should_exit = True
        elif self._drain.late and not self.should_exit:
            log.warning("%d requests were not answered in time", self._drain.active)
            await asyncio.to_thread(self._cut)
            self.should_exit = True
        return await super().on_tick(counter)

    def run(self, sockets: list[socket.socket] | None = None) -> None:
        if self._reload is None:
            super().run(sockets)
            return
        before = signal.signal(signal.SIGHUP, self.handle_hangup)
        try:
            super().run(sockets)
        finally:
            signal.signal(signal.SIGHUP, before)

    def handle_hangup(self, _: int, __: FrameType | None) -> None:
        """Read the files again, on SIGHUP."""
        # The signal interrupts whatever task runs; the log must not name the request of that task.
        Context().run(self._reload_files)

    def _reload_files(self) -> None:
        assert self._reload is not None
        try:
            self._reload()
        except InputError as error:
            log.error("nothing was reloaded: %s", error)
        else:
            log.info("keys and certificate were reloaded")
