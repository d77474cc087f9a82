"""Fuzzed bodies: what they are made from is valid, what is wrong with an answer is seen, and a
sample of them finds nothing wrong."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from random import Random

import httpx
import pytest

from benchmarks.server.fuzz_bodies import BODY_BYTES, fuzz, monster, monsters, still_answers, wrong
from benchmarks.server.mutations import PATHS, fuzzed, valid_body
from maskwright.engine import Engine, EngineConfig
from maskwright.models import DEMO_PATH, load
from maskwright.server import create_app
from tests.live_server import live_server

SAMPLE = 60


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with (
        Engine(load(DEMO_PATH), EngineConfig(max_running=8)) as engine,
        live_server(create_app(engine)) as address,
    ):
        yield address


@pytest.mark.parametrize("path", PATHS)
def test_what_is_changed_was_valid(url: str, path: str) -> None:
    body = {**valid_body(path, Random(1)), "stream": False}
    if "tokens" in body or path in ("/tokenize", "/v1/explain"):
        del body["stream"]
    response = httpx.post(url + path, json=body, timeout=200)
    assert response.status_code == 200 or "max_tokens_too_small" in response.text, response.text


def test_a_sample_finds_nothing_wrong(url: str) -> None:
    tried = asyncio.run(fuzz(url, range(SAMPLE), 8, 200.0))
    assert [each.fault for each in tried if each.fault] == []
    assert len(tried) == SAMPLE
    assert {each.status // 100 for each in tried} == {2, 4}
    assert still_answers(url) == []


def test_bodies_are_made_from_their_seed() -> None:
    assert [fuzzed(seed) for seed in range(20)] == [fuzzed(seed) for seed in range(20)]
    assert len({fuzzed(seed)[1] for seed in range(40)}) > 30


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (500, b"{}"),
        (422, b'{"detail": []}'),
        (400, b"no"),
        (400, b"[]"),
        (200, b'data: {"error": {"code": "internal_error"}}'),
    ],
)
def test_what_is_wrong_is_seen(status: int, text: bytes) -> None:
    assert wrong(status, text)


def test_what_is_right() -> None:
    error = {"message": "m", "type": "t", "param": None, "code": "c"}
    assert wrong(400, json.dumps({"error": error}).encode()) == ""
    assert wrong(200, b"{}") == ""


def test_monsters_are_as_large_as_they_say() -> None:
    bodies = monsters()
    assert bodies["200,000 brackets"].count(b"[") > 200_000
    assert 10_000_000 < len(bodies["10 MB schema"]) < BODY_BYTES
    json.loads(bodies["10 MB schema"])


def test_a_monster_gets_its_400(url: str) -> None:
    data = monsters()["200,000 brackets"]
    assert monster(url, "brackets", data, 200.0).fault == ""
    assert monster(url, "brackets", data, 0.0).fault.startswith("took ")
