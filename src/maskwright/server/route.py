"""One endpoint of the application."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import TypeAlias

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import Scope

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
