"""Servers that are killed under streams: every answer is whole, valid and the undisturbed one."""

from __future__ import annotations

import json
import random
import signal
import threading
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import httpx
import jsonschema
import openai
import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.api.served_process import ServedProcess
from tests.bounds import PATIENCE, wait_until
from tests.dist.front.fleet_of_servers import Routed, routed, servers
from tests.dist.front.person_streams import SCHEMA, body_of, text_of

STREAMS = 16


def texts_of(url: str, seeds: range) -> list[str]:
    with ThreadPoolExecutor(STREAMS) as pool:
        return list(pool.map(lambda seed: text_of(url, body_of(seed)), seeds))


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
        text = "".join(chunk.choices[0].delta.content or "" for chunk in stream)
        assert text == undisturbed[4]
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
    """The signal comes when the last of the streams has begun, before any has ended."""
    events: dict[int, list[str]] = defaultdict(list)
    with routed([workers[0].url], "--drain-seconds", "0") as router:
        stop = partial(router.process.send_signal, signal.SIGTERM)
        begun = threading.Barrier(4, action=stop, timeout=PATIENCE)

        def read(seed: int) -> None:
            long = {"max_tokens": 1500, "min_tokens": 1400, "response_format": None}
            url, asked = f"{router.url}/v1/chat/completions", {**body_of(seed), **long}
            with httpx.stream("POST", url, json=asked, timeout=PATIENCE) as answer:
                for line in answer.iter_lines():
                    if line.startswith("data: "):
                        events[seed].append(line.removeprefix("data: "))
                        if len(events[seed]) == 2:
                            begun.wait()

        with ThreadPoolExecutor(4) as pool:
            for one in [pool.submit(read, seed) for seed in range(4)]:
                one.result(PATIENCE)
        assert router.process.wait(PATIENCE) == 0
    for seed in range(4):
        assert json.loads(events[seed][-1])["error"]["code"] == "router_stopped"


def test_a_router_that_is_killed_leaves_nothing_hanging(workers: list[ServedProcess]) -> None:
    """Clients see that the connection is closed in the middle of an answer, the server ends what
    nobody reads, and a router that is started again at this address serves."""
    server = workers[0]
    began = [threading.Event() for _ in range(4)]

    def read(url: str, seed: int) -> None:
        long = {"max_tokens": 1500, "min_tokens": 1400, "response_format": None}
        body = {**body_of(seed), **long}
        with httpx.stream("POST", url, json=body, timeout=PATIENCE) as answer:
            for line in answer.iter_lines():
                if line.startswith("data: "):
                    began[seed].set()

    with routed([server.url]) as router, ThreadPoolExecutor(4) as pool:
        read_from = partial(read, f"{router.url}/v1/chat/completions")
        running = [pool.submit(read_from, seed) for seed in range(4)]
        wait_until(lambda: all(event.is_set() for event in began))
        router.process.kill()
        assert all(isinstance(one.exception(PATIENCE), httpx.TransportError) for one in running)
        wait_until(lambda: load_of(server.url) == 0)
        port = router.url.rpartition(":")[2]
    with routed([server.url], "--port", port) as again:
        assert again.url == router.url
        text_of(again.url, body_of(1))


def load_of(url: str) -> int:
    """The requests that a server is answering."""
    return httpx.get(f"{url}/load", timeout=PATIENCE).json()["server_load"]


def steps_of(url: str) -> float:
    """The steps that a server's engine has made."""
    page = httpx.get(f"{url}/metrics", timeout=PATIENCE).text
    return float(page.partition("\nmaskwright_steps_total ")[2].partition("\n")[0])


def test_streams_of_a_killed_server_go_on(
    router: Routed, workers: list[ServedProcess], undisturbed: list[str]
) -> None:
    begun = [threading.Event() for _ in range(STREAMS)]
    with ThreadPoolExecutor(STREAMS) as pool:
        running = [
            pool.submit(text_of, router.url, body_of(seed), event)
            for seed, event in enumerate(begun)
        ]
        wait_until(lambda: sum(event.is_set() for event in begun) >= STREAMS // 2)
        wait_until(lambda: steps_of(workers[1].url) >= 20)  # and streams of this one have begun
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
        with (
            servers(2) as workers,
            routed(worker.url for worker in workers) as router,
            ThreadPoolExecutor(STREAMS) as pool,
        ):
            running = [pool.submit(text_of, router.url, body_of(seed)) for seed in range(STREAMS)]
            threading.Event().wait(draw.uniform(0.0, 3.0))
            draw.choice(workers).process.send_signal(signal.SIGKILL)
            assert [one.result(PATIENCE) for one in running] == undisturbed
