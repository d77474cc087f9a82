"""Answers as server-sent events."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from maskwright.server.answer.choices import Choices
from maskwright.server.answer.writer import AnswerWriter
from maskwright.server.disconnect import ClientGoneError, until_disconnect
from maskwright.server.errors import code_of, describe, is_defect
from maskwright.server.exchange import Exchange

PING = b": ping\n\n"

log = logging.getLogger(__name__)


class SlowReaderError(Exception):
    """The client has read nothing for too long."""


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
    ) -> None:
        self.status_code = 200
        self.background = None
        self.init_headers({"Cache-Control": "no-cache", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._choices = choices
        self._exchange = exchange
        self._reader_seconds = reader_seconds
        self._events = stream_events(choices, writer, exchange, ping_seconds)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await until_disconnect(receive, self._send_all(send))
        except (ClientGoneError, OSError):
            self._exchange.code = "client_gone"
        except SlowReaderError:
            # The rest will never be sent. Without an end, the server closes the connection.
            self._exchange.code = "slow_reader"
        finally:
            self._choices.cancel()

    async def _send_all(self, send: Send) -> None:
        await send(
            {
                "type": "http.response.start",
                "status": self.status_code,
                "headers": self.raw_headers,
            }
        )
        async with aclosing(self._events) as events:
            async for data in events:
                # Waits while the connection's buffers are full; then nothing more is taken from
                # the engine, where the request pauses.
                try:
                    async with asyncio.timeout(self._reader_seconds):
                        await send({"type": "http.response.body", "body": data, "more_body": True})
                except TimeoutError:
                    raise SlowReaderError from None
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def stream_events(
    choices: Choices, writer: AnswerWriter, exchange: Exchange, ping_seconds: float
) -> AsyncGenerator[bytes]:
    """Yield the encoded events of the answers; an error becomes the last ones. The caller has sent
    an event when it asks for the next one."""
    tokens = [0] * len(choices)
    made = choices.deltas(ping_seconds)
    for data in writer.begin():
        yield data
    try:
        async with aclosing(made) as deltas:
            async for delta in deltas:
                if delta is None:
                    yield PING
                    continue
                tokens[delta.index] += delta.tokens
                for data in writer.parts(delta):
                    yield data
                    exchange.note_sent(delta.index, tokens[delta.index])
                if delta.finish_reason is not None:
                    for data in writer.ended(delta):
                        yield data
    except Exception as error:
        body = describe(error)[1]
        exchange.code = code_of(body)
        if is_defect(error):
            log.exception("a stream failed", exc_info=error)
        for data in writer.failed(body):
            yield data
        return
    for data in writer.end(choices.usage()):
        yield data
