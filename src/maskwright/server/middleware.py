"""Around every request: its id, and the answer to a defect of ours."""

from __future__ import annotations

import logging
import re
import uuid

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from maskwright.server.errors import error_response

HEADER = "x-request-id"
_SAFE = re.compile(r"[\x21-\x7e]{1,128}")

log = logging.getLogger(__name__)


class RequestIds:
    """Gives every response an `x-request-id` (the client's own, if it sent one).

    An exception that nothing else answered is logged with the id and answered with a 500 in the
    usual shape; a response that had begun is broken off.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        asked = Headers(scope=scope).get(HEADER, "")
        request_id = asked if _SAFE.fullmatch(asked) else f"req_{uuid.uuid4().hex}"
        started = False

        async def send_with_id(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                MutableHeaders(scope=message)[HEADER] = request_id
            await send(message)

        try:
            await self._app(scope, receive, send_with_id)
        except Exception as error:
            log.error("request %s failed", request_id)
            if started:
                raise
            await error_response(error)(scope, receive, send_with_id)
