"""What every endpoint needs: its path and methods, and work that ends when its client leaves."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from contextlib import suppress
from typing import Any, TypeAlias, TypeVar

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import Receive, Scope

Handler: TypeAlias = Callable[[Request], Awaitable[Response]]


class Endpoint(Route):
    """Answers the named methods of one path, and no others: Starlette's own class answers HEAD
    wherever it answers GET. The scope of a request names its endpoint as `route`, which older
    versions of Starlette leave out."""

    methods: set[str]

    def __init__(self, path: str, handler: Handler, methods: Iterable[str]) -> None:
        super().__init__(path, handler)
        self.methods = set(methods)

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        match, found = super().matches(scope)
        return match, found if match is Match.NONE else {**found, "route": self}


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
