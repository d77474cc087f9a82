"""The endpoint that serves the document."""

from __future__ import annotations

import json
from typing import Final

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response

from maskwright.server.config import ServerConfig
from maskwright.server.openapi.document import document
from maskwright.server.pages.static_pages import StaticFile
from maskwright.server.route import Endpoint

PATH: Final = "/openapi.json"


class DocumentRoute:
    """Serves the document of one application, which is made when it is first asked for: the start
    of a server doesn't wait for it."""

    def __init__(self, app: Starlette, config: ServerConfig) -> None:
        self._app = app
        self._config = config
        self._made: StaticFile | None = None

    async def document(self, http: Request) -> Response:
        if self._made is None:
            made = document(
                self._app.routes,
                has_keys=self._config.keys is not None,
                has_batches=self._config.batch_folder is not None,
                open_metrics=self._config.open_metrics,
            )
            text = json.dumps(made, ensure_ascii=False, separators=(",", ":"))
            self._made = StaticFile(text.encode(), "application/json")
        return self._made.response(http)


def add_document(app: Starlette, config: ServerConfig) -> str:
    """Add the endpoint to an application. Returns its path, for which no key is needed: the
    document holds no data, and a reader of `/docs` may not have a key yet."""
    route = DocumentRoute(app, config)
    app.routes.append(Endpoint(PATH, route.document, ["GET", "HEAD"]))
    return PATH
