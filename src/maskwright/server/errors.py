"""Errors as bodies in OpenAI's form: `{"error": {message, type, param, code}}`, and for paths of
Anthropic's protocol in that form.

Clients read message, parameter and code from this form. Of any other, such as Starlette's plain
text, they show their users nothing.
"""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Mapping
from typing import Final, cast

from starlette.responses import JSONResponse

from maskwright.errors import EmptySupportError, EngineStoppedError, InputError, OverloadedError
from maskwright.server.json import Json

MESSAGE_CHARACTERS = 2000
PARAM_CHARACTERS = 256

log = logging.getLogger(__name__)


class HttpError(Exception):
    """An error with an HTTP status of its own: one of the protocol (404, 405, 413, 503), of a key
    (401, 403, 429), or an answer that took too long (504)."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        code: str | None = None,
        param: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.code = code
        self.param = param
        self.headers = headers or {}


def error_body(
    status: int, message: str, *, code: str | None = None, param: str | None = None
) -> dict[str, object]:
    """Return the body of one error; message and param are cut to a bounded length."""
    # Anthropic's protocol has the same names for three of them.
    type = "server_error" if status >= 500 else "invalid_request_error"
    type = ANTHROPIC_TYPES[status] if status in (401, 403, 429) else type
    return {
        "error": {
            "message": _cut(message, MESSAGE_CHARACTERS),
            "type": type,
            "param": None if param is None else _cut(param, PARAM_CHARACTERS),
            "code": code,
        }
    }


ANTHROPIC_TYPES: Final[Mapping[int, str]] = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
    504: "timeout_error",
}
"""Anthropic's names of errors by status. Of others, only that of the server's own differs."""

_ANTHROPIC_PATH: Final = re.compile(r"(/v1)?/messages(/.*)?")


def is_anthropic(path: str) -> bool:
    """Whether a path belongs to Anthropic's protocol."""
    return _ANTHROPIC_PATH.fullmatch(path) is not None


def anthropic_error(body: Json, status: int) -> Json:
    """Return the body of an error in Anthropic's form. `param` and `code` are kept, which clients
    of that protocol ignore. `status`: that of an answer which isn't streamed."""
    error = cast(Json, body["error"])
    kind = "api_error" if error["type"] == "server_error" else error["type"]
    return {"type": "error", "error": {**error, "type": ANTHROPIC_TYPES.get(status, kind)}}


def describe(error: BaseException) -> tuple[int, dict[str, object]]:
    """Return status and body of an exception. Internal errors don't show their message."""
    match error:
        case InputError():
            return 400, error_body(400, error.message, code=error.code, param=error.param)
        case EmptySupportError():
            return 400, error_body(400, str(error), code=error.code)
        case EngineStoppedError():
            return 503, error_body(503, "the engine has stopped", code=error.code)
        case OverloadedError():
            return 429, error_body(429, str(error), code="overloaded")
        case HttpError():
            status = error.status
            return status, error_body(status, error.message, code=error.code, param=error.param)
        case _:
            return 500, error_body(500, "the server failed on this request", code="internal_error")


def is_defect(error: BaseException) -> bool:
    """Whether an exception is a defect of the server, whose traceback is logged."""
    return describe(error)[0] >= 500 and not isinstance(error, HttpError)


def code_of(body: dict[str, object]) -> str | None:
    """Return the code in the body of an error."""
    match body:
        case {"error": {"code": str(code)}}:
            return code
        case _:
            return None


def error_response(error: BaseException, path: str = "") -> JSONResponse:
    """Return the response to an exception, with `Retry-After` if the server is overloaded, and with
    the headers of an `HttpError`. A defect of the server is logged with its traceback. `path`: that
    of the request, whose protocol decides the form of the body.
    """
    status, body = describe(error)
    if is_anthropic(path):
        body = anthropic_error(body, status)
    if is_defect(error):
        log.error("answering %d", status, exc_info=error)
    headers = dict(error.headers) if isinstance(error, HttpError) else {}
    if isinstance(error, OverloadedError):
        headers["Retry-After"] = str(max(1, math.ceil(error.retry_after)))
    return JSONResponse(body, status_code=status, headers=headers)


def _cut(text: str, characters: int) -> str:
    return text if len(text) <= characters else f"{text[: characters - 1]}…"
