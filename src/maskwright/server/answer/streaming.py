"""Answers as server-sent events, in the order on which clients of the protocol rely.

Each choice has one chunk with the role, chunks of text, and one chunk with the finish reason and an
empty delta. Then follow, if the client asked for it, one chunk with the usage and no choices, and
`[DONE]`. If an error occurs after the beginning, the last event is an error body instead.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from maskwright.server.answer.answers import Envelope, Usage, event, part_delta
from maskwright.server.answer.choices import Choices
from maskwright.server.disconnect import ClientGoneError, until_disconnect
from maskwright.server.errors import code_of, describe, is_defect
from maskwright.server.exchange import Exchange
from maskwright.server.json import Json

DONE = b"data: [DONE]\n\n"
PING = b": ping\n\n"

log = logging.getLogger(__name__)


class SlowReaderError(Exception):
    """The client has read nothing for too long."""


class ChatStream(Response):
    """A streamed answer. When it ends for any reason, its generations are cancelled."""

    media_type = "text/event-stream"

    def __init__(
        self,
        choices: Choices,
        envelope: Envelope,
        exchange: Exchange,
        own: Callable[[int], Json],
        *,
        include_usage: bool,
        ping_seconds: float,
        reader_seconds: float,
    ) -> None:
        """`own(i)` are additional fields of choice `i` at its end."""
        self.status_code = 200
        self.background = None
        self.init_headers({"Cache-Control": "no-cache", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._choices = choices
        self._exchange = exchange
        self._reader_seconds = reader_seconds
        self._events = chat_events(
            choices, envelope, exchange, own, include_usage=include_usage, ping_seconds=ping_seconds
        )

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


async def chat_events(
    choices: Choices,
    envelope: Envelope,
    exchange: Exchange,
    own: Callable[[int], Json],
    *,
    include_usage: bool,
    ping_seconds: float,
) -> AsyncGenerator[bytes]:
    """Yield the encoded events of one answer; an error becomes the last event. The caller has sent
    an event when it asks for the next one."""
    tokens = [0] * len(choices)
    unknown: Json = {"usage": None} if include_usage else {}
    unsaid: dict[int, list[Json]] = {}  # log-probabilities of text that is no part of the answer

    def chunk(
        index: int,
        delta: Json,
        finish_reason: str | None = None,
        logprobs: list[Json] | None = None,
        own: Json | None = None,
    ) -> bytes:
        return event({**envelope.chunk(index, delta, finish_reason, logprobs, own), **unknown})

    made = choices.deltas(ping_seconds)
    for index in range(len(choices)):
        yield chunk(index, {"role": "assistant", "content": ""})
    try:
        async with aclosing(made) as deltas:
            async for delta in deltas:
                if delta is None:
                    yield PING
                    continue
                tokens[delta.index] += delta.tokens
                told = [*unsaid.pop(delta.index, ()), *(delta.logprobs or ())] or None
                for part in delta.parts:
                    yield chunk(delta.index, part_delta(part), logprobs=told)
                    told = None
                    exchange.note_sent(delta.index, tokens[delta.index])
                if delta.finish_reason is not None:
                    ended = own(delta.index)
                    yield chunk(delta.index, {}, delta.finish_reason, told, ended)
                elif told is not None:
                    unsaid[delta.index] = told
    except Exception as error:
        body = describe(error)[1]
        exchange.code = code_of(body)
        if is_defect(error):
            log.exception("a stream failed", exc_info=error)
        yield event(body)
        return
    if include_usage:
        yield event(envelope.usage_chunk(Usage(choices.prompt_tokens, sum(tokens))))
    yield DONE
