"""Errors of the router in OpenAI's form."""

from __future__ import annotations

import json
import math
from typing import Final

LOST: Final = "worker_lost"
STOPPED: Final = "router_stopped"
NO_WORKER: Final = "no_worker"


def error_bytes(message: str, code: str, kind: str = "server_error") -> bytes:
    """Return the body of an error."""
    error = {"message": message, "type": kind, "param": None, "code": code}
    return json.dumps({"error": error}, separators=(",", ":")).encode()


def error_event(message: str, code: str, *, named: bool) -> bytes:
    """Return the last event of a stream that fails; `named`: its events have names, as in
    responses."""
    if not named:
        return b"data: " + error_bytes(message, code) + b"\n\n"
    body = json.loads(error_bytes(message, code))
    event = {"type": "error", "code": code, "message": message, "param": None, **body}
    data = json.dumps(event, separators=(",", ":"))
    return f"event: error\ndata: {data}\n\n".encode()


def retry_header(seconds: float) -> tuple[bytes, bytes]:
    """Return the header that says when to try again."""
    return b"retry-after", b"%d" % max(1, math.ceil(seconds))


def code_of(body: bytes) -> str | None:
    """Return the code in the body of an error; None if there is none."""
    try:
        match json.loads(body):
            case {"error": {"code": str(code)}}:
                return code
            case _:
                return None
    except ValueError:
        return None
