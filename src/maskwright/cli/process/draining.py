"""The HTTP server of `serve` and `route`: its settings, what is said when it listens, how it ends,
and how it takes up changed files.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
from collections.abc import Callable
from contextvars import Context
from types import FrameType
from typing import Any, Final, cast

import uvicorn
from starlette.types import ASGIApp

from maskwright.cli.process.bounded_http import BoundedHttp
from maskwright.dist.drain import Drain
from maskwright.errors import InputError

log = logging.getLogger(__name__)

SHUTDOWN_SECONDS: Final = 5
"""Time for connections to close at the end, in seconds."""


def http_config(app: ASGIApp, keep_alive: float, **more: Any) -> uvicorn.Config:
    """The settings of the HTTP server of an application. Its socket has host and port.
    `keep_alive`: seconds for which a connection without a request is kept open; `more`: further
    settings."""
    return uvicorn.Config(
        app,
        http=BoundedHttp,
        ws="none",
        log_level="warning",
        log_config=None,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        timeout_keep_alive=cast(int, keep_alive),  # any number of seconds, though annotated so
        **more,
    )


class DrainingServer(uvicorn.Server):
    """A server that drains on SIGTERM: it keeps listening, so that its application can refuse new
    requests by name, and ends when the others have been answered. When their time is over, they are
    ended by `cut`. A second SIGTERM, and any SIGINT, ends it without a drain.

    On SIGHUP it calls `reload`, if there is one, whose InputError is logged. `announce` gets its
    address when it listens.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        drain: Drain,
        cut: Callable[[], None],
        reload: Callable[[], None] | None = None,
        announce: Callable[[str], None] = lambda _: None,
    ) -> None:
        super().__init__(config)
        self._announce = announce
        self._drain = drain
        self._cut = cut
        self._reload = reload
        self._has_logged = False

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        host, port = (sockets or self.servers[0].sockets)[0].getsockname()[:2]
        scheme = "https" if self.config.is_ssl else "http"
        self._announce(f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}")

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
