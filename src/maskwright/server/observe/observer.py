"""Hands each finished request to metrics, traces and the log."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from functools import partial

from maskwright.engine import Trace
from maskwright.server.exchange import Exchange
from maskwright.server.observe.metrics import Metrics
from maskwright.server.observe.traces import RequestTrace, TraceSink

PROBES = frozenset(
    f"{prefix}/{path}"
    for prefix in ("", "/v1")
    for path in ("health", "live", "ready", "metrics", "state")
)
"""Paths that machines request every few seconds. They are logged at a lower level."""

log = logging.getLogger("maskwright.requests")


class Observer:
    """Receives each exchange once, when it has ended."""

    def __init__(self, metrics: Metrics, sinks: Sequence[TraceSink] = ()) -> None:
        self.metrics = metrics
        self._sinks = sinks

    def ended(self, exchange: Exchange) -> None:
        """Record an exchange whose answer was sent or abandoned. Its choices are traced when their
        generations have ended, which is a little later if the client has disconnected."""
        exchange.seconds = time.monotonic() - exchange.started
        self.metrics.answered(exchange)
        log.log(
            logging.DEBUG if exchange.route in PROBES else logging.INFO,
            "%s %s %d in %.0f ms%s",
            exchange.method,
            exchange.path,
            exchange.status,
            1000 * exchange.seconds,
            "" if exchange.code is None else f" ({exchange.code})",
            extra={
                "fields": {
                    "method": exchange.method,
                    "path": exchange.path,
                    "status": exchange.status,
                    "code": exchange.code,
                    "key": exchange.key,
                    "ms": round(1000 * exchange.seconds, 3),
                }
            },
        )
        for index, generation in enumerate(exchange.generations):
            generation.when_ended(partial(self._traced, exchange, index))

    def _traced(self, exchange: Exchange, index: int, engine: Trace) -> None:
        """Trace one choice. This may run in the engine's thread, which must not fail if a disk is
        full."""
        trace = RequestTrace(exchange, index, engine)
        try:
            self.metrics.traced(trace)
            for sink in self._sinks:
                sink(trace)
        except Exception:
            log.exception("the trace of request %s was lost", exchange.request_id)
