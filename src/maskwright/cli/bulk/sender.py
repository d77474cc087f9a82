"""Sends requests, and repeats those that failed by chance.

A failure of one request is an answer like any other. What every request would meet ends the run, so
that it can be continued later: no server, no permission, a quota that is used up.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Final

import httpx

from maskwright.cli.bulk.work import ServerAnswer
from maskwright.cli.output.progress import Tell
from maskwright.cli.process.reaching import is_final, said, unreachable
from maskwright.errors import AddressError, InputError

FIRST_WAIT_S: Final = 0.5
LONGEST_WAIT_S: Final = 30.0
TOO_MANY: Final = 429
BY_CHANCE: Final = frozenset({408, 409, TOO_MANY, 500, 502, 503, 504})
"""Statuses after which a request is sent again."""
SAID_AFTER: Final = 3
"""Times in a row that a request meets trouble before that is said."""
OF_ALL: Final = frozenset({401, 403})
"""Statuses that every request would get."""


class Sender:
    """Sends requests to one server. `retries`: how often a request is sent again at most.
    `sent_again`: how often that has happened. `tell` gets a line for people when the server stays
    away or refuses for longer, and when it is back."""

    def __init__(
        self, client: httpx.AsyncClient, *, retries: int, tell: Tell = lambda _: None
    ) -> None:
        self._client = client
        self._retries = retries
        self._tell = tell
        self._answered = False
        self._is_away = False
        self._model: str | None = None
        self.sent_again = 0

    async def find_model(self) -> None:
        """Take the first model that the server lists for requests that name none. Raises as `send`
        does."""
        answer = await self._repeat(lambda: self._client.get("/v1/models"))
        match answer and answer.body:
            case {"data": [{"id": str(name)}, *_]}:
                self._model = name
            case _:
                pass

    async def send(self, path: str, body: dict[str, object]) -> ServerAnswer | None:
        """Send a request; None if it was given up because no answer came in time.

        Raises AddressError if no server answers or it takes no more requests, and InputError if
        it allows none.
        """
        named = body if self._model is None else {"model": self._model, **body}
        return await self._repeat(lambda: self._client.post(path, json=named))

    async def _repeat(
        self, request: Callable[[], Awaitable[httpx.Response]]
    ) -> ServerAnswer | None:
        for attempt in range(1, self._retries + 2):
            last = attempt > self._retries
            try:
                response = await request()
            except httpx.TimeoutException as error:
                if last:
                    return None
                trouble, asked_to_wait = f"no answer comes in time ({said(error)})", 0.0
            except httpx.TransportError as error:
                if last or is_final(error):
                    raise unreachable(self._client.base_url, error) from None
                trouble, asked_to_wait = f"no server answers ({said(error)})", 0.0
            else:
                self._answered = True
                if response.status_code not in BY_CHANCE or last:
                    self._is_back()
                    return _answer(response, attempt)
                trouble, asked_to_wait = f"{response.status_code}", _retry_after(response)
            wait = _wait(attempt, asked_to_wait)
            self._is_troubled(trouble, attempt, wait)
            self.sent_again += 1
            await asyncio.sleep(wait)
        raise AssertionError("the last attempt returns or raises")

    def _is_troubled(self, trouble: str, attempt: int, wait: float) -> None:
        """Say once that requests are sent again: at once while the server has never answered, and
        later if one meets trouble `SAID_AFTER` times in a row."""
        if self._is_away or (self._answered and attempt < SAID_AFTER):
            return
        self._is_away = True
        left = wait + sum(_own_wait(later) for later in range(attempt + 1, self._retries + 1))
        self._tell(
            f"{self._client.base_url}: {trouble}; asking again for {max(left, 1):.0f} s or more"
        )

    def _is_back(self) -> None:
        if self._is_away:
            self._is_away = False
            self._tell(f"{self._client.base_url} answers again")


def _answer(response: httpx.Response, attempts: int) -> ServerAnswer:
    if response.status_code in OF_ALL:
        raise InputError(f"the server refuses all requests: {response.text[:500]}")
    if response.status_code == TOO_MANY:
        raise AddressError(f"the server takes no more requests: {response.text[:500]}")
    try:
        body: object = response.json()
    except ValueError:
        body = response.text
    request_id = response.headers.get("x-request-id")
    return ServerAnswer(response.status_code, body, request_id, attempts)


def _retry_after(response: httpx.Response) -> float:
    """The seconds after which the server wants to be asked again; a date counts as none."""
    try:
        return max(0.0, float(response.headers.get("retry-after", "0")))
    except ValueError:
        return 0.0


def _wait(attempt: int, asked: float) -> float:
    """Seconds until the next attempt, never the same for two requests, which would come
    together again."""
    return max(asked, _own_wait(attempt)) * random.uniform(1.0, 1.5)


def _own_wait(attempt: int) -> float:
    """Twice as long each time."""
    return min(LONGEST_WAIT_S, FIRST_WAIT_S * 2 ** (attempt - 1))
