"""Wraps every request: its id, the answer to an internal error, and its record, which metrics,
traces and the log get in the end."""

from __future__ import annotations

import logging
import re
import time
import uuid
from collections.abc import Sequence
from functools import partial

from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from maskwright.engine import Trace
from maskwright.server.access_control import READING
from maskwright.server.errors import HttpError, error_response, is_anthropic
from maskwright.server.exchange import CURRENT, KEY, Exchange
from maskwright.server.observe.metrics import Metrics
from maskwright.server.observe.traces import RequestTrace, TraceSink

HEADER = "x-request-id"
ANTHROPIC_HEADER = "request-id"
"""The same in Anthropic's protocol."""
_SAFE = re.compile(r"[\x21-\x7e]{1,128}")
_TRACEPARENT = re.compile(r"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}")
NO_ROUTE = "none"
"""The route of all unknown paths in metrics, so that requests for random paths can't fill them."""

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

HTTP_OK = 200

PROBES = frozenset(
    f"{prefix}/{path}"
    for prefix in ("", "/v1")
    for path in ("health", "live", "ready", "metrics", "state")
)
"""Paths that machines request every few seconds. They are logged at a lower level."""

log = logging.getLogger(__name__)
requests = logging.getLogger("maskwright.requests")


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
        requests.log(
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
            requests.exception("the trace of request %s was lost", exchange.request_id)


class Exchanges:
    """Gives every response an `x-request-id`, which is the client's if it sent one, and the headers
    of its key's rates, and passes the record of every request to the observer when it has ended.

    An unhandled exception is logged and answered with a 500 in the usual form. If the response has
    begun already, the connection is closed.
    """

    def __init__(self, app: ASGIApp, observer: Observer) -> None:
        self._app = app
        self._observer = observer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        exchange = scope[KEY] = _begin(scope)
        token = CURRENT.set(exchange)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                exchange.status = message["status"]
                headers = MutableHeaders(scope=message)
                headers[HEADER] = exchange.request_id
                if is_anthropic(exchange.path):
                    headers[ANTHROPIC_HEADER] = exchange.request_id
                if exchange.allowance is not None and exchange.method not in READING:
                    headers.update(exchange.allowance.headers())
            await send(message)

        try:
            await self._app(scope, receive, send_with_headers)
        except Exception as error:
            log.error("request %s failed", exchange.request_id)
            if exchange.status:
                raise
            exchange.code = "internal_error"
            await error_response(error, exchange.path)(scope, receive, send_with_headers)
        finally:
            exchange.route = getattr(scope.get("route"), "path", NO_ROUTE)
            self._observer.ended(exchange)
            CURRENT.reset(token)


class Pages(CORSMiddleware):
    """Lets scripts of web pages from some origins use the server. A preflight request that is
    refused is answered in the form of all errors."""

    def preflight_response(self, request_headers: Headers) -> Response:
        response = super().preflight_response(request_headers)
        if response.status_code == HTTP_OK:
            return response
        text = bytes(response.body).decode()
        error = HttpError(
            response.status_code,
            f"{text[:1].lower()}{text[1:]}; 'serve --cors-origin' names the origins whose pages "
            "may use this server",
            code="cors_refused",
        )
        refusal = error_response(error)
        for name, value in response.headers.items():
            refusal.headers.setdefault(name, value)
        return refusal


def _begin(scope: Scope) -> Exchange:
    headers = Headers(scope=scope)
    asked, parent = headers.get(HEADER, ""), headers.get("traceparent", "")
    method = str(scope["method"])
    return Exchange(
        request_id=asked if _SAFE.fullmatch(asked) else f"req_{uuid.uuid4().hex}",
        method=method if method in METHODS else "other",
        path=str(scope["path"]),
        traceparent=parent if _TRACEPARENT.fullmatch(parent) else None,
    )
