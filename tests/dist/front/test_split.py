"""A router, a server that computes prompts, and one that answers: as one server would."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.applications import Starlette

from maskwright.dist.drain import Drain
from maskwright.dist.front.app import Front
from maskwright.dist.front.fleet import WorkerGroup
from maskwright.dist.front.wire import Address
from maskwright.dist.handoff.http_names import BLOCKS_PATH, HAND_TO, HANDOFF_KEY, LACKING_PATH
from maskwright.engine import Engine, EngineConfig
from maskwright.models import LoadedModel, load
from maskwright.server import ServerConfig, create_app
from tests.bounds import PATIENCE, wait_until
from tests.engine.tiny import save_checkpoint
from tests.live_server import live_server

KEY = "common"
CONFIG = EngineConfig(blocks=400, block_size=4, max_batch_tokens=64)
SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 8}, "age": {"type": "integer"}},
    "required": ["name", "age"],
    "additionalProperties": False,
}
SHAPE = {"type": "json_schema", "json_schema": {"name": "person", "schema": SCHEMA}}
WORDS = "the cat sat on the mat, the dog sat on the cat, " * 3
CHAT: dict[str, Any] = {
    "model": "m",
    "messages": [{"role": "user", "content": WORDS}],
    "max_tokens": 40,
    "seed": 3,
}
TOOLS = [{"type": "function", "function": {"name": "note", "parameters": SCHEMA}}]
STREAM = {**CHAT, "stream": True}
BODIES: dict[str, dict[str, Any]] = {
    "free": CHAT,
    "a schema": {**CHAT, "response_format": SHAPE},
    "a stream with a schema": {**STREAM, "response_format": SHAPE},
    "several choices": {**CHAT, "n": 3, "temperature": 1.5},
    "a stream of several choices": {**STREAM, "n": 3, "temperature": 1.5},
    "log-probabilities": {**CHAT, "logprobs": True, "top_logprobs": 2},
    "a stream with a tool": {**STREAM, "tools": TOOLS, "tool_choice": "required", "max_tokens": 80},
    "a tool": {**CHAT, "tools": TOOLS, "tool_choice": "required", "max_tokens": 80},
    "one token": {**STREAM, "max_tokens": 1},
}


@dataclass
class Meddler:
    """Stands before the server that answers, and damages messages with blocks."""

    app: Starlette
    damage: str = ""
    sizes: list[int] = field(default_factory=list[int])

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http" or scope["path"] != BLOCKS_PATH:
            await self.app(scope, receive, send)
            return
        parts, more = list[bytes](), True
        while more:
            message = await receive()
            parts.append(message.get("body", b""))
            more = message.get("more_body", False)
        body = self._damaged(b"".join(parts))
        self.sizes.append(len(body))
        if self.damage == "no answer":
            return

        async def again() -> dict[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        await self.app(scope, again, send)

    def _damaged(self, body: bytes) -> bytes:
        match self.damage:
            case "a byte of the blocks":
                return body[:-9] + bytes([body[-9] ^ 1]) + body[-8:]
            case "a token of the head":
                at = body.index(b'"tokens":[') + len(b'"tokens":[')
                return body[:at] + (b"1" if body[at : at + 1] != b"1" else b"2") + body[at + 1 :]
            case "cut in its middle":
                return body[: len(body) // 2]
            case "no message at all":
                return b"\x00\x01"
            case _:
                return body


@dataclass
class Split:
    """The router's address, those of the two servers after it and of one alone, and who stands
    before the second one."""

    url: str
    prefill: str
    decode: str
    meddler: Meddler
    alone: str
    group: WorkerGroup

    def counted(self, name: str) -> dict[str, float]:
        """The samples of a counter of the router, by outcome."""
        page = httpx.get(f"{self.url}/metrics", timeout=PATIENCE).text
        families = text_string_to_metric_families(page)
        samples = (one for family in families for one in family.samples if one.name == name)
        return {one.labels.get("outcome", ""): one.value for one in samples}


@contextmanager
def served(loaded: LoadedModel, key: str | None) -> Generator[Starlette]:
    with Engine(loaded, CONFIG) as engine:
        yield create_app(engine, ServerConfig(handoff_key=key))


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    return load(save_checkpoint(tmp_path_factory.mktemp("checkpoint") / "tiny", positions=512))


@pytest.fixture(scope="module")
def split(loaded: LoadedModel) -> Iterator[Split]:
    with ExitStack() as closing:
        first = closing.enter_context(served(loaded, KEY))
        second = closing.enter_context(served(loaded, KEY))
        third = closing.enter_context(served(loaded, None))
        meddler = Meddler(second)
        urls = [
            closing.enter_context(live_server(app))  # pyright: ignore[reportArgumentType]
            for app in (first, meddler, third)
        ]
        addresses = [Address.parse(url) for url in urls[:2]]
        group = WorkerGroup(addresses, roles=["prefill", "decode"], handoff_key=KEY)
        front = Front(group, Drain(1.0), patience=0.3)
        url = closing.enter_context(live_server(front))  # pyright: ignore[reportArgumentType]
        yield Split(url, urls[0], urls[1], meddler, urls[2], group)


@pytest.fixture(autouse=True)
def undamaged(split: Split) -> None:
    split.meddler.damage = ""
    # On a machine that is busy, a check may not be answered in time.
    wait_until(lambda: all(worker.ready for worker in split.group.workers))


def asked(url: str, body: dict[str, Any], salt: str) -> Any:
    """The choices of an answer, whole or joined from a stream. Only requests with equal `salt`
    share a cache."""
    sent = {**body, "cache_salt": salt}
    answer = httpx.post(f"{url}/v1/chat/completions", json=sent, timeout=PATIENCE)
    assert answer.status_code == 200, answer.text
    if not body.get("stream"):
        choices = answer.json()["choices"]
        for choice in choices:
            for call in choice["message"].get("tool_calls") or ():
                call.pop("id")  # drawn at random
        return choices
    lines = [line for line in answer.text.split("\n\n") if line.startswith("data: ")]
    assert lines.pop() == "data: [DONE]"
    texts: dict[int, str] = {}
    for line in lines:
        for choice in json.loads(line.removeprefix("data: "))["choices"]:
            delta = choice["delta"]
            parts = [delta.get("content") or ""]
            parts += [call["function"]["arguments"] for call in delta.get("tool_calls") or ()]
            texts[choice["index"]] = texts.get(choice["index"], "") + "".join(parts)
    return texts


@pytest.mark.parametrize("name", BODIES)
def test_answers_are_those_of_one_server(split: Split, name: str) -> None:
    body = BODIES[name]
    before = split.counted("maskwright_router_hand_offs_total").get("arrived", 0)
    assert asked(split.url, body, name) == asked(split.alone, body, name)
    assert split.counted("maskwright_router_hand_offs_total")["arrived"] == before + 1


@pytest.mark.parametrize(
    "damage",
    [
        *("a byte of the blocks", "a token of the head", "cut in its middle"),
        *("no message at all", "no answer"),
    ],
)
def test_what_is_damaged_is_computed_again(split: Split, damage: str) -> None:
    body = BODIES["a schema"]
    split.meddler.damage = damage
    before = split.counted("maskwright_router_hand_offs_total").get("partial", 0)
    assert asked(split.url, body, damage) == asked(split.alone, body, damage)
    assert split.counted("maskwright_router_hand_offs_total")["partial"] == before + 1


def test_only_what_lacks_is_sent(split: Split, loaded: LoadedModel) -> None:
    """A second question after an equal beginning brings only the blocks after it."""
    block = loaded.decoder.block_bytes(CONFIG.block_size, "auto")
    sent = [
        split.counted("maskwright_router_hand_off_bytes_total")[""],
    ]
    for index, tail in enumerate(("", " and then the cow sat on the mouse, and the horse on it")):
        messages = [{"role": "user", "content": WORDS + tail + " again" * 9 * index}]
        asked(split.url, {**CHAT, "messages": messages}, "lacking")
        sent.append(split.counted("maskwright_router_hand_off_bytes_total")[""])
    outcomes = split.counted("maskwright_router_hand_offs_total")
    first, second = (after - before for before, after in pairwise(sent))
    tokens = len(loaded.encode(f"<|user|>{WORDS}"))
    assert first // block * CONFIG.block_size >= tokens - CONFIG.block_size, outcomes
    assert first % block == second % block == 0
    assert 0 < second < first


def test_a_short_prompt_is_computed_where_it_is_answered(split: Split) -> None:
    before = split.counted("maskwright_router_hand_offs_total")
    body = {**CHAT, "messages": [{"role": "user", "content": "the cat"}]}
    assert asked(split.url, body, "short") == asked(split.alone, body, "short")
    assert split.counted("maskwright_router_hand_offs_total") == before


def test_a_refusal_comes_from_the_server_that_answers(split: Split) -> None:
    body = {**CHAT, "temperature": -1}
    answer = httpx.post(f"{split.url}/v1/chat/completions", json=body, timeout=PATIENCE)
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == "temperature"


@pytest.mark.parametrize("path", [LACKING_PATH, BLOCKS_PATH])
def test_blocks_need_the_key(split: Split, path: str) -> None:
    for headers in ({}, {HANDOFF_KEY: "other"}):
        answer = httpx.post(f"{split.decode}{path}", content=b"", headers=headers)
        assert (answer.status_code, answer.json()["error"]["code"]) == (401, "invalid_handoff_key")
    assert httpx.post(f"{split.alone}{path}", content=b"").status_code == 404
    answer = httpx.post(f"{split.decode}{path}", content=b"no", headers={HANDOFF_KEY: KEY})
    assert answer.status_code == 400


def test_a_client_can_not_have_a_request_handed_over(split: Split) -> None:
    headers = {HAND_TO: split.decode}
    for url, key in ((split.url, KEY), (split.prefill, "other"), (split.alone, KEY)):
        answer = httpx.post(
            f"{url}/v1/chat/completions", json=CHAT, headers={**headers, HANDOFF_KEY: key}
        )
        assert answer.json()["object"] == "chat.completion"


def test_a_role_without_servers_is_taken_over(split: Split, loaded: LoadedModel) -> None:
    body = BODIES["a schema"]
    expected = asked(split.alone, body, "roles")
    nowhere = Address("127.0.0.1", 9)
    for addresses in (
        [nowhere, Address.parse(split.decode)],
        [Address.parse(split.prefill), nowhere],
    ):
        group = WorkerGroup(addresses, roles=["prefill", "decode"], handoff_key=KEY)
        front = Front(group, Drain(1.0), patience=0.3)
        with live_server(front) as url:  # pyright: ignore[reportArgumentType]
            assert asked(url, body, "roles") == expected
