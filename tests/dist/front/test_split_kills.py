"""Servers for prompts and for answers that are killed at random moments: every answer is whole."""

from __future__ import annotations

import json
import random
import re
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from os import kill
from signal import SIGKILL
from typing import Any

import httpx
import jsonschema
import pytest

from tests.api.served_process import ServedProcess, served_process
from tests.bounds import PATIENCE, wait_until
from tests.dist.front.person_streams import SCHEMA, body_of, text_of

REQUESTS = 16
KILLS = 30
ROLES = ("prefill", "prefill", "decode", "decode")
LETTER = "Anna Berg, who is {age}, lives in Oslo, and so do Bert and Carla. "


def asked(seed: int, salt: str) -> dict[str, Any]:
    """A request with a prompt that is long enough to be computed elsewhere; every other one is
    streamed. Only requests with equal `salt` share a cache."""
    content = "".join(LETTER.format(age=seed + number) for number in range(1 + seed % 8 * 3))
    body = body_of(seed)
    body["messages"] = [{"role": "user", "content": f"{seed}. {content}"}]
    return {**body, "stream": bool(seed % 2), "cache_salt": salt}


def answered(url: str, salt: str, seed: int) -> str:
    body = asked(seed, salt)
    if body["stream"]:
        return text_of(url, body)
    answer = httpx.post(f"{url}/v1/chat/completions", json=body, timeout=PATIENCE)
    assert answer.status_code == 200, answer.text
    [choice] = answer.json()["choices"]
    return choice["message"]["content"]


def wait_for_all(client: httpx.Client) -> None:
    """Wait until all servers take requests."""

    def ready() -> bool:
        page = client.get("/metrics").text
        found = re.findall(r"^maskwright_router_worker_ready\{.*\} 1\.0$", page, re.M)
        time.sleep(0.5)
        return len(found) == len(ROLES)

    wait_until(ready)


def processes(served: ServedProcess) -> dict[str, int]:
    """The process of each server by its name: of those that have been started, the last one."""
    found = re.findall(r"replica (w\d) is process (\d+)", served.logged())
    return {name: int(pid) for name, pid in found}


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_thirty_kills_of_servers_for_prompts_and_for_answers() -> None:
    with served_process() as alone, ThreadPoolExecutor(REQUESTS) as pool:
        expected = list(pool.map(partial(answered, alone.url, "alone"), range(REQUESTS)))
    for text in expected:
        jsonschema.validate(json.loads(text), SCHEMA)
    draw = random.Random(7)
    killed: Counter[str] = Counter()
    with served_process("--prefill", "2", "--decode", "2") as served:
        with httpx.Client(base_url=served.url, timeout=PATIENCE) as client:
            wait_for_all(client)
        began = time.monotonic()
        with ThreadPoolExecutor(REQUESTS) as pool:
            assert (
                list(pool.map(partial(answered, served.url, "calm"), range(REQUESTS))) == expected
            )
        undisturbed = time.monotonic() - began
        for number in range(KILLS):
            with httpx.Client(base_url=served.url, timeout=PATIENCE) as client:
                wait_for_all(client)
            began = time.monotonic()
            with ThreadPoolExecutor(REQUESTS) as pool:
                ask = partial(answered, served.url, str(number))
                running = [pool.submit(ask, seed) for seed in range(REQUESTS)]
                time.sleep(draw.uniform(0.0, undisturbed))
                at = 2 * (number % 2) + draw.randrange(2)
                kill(processes(served)[f"w{at}"], SIGKILL)
                under_way = not all(one.done() for one in running)
                killed[ROLES[at] if under_way else "too late"] += 1
                assert [one.result(PATIENCE) for one in running] == expected, (number, ROLES[at])
            print(number, ROLES[at], under_way, round(time.monotonic() - began, 1), flush=True)
        page = httpx.get(f"{served.url}/metrics", timeout=PATIENCE).text
    print(killed, *re.findall(r"^maskwright_router_(?!choice).*_total.*$", page, re.M), sep="\n")
    assert killed["prefill"] > 5
    assert killed["decode"] > 5
    assert "maskwright_router_failed_total{" not in page
