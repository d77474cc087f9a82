"""A router knows what servers can fetch from a store on disk that they share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette

from maskwright.dist.drain import Drain
from maskwright.dist.front.app import Front
from maskwright.dist.front.asked import BLOCK_BYTES, TOKEN_BYTES, error_bytes, read_asked
from maskwright.dist.front.fleet import WorkerGroup
from maskwright.dist.front.wire import Address
from maskwright.engine import Engine, EngineConfig
from maskwright.models import LoadedModel, load
from maskwright.server import ServerConfig, create_app
from tests.bounds import PATIENCE, wait_until
from tests.engine.tiny import save_checkpoint
from tests.live_server import live_server

CONFIG = EngineConfig(blocks=400, block_size=4, max_batch_tokens=64)
WORDS = "the cat sat on the mat, the dog sat on the cat, " * 4


@dataclass
class Gate:
    """Says whether its server is ready: while `is_open`."""

    app: Starlette
    is_open: bool

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and scope["path"] == "/ready" and not self.is_open:
            await send({"type": "http.response.start", "status": 503, "headers": []})
            await send({"type": "http.response.body", "body": error_bytes("not yet", "draining")})
        else:
            await self.app(scope, receive, send)


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    return load(save_checkpoint(tmp_path_factory.mktemp("model")))


@pytest.fixture
def servers(loaded: LoadedModel, tmp_path: Path) -> Iterator[tuple[list[Gate], list[str]]]:
    """Two servers with one store and a third one without; the first one is ready."""
    stores: list[dict[str, Any]] = [{"kv_disk": tmp_path}, {"kv_disk": tmp_path}, {}]
    with ExitStack() as closing:
        gates, urls = list[Gate](), list[str]()
        for store in stores:
            engine = closing.enter_context(Engine(loaded, replace(CONFIG, **store)))
            gates.append(Gate(create_app(engine, ServerConfig(model_name="m")), not gates))
            urls.append(closing.enter_context(live_server(gates[-1])))  # pyright: ignore
        yield gates, urls


def body(words: str) -> dict[str, Any]:
    return {"model": "m", "prompt": words, "max_tokens": 4, "seed": 1, "temperature": 0}


def test_a_prompt_goes_to_a_server_that_can_fetch_it(
    servers: tuple[list[Gate], list[str]], tmp_path: Path
) -> None:
    """The first server answers a prompt and leaves. Only the store knows the prompt then: the
    second server gets it, not the third one, and fetches what the router counts as cached."""
    gates, urls = servers
    fleet = WorkerGroup([Address.parse(url) for url in urls])
    first, second, third = fleet.workers
    with live_server(Front(fleet, Drain(PATIENCE))) as url:  # pyright: ignore[reportArgumentType]
        answers = [httpx.post(f"{url}/v1/completions", json=body(WORDS), timeout=PATIENCE)]
        assert answers[0].status_code == 200, answers[0].text
        wait_until(lambda: len(list(tmp_path.glob("??/*.kv"))) > 20, 60)
        gates[0].is_open, gates[1].is_open, gates[2].is_open = False, True, True
        wait_until(lambda: not first.ready and second.ready and third.ready)
        assert first.store == second.store != third.store == ""
        asked = read_asked("/completions", answers[0].request.content, "id", ())
        assert asked is not None
        decision = fleet.choose(asked.route).decision
        assert (decision.replica, decision.reason) == ("w1", "the stored prefix")
        assert decision.cached_tokens == BLOCK_BYTES // TOKEN_BYTES
        for ending in ("", "and on", "the mat"):
            answer = httpx.post(
                f"{url}/v1/completions", json=body(WORDS + ending), timeout=PATIENCE
            )
            answers.append(answer)
        page = httpx.get(f"{url}/metrics").text
    found = [answer.json() for answer in answers]
    assert found[0]["choices"][0]["text"] == found[1]["choices"][0]["text"]
    assert found[1]["usage"]["prompt_tokens_details"]["cached_tokens"] > 100
    assert 'maskwright_router_requests_total{status="200",worker="w1"} 3.0' in page
    assert 'requests_total{status="200",worker="w2"}' not in page.split("maskwright_requests")[0]
