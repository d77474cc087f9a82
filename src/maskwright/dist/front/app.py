"""The application of the router: which requests go where, and what it answers itself.

A request is sent to the worker that `Router` chooses. If that worker can't be reached, is lost
before the client has got a byte, or refuses because it is full or draining, the request goes to
another one. If a worker is lost in the middle of a stream, another one continues it.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias
from urllib.parse import parse_qs, urlsplit

from starlette.requests import ClientDisconnect, Request
from starlette.types import Receive, Scope, Send

from maskwright.dist.content_coding import CodingError, DecodedTooLargeError, coding_of, decode
from maskwright.dist.drain import Drain
from maskwright.dist.front.asked import (
    GENERATING,
    LOST,
    NO_WORKER,
    STOPPED,
    Asked,
    code_of,
    error_bytes,
    error_event,
    model_of,
    read_asked,
    retry_header,
)
from maskwright.dist.front.fleet import WorkerGroup, gather_pages
from maskwright.dist.front.relay import RELAY, StreamRelay
from maskwright.dist.front.wire import Headers, WorkerLostError, WorkerResponse, without
from maskwright.dist.front.worker import RemoteServer
from maskwright.dist.handoff.http_names import HAND_TO, HANDOFF_KEY
from maskwright.dist.routing.replica_state import Decision, RouteRequest
from maskwright.errors import MaskwrightError


class Interrupt:
    """Ends one work, which runs in the task of its caller: a task of its own would cost each
    request another turn of the event loop."""

    def __init__(self) -> None:
        self.reason: str | None = None
        """Why the work was ended; None if it was not."""
        self._task: asyncio.Task[Any] | None = None

    def fire(self, reason: str) -> None:
        """End the work if it runs. To be called from another task or a callback of the loop."""
        if self._task is not None and self.reason is None:
            self.reason = reason
            self._task.cancel()

    async def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Run `work` to its end, or until it is ended by `fire`."""
        self._task = task = asyncio.current_task()
        assert task is not None
        try:
            await work
        except asyncio.CancelledError:
            if self.reason is None or task.uncancel():
                raise  # somebody else cancels the task
        finally:
            self._task = None


HOP_BY_HOP: Final = (
    *(b"connection", b"keep-alive", b"te", b"trailer", b"transfer-encoding", b"upgrade"),
    *(b"host", b"content-length", b"expect", b"accept-encoding", b"proxy-connection"),
    *(RELAY.encode(), HANDOFF_KEY.encode(), HAND_TO.encode(), b"x-request-id"),
)
"""Headers of a request that concern one connection, or that the router sets."""

OF_CONNECTION: Final = (b"connection", b"keep-alive", b"transfer-encoding")

ELSEWHERE: Final = frozenset({"overloaded", "draining", "engine_stopped"})
"""Codes of refusals that another worker need not share."""

ENDING: Final = frozenset({"draining", "engine_stopped"})
"""Codes of refusals by a worker that ends, so that another one, or its successor, is waited for."""

GONE: Final = "gone"
"""Why a request ends whose client has disconnected."""

MOST_TRIES: Final = 5
"""Workers that are lost one after another, without an event between, before a stream ends."""

REFUSED_SECONDS: Final = 0.2
"""Time before a stream is offered to a worker again after one has refused it."""

StateJoiner: TypeAlias = Callable[
    [Mapping[str, Any], Sequence[Mapping[str, Any]], int], dict[str, Any]
]
"""Makes one document of the workers' documents by name, of names and readiness of all workers, and
of the number after which answers are listed."""

JSON_TYPE: Final = (b"content-type", b"application/json")

log = logging.getLogger(__name__)


class TooLargeError(Exception):
    """The body of a request is larger than is taken."""


@dataclass(slots=True)
class Passage:
    """One request on its way. `begun`: the client has got the head of the response. `ended`: all of
    it."""

    method: str
    path: str
    target: str
    headers: Headers
    body: bytes
    asked: Asked | None
    request_id: str
    send: Send
    begun: bool = False
    ended: bool = False
    stream: bool = False
    excluded: set[str] = field(default_factory=set[str])
    ending: set[str] = field(default_factory=set[str])
    """Workers that refused since they end. One that does so twice is not asked again."""
    refused: tuple[int, Headers, bytes] | None = None
    """The last refusal of a worker, which the client gets if there is no other worker."""

    async def answer(self, status: int, headers: Headers, body: bytes) -> None:
        """Send a whole response."""
        length = b"%d" % len(body)
        await self.begin(status, [*without(headers, (b"content-length",)),
                                  (b"content-length", length)])  # fmt: skip
        await self.write(body, more=False)

    async def begin(self, status: int, headers: Headers) -> None:
        """Send the head of a response."""
        self.begun = True
        kept = without(headers, OF_CONNECTION)
        if not any(name == b"x-request-id" for name, _ in kept):
            kept.append((b"x-request-id", self.request_id.encode("latin-1")))
        await self.send({"type": "http.response.start", "status": status, "headers": kept})

    async def write(self, data: bytes, *, more: bool = True) -> None:
        """Send a part of the body."""
        self.ended = not more
        await self.send({"type": "http.response.body", "body": data, "more_body": more})

    async def fail(
        self, status: int, message: str, code: str, *headers: tuple[bytes, bytes]
    ) -> None:
        """End with an error: as a response, or as the last event of a stream."""
        if not self.begun:
            kind = "server_error" if status >= 500 else "invalid_request_error"
            await self.answer(status, [JSON_TYPE, *headers], error_bytes(message, code, kind))
        elif self.stream:
            named = self.asked is not None and self.asked.named
            await self.write(error_event(message, code, named=named), more=False)


class Front:
    """The ASGI application. `patience`: seconds to wait for a worker where none takes requests.
    `join_states`: makes one document of the workers' `/state`; without it, one worker answers."""

    def __init__(
        self,
        fleet: WorkerGroup,
        drain: Drain,
        body_bytes: int = 8 << 20,
        patience: float = 10.0,
        join_states: StateJoiner | None = None,
    ) -> None:
        self._join_states = join_states
        self._fleet = fleet
        self._drain = drain
        self._body_bytes = body_bytes
        self._patience = patience
        self._interrupts: set[Interrupt] = set()
        self._own: Mapping[str, Callable[[Passage], Awaitable[None]]] = {
            "/health": self._health,
            "/live": self._health,
            "/ready": self._ready,
            "/load": self._load,
            "/models": self._models,
            "/metrics": self._metrics,
            "/state": self._state,
        }
        """What the router answers itself, by the path."""

    def cut(self) -> None:
        """End all requests with an error that says so. To be called in the event loop."""
        for interrupt in tuple(self._interrupts):
            interrupt.fire(STOPPED)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http":
            await self._http(scope, receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        try:
            await self._fleet.start()
        except MaskwrightError as error:
            await send({"type": "lifespan.startup.failed", "message": str(error)})
            return
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self._fleet.stop()
        await send({"type": "lifespan.shutdown.complete"})

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        method, path = scope["method"], scope["path"]
        short = path.removeprefix("/v1") or "/"
        own = self._own.get(short) if method in ("GET", "HEAD") else None
        passage = _passage(scope, send)
        if own is not None:
            await own(passage)
            return
        if self._drain.begun:
            message = "the router is being stopped; ask another one, or this one when it is back"
            await passage.fail(503, message, "draining", retry_header(1))
            return
        with self._drain.answering():
            try:
                passage.body = await _read(scope, receive, self._body_bytes)
                if method == "POST" and short in GENERATING:
                    await self._decode(passage)
            except ClientDisconnect:
                return
            except (TooLargeError, DecodedTooLargeError):
                message = f"the body has more than {self._body_bytes} bytes; see route --body-bytes"
                await passage.fail(413, message, "body_too_large")
                return
            await self._until_gone(receive, passage, self._pass_on(passage, short))

    async def _decode(self, passage: Passage) -> None:
        """Decode a body that the router has to read. One that can't be decoded is left as it is: a
        worker will say what is wrong with it. Raises DecodedTooLargeError."""
        try:
            coding = coding_of(_header(passage.headers, b"content-encoding"))
            if coding is None:
                return
            work = asyncio.to_thread(decode, passage.body, coding, self._body_bytes)
            passage.body = await work
        except DecodedTooLargeError:
            raise
        except CodingError:
            return
        passage.headers = without(passage.headers, (b"content-encoding",))

    async def _until_gone(
        self, receive: Receive, passage: Passage, work: Coroutine[Any, Any, None]
    ) -> None:
        """Run `work` until the client disconnects or the router is stopped."""
        interrupt = Interrupt()
        gone = asyncio.ensure_future(_disconnected(receive))
        gone.add_done_callback(lambda _: None if passage.ended else interrupt.fire(GONE))
        self._interrupts.add(interrupt)
        try:
            await interrupt.run(work)
        finally:
            self._interrupts.discard(interrupt)
            gone.cancel()
        if interrupt.reason == STOPPED:
            self._fleet.metrics.failed.labels(STOPPED).inc()
            message = "the router was stopped before the answer was complete; ask again"
            await passage.fail(503, message, STOPPED, retry_header(1))

    # A request ----------------------------------------------------------------------------------

    async def _pass_on(self, passage: Passage, short: str) -> None:
        if short.startswith(("/files", "/batches")):
            await self._to_keeper(passage)
            return
        began = time.perf_counter()
        if passage.method == "POST" and short in GENERATING:
            passage.asked = read_asked(
                short, passage.body, passage.request_id, self._fleet.adapters, self._fleet.models
            )
        if passage.asked is not None:
            route = passage.asked.route
        else:  # what asks for no answer goes to any worker of its model
            model = model_of(passage.body, self._fleet.models)
            route = RouteRequest(passage.request_id, prompt_tokens=1, model=model)
        while True:
            asked = replace(route, excluded=frozenset(passage.excluded))
            chosen = self._fleet.choose(asked)
            if chosen.worker is None and passage.refused is None:
                chosen = await self._fleet.choose_within(asked, self._patience)
            if chosen.worker is None:
                await self._no_worker(passage, chosen.decision)
                return
            self._fleet.metrics.choices.labels(chosen.decision.reason).inc()
            self._fleet.metrics.deciding.observe(time.perf_counter() - began)
            handed = await self._handed(passage, chosen.worker, chosen.prefill)
            if await self._try(passage, chosen.worker, chosen.decision, short, handed):
                return
            began = time.perf_counter()

    async def _handed(
        self, passage: Passage, worker: RemoteServer, prefill: RemoteServer | None
    ) -> StreamRelay | None:
        """Have `prefill` compute the prompt of a request and send its blocks to `worker`. Returns
        what that one needs to go on. None if the request was not handed over: `worker` then does
        all of it, and refuses it as well if it can't be served."""
        key, note = self._fleet.handoff_key, self._fleet.metrics.note_hand_off
        if key is None or prefill is None or passage.asked is None:
            return None
        headers = [
            *passage.headers,
            (b"x-request-id", passage.request_id.encode("latin-1")),
            (HANDOFF_KEY.encode(), key.encode()),
            (HAND_TO.encode(), worker.url.encode()),
        ]
        with prefill.serving(passage.asked, 0):
            try:
                response = await prefill.client.send("POST", passage.target, headers, passage.body)
                answer = await response.body()
            except WorkerLostError as error:
                prefill.lose()
                note(prefill.name, "lost", 0)
                log.warning(
                    "worker %s was lost while it computed a prompt: %s", prefill.name, error
                )
                return None
        if response.status != 200:
            note(prefill.name, "refused", 0)
            return None
        record: dict[str, Any] = json.loads(answer)
        sent = record.pop("sent")
        arrived = sent["arrived"] == sent["blocks"]
        note(prefill.name, "arrived" if arrived else "partial", sent["bytes"])
        relay = StreamRelay(passage.asked)
        relay.begin(record)
        return relay

    async def _try(
        self,
        passage: Passage,
        worker: RemoteServer,
        decision: Decision,
        short: str,
        handed: StreamRelay | None,
    ) -> bool:
        """Have a worker answer, or go on with what was `handed` to it. False if another one should
        be asked."""
        relay: StreamRelay | None = None
        body = b""
        asked = passage.body if handed is None else handed.continued()
        known = decision.cached_tokens
        if handed is not None and passage.asked is not None:
            known = passage.asked.route.prompt_tokens
        with worker.serving(passage.asked, known) as begun:
            try:
                response = await self._sent(passage, worker, asked)
                if passage.asked is not None and _is_stream(response):
                    relay, passage.stream = handed or StreamRelay(passage.asked), True
                    await passage.begin(response.status, response.headers)
                    whole = await _passed(passage, relay, begun, response)
                else:
                    body, whole = await response.body(), True
            except WorkerLostError as error:
                worker.lose()
                self._fleet.metrics.retries.labels(worker.name, "lost").inc()
                log.warning("worker %s was lost: %s", worker.name, error)
                return False
        if relay is None:
            return await self._answered(passage, worker, response, body, short)
        if whole:
            self._fleet.metrics.requests.labels(worker.name, response.status).inc()
        else:
            await self._go_on(passage, relay, worker)
        return True

    async def _answered(
        self,
        passage: Passage,
        worker: RemoteServer,
        response: WorkerResponse,
        body: bytes,
        short: str,
    ) -> bool:
        """Send the response of a worker. False if another worker may have a better one."""
        code = code_of(body) if response.status >= 400 else None
        unknown = short == "/explain" and response.status == 404
        if unknown or (response.status in (429, 503) and code in ELSEWHERE):
            self._fleet.metrics.retries.labels(worker.name, code or "refused").inc()
            if code in ENDING and worker.name not in passage.ending:
                passage.ending.add(worker.name)
                worker.note_draining()
                return False
            passage.refused = response.status, response.headers, body
            passage.excluded.add(worker.name)
            return False
        self._fleet.metrics.requests.labels(worker.name, response.status).inc()
        await passage.answer(response.status, response.headers, body)
        return True

    async def _sent(self, passage: Passage, worker: RemoteServer, body: bytes) -> WorkerResponse:
        headers = [*passage.headers, (b"x-request-id", passage.request_id.encode("latin-1"))]
        if passage.asked is not None and passage.asked.stream:
            headers.append((RELAY.encode(), b"1"))
        method = "GET" if passage.method == "HEAD" else passage.method
        return await worker.client.send(method, passage.target, headers, body)

    async def _no_worker(self, passage: Passage, decision: Decision) -> None:
        if passage.refused is not None:
            await passage.answer(*passage.refused)
            return
        self._fleet.metrics.failed.labels(NO_WORKER).inc()
        message = f"{decision.reason}; try again, and see /ready and the logs of the workers"
        await passage.fail(503, message, NO_WORKER, retry_header(decision.retry_after or 1))

    async def _to_keeper(self, passage: Passage) -> None:
        """Have the first worker answer, in whose folder files and batches are."""
        worker = self._fleet.workers[0]
        try:
            with worker.serving(None, 0):
                response = await self._sent(passage, worker, passage.body)
                body = await response.body()
        except WorkerLostError:
            worker.lose()
            self._fleet.metrics.failed.labels(LOST).inc()
            message = "the worker that keeps files and batches does not answer; try again"
            await passage.fail(502, message, LOST, retry_header(1))
            return
        self._fleet.metrics.requests.labels(worker.name, response.status).inc()
        await passage.answer(response.status, response.headers, body)

    # A stream -----------------------------------------------------------------------------------

    async def _go_on(self, passage: Passage, relay: StreamRelay, lost: RemoteServer) -> None:
        """Have other workers go on with a stream whose worker was lost."""
        assert passage.asked is not None
        tries = 0
        while relay.can_go_on and tries < MOST_TRIES:
            lost.lose()
            log.warning("worker %s was lost in the middle of a stream", lost.name)
            chosen = await self._fleet.choose_within(passage.asked.route, self._patience)
            if chosen.worker is None:
                break
            self._fleet.metrics.continued.labels(lost.name).inc()
            if await self._went_on(passage, relay, chosen.worker, chosen.decision):
                self._fleet.metrics.requests.labels(chosen.worker.name, 200).inc()
                return
            tries, lost = (0 if relay.advanced else tries + 1), chosen.worker
        self._fleet.metrics.failed.labels(LOST).inc()
        message = "the worker was lost, and no other one could go on with the stream; ask again"
        await passage.fail(502, message, LOST)

    async def _went_on(
        self, passage: Passage, relay: StreamRelay, worker: RemoteServer, decision: Decision
    ) -> bool:
        """Have one worker go on with a stream. False if it is lost too, or refuses."""
        with worker.serving(passage.asked, decision.cached_tokens) as begun:
            try:
                response = await self._sent(passage, worker, relay.continued())
                if _is_stream(response):
                    return await _passed(passage, relay, begun, response)
                code = code_of(await response.body())
            except WorkerLostError:
                return False
        log.warning("worker %s refused to continue a stream: %s", worker.name, code)
        await asyncio.sleep(REFUSED_SECONDS)
        return False

    # What the router answers itself ---------------------------------------------------------------

    async def _health(self, passage: Passage) -> None:
        await passage.answer(200, [JSON_TYPE], b'{"status":"ok"}')

    async def _ready(self, passage: Passage) -> None:
        if self._drain.begun:
            await passage.fail(503, "the router is being stopped", "draining")
        elif not self._fleet.ready:
            await passage.fail(503, "no worker takes requests", NO_WORKER)
        else:
            await passage.answer(200, [JSON_TYPE], b'{"status":"ready"}')

    async def _load(self, passage: Passage) -> None:
        load = sum(worker.running for worker in self._fleet.workers)
        await passage.answer(200, [JSON_TYPE], b'{"server_load":%d}' % load)

    async def _models(self, passage: Passage) -> None:
        cards = self._fleet.cards
        if cards:
            body = json.dumps({"object": "list", "data": cards}).encode()
            await passage.answer(200, [JSON_TYPE], body)
        else:  # workers that list them only to clients with a key
            await self._pass_on(passage, "/models")

    async def _metrics(self, passage: Passage) -> None:
        found, _ = await gather_pages(self._fleet.workers, "/metrics", passage.headers)
        pages = {name: page.decode() for name, page in found.items()}
        kind = (b"content-type", b"text/plain; version=0.0.4; charset=utf-8")
        await passage.answer(200, [kind], self._fleet.metrics.page(pages))

    async def _state(self, passage: Passage) -> None:
        """Answer with what all workers do. A number that can't be read is refused by a worker."""
        query = parse_qs(urlsplit(passage.target).query, keep_blank_values=True)
        since, past = (query.get(name, ["0"])[0] for name in ("since", "history"))
        is_known = since.isascii() and since.isdigit() and past in ("0", "1")
        if self._join_states is None or not is_known:
            await self._pass_on(passage, "/state")
            return
        target = f"/v1/state?history={past}"
        found, refusal = await gather_pages(self._fleet.workers, target, passage.headers)
        if found:
            states = {name: json.loads(page) for name, page in found.items()}
            workers = [{"name": one.name, "ready": one.ready} for one in self._fleet.workers]
            joined = self._join_states(states, workers, int(since[:18]))
            await passage.answer(200, [JSON_TYPE], json.dumps(joined).encode())
        elif refusal is not None:
            await passage.answer(*refusal)
        else:
            await passage.fail(503, "no worker answers", NO_WORKER, retry_header(1))


async def _passed(
    passage: Passage, relay: StreamRelay, begun: Callable[[], None], response: WorkerResponse
) -> bool:
    """Pass a stream through to its end. False if its worker was lost before."""
    try:
        async for chunk in response.chunks():
            begun()
            if data := relay.read(chunk):
                await passage.write(data)
    except WorkerLostError:
        return False
    await passage.write(relay.rest(), more=False)
    return True


def _is_stream(response: WorkerResponse) -> bool:
    kind = response.header(b"content-type")
    return response.status == 200 and kind.startswith(b"text/event-stream")


def _passage(scope: Scope, send: Send) -> Passage:
    headers: Headers = list(scope["headers"])
    given = _header(headers, b"x-request-id")
    target = scope.get("raw_path", scope["path"].encode()).decode("latin-1")
    query = scope["query_string"].decode("latin-1")
    return Passage(
        scope["method"],
        scope["path"],
        f"{target}?{query}" if query else target,
        without(headers, HOP_BY_HOP),
        b"",
        None,
        given if 0 < len(given) <= 128 else f"req_{os.urandom(16).hex()}",
        send,
    )


async def _read(scope: Scope, receive: Receive, most: int) -> bytes:
    """Return the body of a request. Raises ClientDisconnect, and TooLargeError: before any of it is
    read if a header gives its length."""
    length = _header(scope["headers"], b"content-length")
    if length.isdecimal() and int(length) > most:
        raise TooLargeError
    parts: list[bytes] = []
    size = 0
    async for part in Request(scope, receive).stream():
        size += len(part)
        if size > most:
            raise TooLargeError
        parts.append(part)
    return b"".join(parts)


def _header(headers: Headers, name: bytes) -> str:
    return next((value.decode("latin-1") for given, value in headers if given == name), "")


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
