"""The endpoint `/state`: what the dashboard and `maskwright status` show, in one document, with the
last answers' traces, which are kept in memory: numbers and ids, no text.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections import deque
from dataclasses import asdict
from typing import Final

from starlette.requests import Request
from starlette.responses import JSONResponse

from maskwright.engine import Engine
from maskwright.server.errors import HttpError
from maskwright.server.exchange import owner_of
from maskwright.server.json import Json
from maskwright.server.observe.figures import PastFigures, figures_of
from maskwright.server.observe.metrics import Metrics
from maskwright.server.observe.traces import RequestTrace

MOST_ANSWERS: Final = 100

NAMES: Final = frozenset({"request_id", "traceparent", "key"})
"""Fields that only the holder of the request's own key may read."""

FIELDS: Final = (
    *("request_id", "key", "received", "route", "stream", "index", "choices", "shape", "grammar"),
    *("service", "adapter", "finish_reason", "shortened_at", "error", "prompt_tokens"),
    *("cached_tokens", "completion_tokens", "sampled_tokens", "forced_tokens", "drafted_tokens"),
    *("accepted_tokens", "steps", "preemptions", "kv_blocks_peak", "mask_rows", "mask_hits"),
    *("mask_ms", "questions", "late_rows", "late_ms", "preempted_ms", "compile_ms", "render_ms"),
    *("queue_ms", "prefill_ms", "decode_ms", "paused_ms", "total_ms", "ttft_ms", "tpot_ms"),
    *("longest_gap_ms", "client_ttft_ms", "stream_ms", "request_ms"),
)
"""Fields of a trace that are kept."""


class RecentAnswers:
    """A sink of traces that keeps the last ones. Can be used from any thread."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._kept: deque[tuple[int, Json]] = deque(maxlen=MOST_ANSWERS)
        self._lock = threading.Lock()

    def __call__(self, trace: RequestTrace) -> None:
        body = trace.body()
        record = trace.exchange.generations[trace.index].record
        kept: Json = {name: body[name] for name in FIELDS}
        kept["step_ms"] = [round(1000 * at, 2) for at in record.given_at]
        kept["step_tokens"] = record.given.tolist()
        with self._lock:
            count = next(self._numbers)
            self._kept.append((count, {"number": count, **kept}))

    def after(self, number: int, key: str | None) -> list[Json]:
        """Return the answers with greater numbers, oldest first. Those of other keys than `key` are
        without their names."""
        with self._lock:
            newest = [one for count, one in self._kept if count > number]
        return [
            one if one["key"] == key else {name: one[name] for name in one.keys() - NAMES}
            for one in newest
        ]


FRESH_SECONDS: Final = 0.5
"""The age up to which a document is sent again, so that many readers cost what one costs."""


class StateRoute:
    """Reads the engine from the HTTP thread; the engine's thread does nothing for it."""

    def __init__(self, engine: Engine, metrics: Metrics, model: str) -> None:
        self.recent = RecentAnswers()
        """The sink that has to be given the traces."""
        self.history = PastFigures(engine)
        self._engine = engine
        self._metrics = metrics
        self._model = model
        self._read_at = 0.0
        self._read: Json = {}

    async def state(self, http: Request) -> JSONResponse:
        """Return the document, with the answers after number `since` only, and with the last hour
        if `history` is 1."""
        text = http.query_params.get("since", "0")
        if not text.isascii() or not text.isdigit():
            raise HttpError(400, "since is the number of an answer", param="since")
        past = http.query_params.get("history", "0")
        if past not in ("0", "1"):
            raise HttpError(400, "history is 0 or 1", param="history")
        recent = self.recent.after(int(text[:18]), owner_of(http.scope))
        document = {**self._document(), "recent": recent}
        if past == "1":
            document["history"] = self.history.document()
        return JSONResponse(document)

    def _document(self) -> Json:
        now = time.monotonic()
        if not self._read or now - self._read_at > FRESH_SECONDS:
            samples = self._metrics.samples()
            self._read = {
                "time": time.time(),
                "model": self._model,
                "healthy": self._engine.alive,
                "max_context": self._engine.max_context,
                "figures": figures_of(samples, self.recent.after(0, None)),
                "metrics": samples,
                **asdict(self._engine.view()),
            }
            self._read_at = now
        return self._read
