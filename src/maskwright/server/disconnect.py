"""Cancels work when its client disconnects."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from starlette.types import Receive

T = TypeVar("T")


class ClientGoneError(Exception):
    """The client has closed the connection."""


async def until_disconnect(receive: Receive, work: Coroutine[Any, Any, T]) -> T:
    """Return the result of `work`, or cancel it and raise ClientGoneError if `http.disconnect`
    arrives first. The body of the request must have been read before.

    It waits on `receive` directly, because `Request.is_disconnected` polls and doesn't work with
    middleware. The work runs in the caller's task, and not in one of its own, because each turn of
    the event loop that it takes to pass on a result may have to wait for the interpreter's lock.
    """
    task = asyncio.current_task()
    assert task is not None, "not within a task"
    gone = False

    async def watch() -> None:
        nonlocal gone
        with suppress(Exception):  # nobody can be answered either
            while (await receive())["type"] != "http.disconnect":
                pass
        gone = True
        task.cancel()

    watching = asyncio.ensure_future(watch())
    try:
        result = await work
    except asyncio.CancelledError:
        if not gone or task.uncancel() > 0:  # the task is cancelled for another reason as well
            raise
        raise ClientGoneError from None
    finally:
        watching.cancel()
    if gone:  # the work has ended in spite of that
        task.uncancel()
        raise ClientGoneError
    return result
