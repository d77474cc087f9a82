"""Every failure as OpenAI's error body: `{"error": {message, type, param, code}}`.

Clients read the message, the parameter and the code from there; anything else (FastAPI's
`detail`) reaches their users as "no body".
"""

from __future__ import annotations

import logging
import math

from fastapi.responses import JSONResponse

from maskwright.errors import EmptySupportError, EngineStoppedError, InputError, OverloadedError

MESSAGE_CHARACTERS = 2000
PARAM_CHARACTERS = 256

log = logging.getLogger(__name__)


class HttpError(Exception):
    """A failure of the protocol itself, with its HTTP status (404, 405, 413, 503), or an answer
    that took too long (504)."""

    def __init__(
        self, status: int, message: str, *, code: str | None = None, param: str | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.code = code
        self.param = param


def error_body(
    status: int, message: str, *, code: str | None = None, param: str | None = None
) -> dict[str, object]:
    """The body of one error; message and param are cut to a bounded size."""
    return {
        "error": {
            "message": _cut(message, MESSAGE_CHARACTERS),
            "type": _type(status),
            "param": None if param is None else _cut(param, PARAM_CHARACTERS),
            "code": code,
        }
    }


def describe(error: BaseException) -> tuple[int, dict[str, object]]:
    """Status and body of an exception; what isn't the caller's doing shows none of its inside."""
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
    """Whether its traceback is worth a log."""
    return describe(error)[0] >= 500 and not isinstance(error, HttpError)


def code_of(body: dict[str, object]) -> str | None:
    """The code in an error's body."""
    match body:
        case {"error": {"code": str(code)}}:
            return code
        case _:
            return None


def error_response(error: BaseException) -> JSONResponse:
    """The whole response of an exception; an overloaded server says when to come back.

    What is not the caller's doing is logged, with its traceback.
    """
    status, body = describe(error)
    if is_defect(error):
        log.error("answering %d", status, exc_info=error)
    headers: dict[str, str] = {}
    if isinstance(error, OverloadedError):
        headers["Retry-After"] = str(max(1, math.ceil(error.retry_after)))
    return JSONResponse(body, status_code=status, headers=headers)


def _type(status: int) -> str:
    if status == 429:
        return "rate_limit_error"
    return "server_error" if status >= 500 else "invalid_request_error"


def _cut(text: str, characters: int) -> str:
    return text if len(text) <= characters else f"{text[: characters - 1]}…"
