"""The endpoint `/state`: what the dashboard and `maskwright status` show, in one document, with the
last answers' traces: numbers and ids, no text.
"""

from __future__ import annotations

import time
from typing import Final

from msgspec import to_builtins
from starlette.requests import Request
from starlette.responses import JSONResponse

from maskwright.engine import Engine
from maskwright.server.errors import HttpError
from maskwright.server.exchange import owner_of
from maskwright.server.json import Json
from maskwright.server.observe.figures import PastFigures, figures_of
from maskwright.server.observe.metrics import Metrics
from maskwright.server.observe.traces import RecentAnswers

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
                **to_builtins(self._engine.view()),
            }
            self._read_at = now
        return self._read
