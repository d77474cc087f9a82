"""Clients that read slowly, or not at all: their own request pauses, nobody else's, and nothing
piles up."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import Iterator
from typing import Any, cast

import httpx
import pytest

from maskwright.cli.process.listening import SEND_BYTES, listen
from maskwright.engine import Engine, EngineConfig
from maskwright.models import LoadedModel
from maskwright.server import ServerConfig, create_app
from tests.bounds import PATIENCE, wait_until
from tests.live_server import address, live_server, request_bytes
from tests.server.scripted import HELLO, ByteModel, Script, ScriptedEngine

TOKENS = 120
CONFIG = EngineConfig(
    blocks=64, max_running=4, max_batch_tokens=64, reader_tokens=8, reader_seconds=1e6
)
PATIENT = ServerConfig(reader_seconds=1e6)


@pytest.fixture
def engine(tiny: LoadedModel) -> Iterator[Engine]:
    with Engine(tiny, CONFIG) as engine:
        yield engine


def body(tiny: LoadedModel, **fields: Any) -> bytes:
    never_ends = {str(token): -100 for token in tiny.eos}
    asked = {**HELLO, "max_tokens": TOKENS, "seed": 1, "logit_bias": never_ends, **fields}
    return json.dumps(asked).encode()


class Connection:
    """One request to the application, whose client takes events only when it is let."""

    def __init__(self, content: bytes) -> None:
        self.go = asyncio.Event()
        self.taken = b""
        self.ended = False
        self._content: bytes | None = content

    async def run(self, app: Any) -> None:
        path = "/v1/chat/completions"
        headers = [(b"content-type", b"application/json")]
        scope = {
            "type": "http", "method": "POST", "path": path, "raw_path": path.encode(),
            "query_string": b"", "headers": headers, "http_version": "1.1", "scheme": "http",
        }  # fmt: skip
        await app(scope, self._receive, self._send)

    async def _receive(self) -> dict[str, Any]:
        if self._content is None:
            await asyncio.Event().wait()  # the client stays
        content, self._content = self._content, None
        return {"type": "http.request", "body": content, "more_body": False}

    async def _send(self, message: Any) -> None:
        if message["type"] == "http.response.body":
            if len(self.taken) > 0:
                await self.go.wait()
            self.taken += message["body"]
            self.ended = not message["more_body"]


def text_of(events: bytes) -> str:
    """What the deltas of a stream say."""
    found = [json.loads(line[6:]) for line in events.split(b"\n\n") if line[:7] == b"data: {"]
    return "".join(event["choices"][0]["delta"].get("content", "") for event in found)


async def until(condition: Any) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        await asyncio.sleep(0.005)


def test_a_slow_client_pauses_its_own_request(engine: Engine, tiny: LoadedModel) -> None:
    app = create_app(engine, PATIENT)

    async def main() -> None:
        slow, other = Connection(body(tiny, stream=True)), Connection(body(tiny, stream=True))
        other.go.set()
        task = asyncio.create_task(slow.run(app))
        await until(lambda: engine.stats().paused == 1)
        sampled = engine.stats().sampled_tokens
        assert sampled < TOKENS / 2, "its tokens were read although nobody took them"
        await other.run(app)
        assert other.ended
        assert engine.stats().paused == 1
        slow.go.set()
        await task
        assert slow.ended
        assert text_of(slow.taken) == text_of(other.taken)
        assert len(text_of(slow.taken)) > TOKENS / 2

    asyncio.run(main())
    assert engine.stats().blocks_used == 0


def test_all_choices_of_a_slow_client_pause(engine: Engine, tiny: LoadedModel) -> None:
    app = create_app(engine, PATIENT)

    async def main() -> None:
        slow = Connection(body(tiny, stream=True, n=3))
        task = asyncio.create_task(slow.run(app))
        await until(lambda: engine.stats().paused == 3)
        slow.go.set()
        await task
        assert slow.ended

    asyncio.run(main())
    assert engine.stats().finished == {"length": 3}


def test_a_client_that_takes_nothing_is_cut_off(engine: Engine, tiny: LoadedModel) -> None:
    app = create_app(engine, ServerConfig(reader_seconds=0.1))

    async def main() -> None:
        stuck = Connection(body(tiny, stream=True))
        await stuck.run(app)
        assert not stuck.ended

    asyncio.run(main())
    wait_until(lambda: engine.stats().blocks_used == 0)
    assert engine.stats().finished == {"cancelled": 1}


def test_on_a_real_connection_little_is_read_ahead() -> None:
    """The client asks and reads nothing. What is taken from the engine stays below what the
    connection holds; others are answered; in the end the request is given up."""
    kilobyte = "x" * 1024
    engine = ScriptedEngine(ByteModel(), Script(texts=[kilobyte] * 20_000))
    app = create_app(cast(Any, engine), ServerConfig(reader_seconds=0.4))
    with live_server(app, listen("127.0.0.1", 0)) as url, socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(address(url))
        client.sendall(request_bytes(url, {**HELLO, "stream": True}))
        wait_until(lambda: engine.taken > 10)
        engine.script = Script()
        answer = httpx.post(f"{url}/v1/chat/completions", json=HELLO, timeout=PATIENCE)
        assert answer.json()["choices"][0]["message"]["content"] == "Hello"
        wait_until(lambda: not engine.running)
    # The kernel gives a connection twice what is asked for; the server buffers 64 KiB itself.
    assert engine.taken * 1024 < 2 * SEND_BYTES + (1 << 17)
