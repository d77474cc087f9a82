"""Servers that are killed under streams: every answer is whole, valid and the undisturbed one."""

from __future__ import annotations

import json
import random
import signal
import threading
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import jsonschema
import openai
import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.api.served_process import ServedProcess
from tests.api.shapes import array, record
from tests.bounds import PATIENCE, wait_until
from tests.dist.front.fleet_of_servers import Routed, routed, servers

SCHEMA = record(
    {
        "people": array(
            record({"name": {"type": "string", "maxLength": 20}, "age": {"type": "integer"}}),
            minItems=4,
            maxItems=8,
        )
    }
)
STREAMS = 16


def body_of(seed: int) -> dict[str, Any]:
    return {
        "model": "demo",
        "messages": [{"role": "user", "content": f"Anna Berg, {seed}, lives in Oslo."}],
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "people", "schema": SCHEMA},
        },
        "temperature": 1,
        "seed": seed,
        "max_tokens": 400,
        "stream": True,
    }


def text_of(url: str, seed: int, begun: threading.Event | None = None) -> str:
    """The text of one stream, which must end properly."""
    texts: list[str] = []
    with httpx.stream(
        "POST", f"{url}/v1/chat/completions", json=body_of(seed), timeout=PATIENCE
    ) as answer:
        assert answer.status_code == 200, answer.read()
        last = ""
        for line in answer.iter_lines():
            if not line.startswith("data: "):
                assert not line.startswith(": maskwright"), "a record that reached the client"
                continue
            last = line
            if line == "data: [DONE]":
                continue
            [choice] = json.loads(line.removeprefix("data: "))["choices"]
            texts.append(choice["delta"].get("content", ""))
            if texts[-1] and begun is not None:
                begun.set()
    assert last == "data: [DONE]"
    return "".join(texts)


def texts_of(url: str, seeds: range) -> list[str]:
    with ThreadPoolExecutor(STREAMS) as pool:
        return list(pool.map(lambda seed: text_of(url, seed), seeds))


@pytest.fixture(scope="module")
def workers() -> Iterator[list[ServedProcess]]:
    with servers(2) as started:
        yield started


@pytest.fixture(scope="module")
def router(workers: list[ServedProcess]) -> Iterator[Routed]:
    with routed(worker.url for worker in workers) as router:
        yield router


@pytest.fixture(scope="module")
def undisturbed(workers: list[ServedProcess]) -> list[str]:
    """The texts as one server gives them."""
    texts = texts_of(workers[0].url, range(STREAMS))
    for text in texts:
        jsonschema.validate(json.loads(text), SCHEMA)
    return texts


def test_an_openai_client_runs_unchanged(router: Routed, undisturbed: list[str]) -> None:
    with openai.OpenAI(base_url=f"{router.url}/v1", api_key="none", max_retries=0) as client:
        assert [model.id for model in client.models.list()] == ["maskwright-demo"]
        whole = client.chat.completions.create(**{**body_of(3), "stream": False})
        assert whole.choices[0].message.content == undisturbed[3]
        stream = client.chat.completions.create(**body_of(4))
        told = "".join(chunk.choices[0].delta.content or "" for chunk in stream)
        assert told == undisturbed[4]
        with pytest.raises(openai.BadRequestError) as caught:
            client.chat.completions.create(**{**body_of(4), "temperature": -1})
        assert caught.value.param == "temperature"
        response = client.responses.create(model="demo", input="Anna", max_output_tokens=8)
        assert response.usage is not None


def test_metrics_of_all_servers_have_their_names(router: Routed) -> None:
    page = httpx.get(f"{router.url}/metrics", timeout=PATIENCE).text
    names = [family.name for family in text_string_to_metric_families(page)]
    assert len(names) == len(set(names)), "a metric is described twice"
    running = [line for line in page.splitlines() if line.startswith("maskwright_kv_blocks{")]
    assert {'worker="w0"' in line for line in running} == {True, False}


def test_a_router_that_is_stopped_says_so(workers: list[ServedProcess]) -> None:
    events: dict[int, list[str]] = defaultdict(list)
    with routed([workers[0].url], "--drain-seconds", "0") as router:

        def read(seed: int) -> None:
            long = {"max_tokens": 1500, "min_tokens": 1400, "response_format": None}
            url, asked = f"{router.url}/v1/chat/completions", {**body_of(seed), **long}
            with httpx.stream("POST", url, json=asked, timeout=PATIENCE) as answer:
                for line in answer.iter_lines():
                    if line.startswith("data: "):
                        events[seed].append(line.removeprefix("data: "))

        with ThreadPoolExecutor(4) as pool:
            running = [pool.submit(read, seed) for seed in range(4)]
            wait_until(lambda: all(len(events[seed]) > 1 for seed in range(4)))
            router.process.send_signal(signal.SIGTERM)
            for one in running:
                one.result(PATIENCE)
        assert router.process.wait(PATIENCE) == 0
    for seed in range(4):
        assert json.loads(events[seed][-1])["error"]["code"] == "router_stopped"


def test_streams_of_a_killed_server_go_on(
    router: Routed, workers: list[ServedProcess], undisturbed: list[str]
) -> None:
    begun = [threading.Event() for _ in range(STREAMS)]
    with ThreadPoolExecutor(STREAMS) as pool:
        running = [
            pool.submit(text_of, router.url, seed, event) for seed, event in enumerate(begun)
        ]
        wait_until(lambda: sum(event.is_set() for event in begun) >= STREAMS // 2)
        workers[1].process.send_signal(signal.SIGKILL)
        assert [one.result(PATIENCE) for one in running] == undisturbed
    page = httpx.get(f"{router.url}/metrics", timeout=PATIENCE).text
    assert 'maskwright_router_continued_total{worker="w1"}' in page
    assert "maskwright_router_failed_total{" not in page
    assert httpx.get(f"{router.url}/ready", timeout=PATIENCE).status_code == 200


@pytest.mark.slow
def test_thirty_kills_at_random_moments(undisturbed: list[str]) -> None:
    """One of two servers is killed at a random moment of 16 streams."""
    draw = random.Random(4)
    for _ in range(30):
        with servers(2) as workers, routed(worker.url for worker in workers) as router:
            with ThreadPoolExecutor(STREAMS) as pool:
                running = [pool.submit(text_of, router.url, seed) for seed in range(STREAMS)]
                threading.Event().wait(draw.uniform(0.0, 3.0))
                draw.choice(workers).process.send_signal(signal.SIGKILL)
                assert [one.result(PATIENCE) for one in running] == undisturbed
