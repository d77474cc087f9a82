"""What an endpoint does with the answers to a request: one body, or a stream of events."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict, deque
from collections.abc import AsyncGenerator, Iterable, Iterator
from contextlib import aclosing
from functools import partial
from typing import Protocol

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from maskwright.errors import EngineStoppedError, GenerationError
from maskwright.server.answer.choices import Answer, ChoiceDelta, Choices, Usage
from maskwright.server.continuation import RelayedDelta, StreamBeginning, begin_record
from maskwright.server.errors import code_of, describe, is_defect
from maskwright.server.exchange import Exchange
from maskwright.server.json import Json
from maskwright.server.route import ClientGoneError, until_disconnect
from maskwright.server.stream import Pace, Timer


class AnswerWriter(Protocol):
    """Writes the answers to one request in the form of one endpoint, either whole or as a stream.
    Events are yielded encoded. A writer writes one stream."""

    def whole(self, answers: list[Answer], usage: Usage) -> Json:
        """Return the body of the answers."""
        ...

    def begin(self) -> Iterator[bytes]:
        """Yield the events before the first delta."""
        ...

    def parts(self, delta: ChoiceDelta) -> Iterator[bytes]:
        """Yield the events of a delta's parts."""
        ...

    def ended(self, delta: ChoiceDelta) -> Iterator[bytes]:
        """Yield the events of the end of a choice, whose last delta is `delta`."""
        ...

    def end(self, usage: Usage) -> Iterator[bytes]:
        """Yield the last events, after the end of all choices."""
        ...

    def failed(self, error: Json, status: int) -> Iterator[bytes]:
        """Yield the last events of a stream that fails with the body `error`. `status`: that of an
        answer which isn't streamed."""
        ...


PING = b": ping\n\n"

log = logging.getLogger(__name__)


class SlowReaderError(Exception):
    """The client has read nothing for too long."""


class CutStreamError(Exception):
    """The stream ends without its end, so that the router which reads it has it continued."""


class EventStream(Response):
    """A streamed answer. When it ends for any reason, its generations are cancelled."""

    media_type = "text/event-stream"

    def __init__(
        self,
        choices: Choices,
        writer: AnswerWriter,
        exchange: Exchange,
        *,
        ping_seconds: float,
        reader_seconds: float,
        pace: Pace | None = None,
        continuation: StreamBeginning | None = None,
    ) -> None:
        """`pace`: that of all streams of the server. `continuation`: the beginning of the answer,
        if another server has generated it."""
        self.status_code = 200
        self.background = None
        self.init_headers({"Cache-Control": "no-cache", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._choices = choices
        self._exchange = exchange
        self._reader_seconds = reader_seconds
        self._events = stream_events(choices, writer, exchange, ping_seconds, continuation, pace)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await until_disconnect(receive, self._send_all(send))
        except (ClientGoneError, OSError):
            self._exchange.code = "client_gone"
        except CutStreamError:
            self._exchange.code = "engine_stopped"
        except SlowReaderError:
            # The rest will never be sent. Without an end, the server closes the connection.
            self._exchange.code = "slow_reader"
        finally:
            self._choices.cancel()

    async def _send_all(self, send: Send) -> None:
        await send(
            {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
        )
        sending = asyncio.timeout(None)
        timer = Timer(self._reader_seconds, partial(sending.reschedule, 0.0))
        try:
            async with sending, aclosing(self._events) as events:
                async for ready in events:
                    # Waits while the connection's buffers are full; then nothing more is taken from
                    # the engine, where the request pauses.
                    timer.begin()
                    data = b"".join(ready)
                    await send({"type": "http.response.body", "body": data, "more_body": True})
                    timer.end()
        except TimeoutError:
            if not sending.expired():
                raise
            raise SlowReaderError from None
        finally:
            timer.close()
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def stream_events(
    choices: Choices,
    writer: AnswerWriter,
    exchange: Exchange,
    ping_seconds: float,
    continuation: StreamBeginning | None = None,
    pace: Pace | None = None,
) -> AsyncGenerator[list[bytes]]:
    """Return what yields the encoded events of the answers, those together that are ready together;
    an error becomes the last ones. The caller has sent events when it asks for the next ones.

    Of a continued answer, the events that the client has are left out, but no error. For a router
    there are records between the events. A stream without an end shows it that the engine was
    stopped: raises CutStreamError.
    """
    known = () if continuation is None else continuation.deltas
    made = choices.deltas(ping_seconds, pace)
    if known:
        made = in_known_order(made, known)
    lines = _lines(choices, writer, exchange, made, known)
    return lines if continuation is None else _unsent(lines, continuation.events, exchange)


async def _unsent(
    lines: AsyncGenerator[list[bytes]], events: int, exchange: Exchange
) -> AsyncGenerator[list[bytes]]:
    """Yield what `lines` yields without the first `events` events, which the client has."""
    async with aclosing(lines):
        async for ready in lines:
            unsent: list[bytes] = []
            for data in ready:
                if events and not data.startswith(b":") and exchange.code is None:
                    events -= 1
                else:
                    unsent.append(data)
            if unsent:
                yield unsent


async def in_known_order(
    deltas: AsyncGenerator[ChoiceDelta | None], known: Iterable[RelayedDelta]
) -> AsyncGenerator[ChoiceDelta | None]:
    """Yield the `known` deltas, which another server has sent, in their order, and then the others.
    Raises GenerationError where a choice has other tokens than these."""
    early: defaultdict[int, deque[ChoiceDelta]] = defaultdict(deque)
    async with aclosing(deltas):
        for one in known:
            while not early[one.index]:
                try:
                    delta = await anext(deltas)
                except StopAsyncIteration:
                    raise _differs() from None
                if delta is None:
                    yield None
                else:
                    early[delta.index].append(delta)
            delta = early[one.index].popleft()
            if delta.token_ids != one.token_ids:
                raise _differs()
            yield delta
        for waiting in early.values():
            for delta in waiting:
                yield delta
        async for delta in deltas:
            yield delta


def _differs() -> GenerationError:
    return GenerationError("The answer can't be continued: other tokens than before were drawn.")


async def _lines(
    choices: Choices,
    writer: AnswerWriter,
    exchange: Exchange,
    made: AsyncGenerator[ChoiceDelta | None],
    known: tuple[RelayedDelta, ...],
) -> AsyncGenerator[list[bytes]]:
    """Yield all events from the beginning, pings and records, each time those that are ready
    together; no record of what is `known`."""
    tokens, left = [0] * len(choices), len(known)
    begun = [begin_record(exchange.naming, choices.seeds)] if exchange.relayed and not known else []
    yield [*begun, *writer.begin()]
    try:
        async with aclosing(made) as deltas:
            async for delta in deltas:
                if delta is None:
                    yield [PING]
                    continue
                ends = delta.finish_reason is not None
                ready = list(writer.parts(delta))
                if ends:
                    ready += writer.ended(delta)
                sends = bool(ready)
                if exchange.relayed and not left:
                    new = RelayedDelta(delta.index, delta.token_ids, ends, delta.shortened_at)
                    ready.insert(0, new.record())
                if left:
                    left -= 1
                tokens[delta.index] += delta.tokens
                if ready:
                    yield ready
                if sends:
                    exchange.note_sent(delta.index, tokens[delta.index])
    except Exception as error:
        yield list(_failed(writer, exchange, error))
        return
    yield list(writer.end(choices.usage()))


def _failed(writer: AnswerWriter, exchange: Exchange, error: Exception) -> Iterator[bytes]:
    """Yield the last events of a stream that fails."""
    if exchange.relayed and isinstance(error, EngineStoppedError):
        raise CutStreamError from error
    status, body = describe(error)
    exchange.code = code_of(body)
    if is_defect(error):
        log.exception("a stream failed", exc_info=error)
    yield from writer.failed(body, status)
