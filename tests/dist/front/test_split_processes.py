"""Two servers for prompts and two for answers, as processes: answers equal one server's."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import httpx
import jsonschema
import pytest

from tests.api.served_process import served_process
from tests.api.shapes import array, record
from tests.bounds import PATIENCE

PERSON = record({"name": {"type": "string", "maxLength": 12}, "age": {"type": "integer"}})
SCHEMAS: list[dict[str, Any]] = [
    PERSON,
    record({"people": array(PERSON, minItems=1, maxItems=3)}),
    array({"enum": ["Oslo", "Bergen", "Rome"]}, minItems=2, maxItems=5),
]
PATTERNS = [r"[A-Z][a-z]{2,8} is [1-9][0-9]?", r"(yes|no|perhaps), (Anna|Bert)"]
PLACES = ["Oslo", "Bergen", "Rome", "a house by the sea", "the third floor of an old building"]


def mixed(seed: int) -> dict[str, Any]:
    """The request with this seed: one of five shapes, prompts of 70 to 2,500 bytes, of which four
    each begin alike, and half of them streamed."""
    place = PLACES[seed % len(PLACES)]
    text = (
        f"Letter {seed % 250}. "
        + f"Anna Berg, {20 + seed % 50}, lives in {place}, as do Bert and Carla. " * (1 + seed % 30)
    )
    shapes: list[dict[str, Any]] = [
        {"response_format": {"type": "json_schema", "json_schema": {"name": "s", "schema": one}}}
        for one in SCHEMAS
    ]
    shapes += [{"structured_outputs": {"regex": one}} for one in PATTERNS]
    return {
        "model": "demo",
        "messages": [{"role": "user", "content": text}],
        "seed": seed,
        "temperature": seed % 3 / 2,
        "max_tokens": 300,
        "stream": bool(seed % 2),
        **shapes[seed % len(shapes)],
    }


def answered(url: str, seed: int) -> str:
    body = mixed(seed)
    answer = httpx.post(f"{url}/v1/chat/completions", json=body, timeout=10 * PATIENCE)
    assert answer.status_code == 200, answer.text
    if not body["stream"]:
        return answer.json()["choices"][0]["message"]["content"]
    lines = [line for line in answer.text.split("\n\n") if line.startswith("data: ")]
    assert lines.pop() == "data: [DONE]"
    deltas = [json.loads(line.removeprefix("data: "))["choices"][0]["delta"] for line in lines]
    return "".join(delta.get("content") or "" for delta in deltas)


def all_answered(url: str, count: int) -> list[str]:
    with ThreadPoolExecutor(16) as pool:
        return list(pool.map(partial(answered, url), range(count)))


def check(seed: int, text: str) -> None:
    number = seed % (len(SCHEMAS) + len(PATTERNS))
    if number < len(SCHEMAS):
        jsonschema.validate(json.loads(text), SCHEMAS[number])
    else:
        assert re.fullmatch(PATTERNS[number - len(SCHEMAS)], text)


@pytest.mark.slow
def test_a_thousand_requests_are_answered_as_by_one_server() -> None:
    with served_process() as served:
        expected = all_answered(served.url, 1000)
    with served_process("--prefill", "2", "--decode", "2") as served:
        found = all_answered(served.url, 1000)
        page = httpx.get(f"{served.url}/metrics", timeout=PATIENCE).text
    assert found == expected
    for seed, text in enumerate(found):
        check(seed, text)
    handed = re.findall(r"^maskwright_router_hand_offs_total\{(.*)\} (.*)$", page, re.M)
    print(handed, re.findall(r"^maskwright_router_hand_off_bytes_total.*$", page, re.M))
    arrived = [float(count) for labels, count in handed if 'outcome="arrived"' in labels]
    assert len(arrived) == 2, "both servers for prompts have handed requests over"
    assert sum(arrived) > 300
    # On a busy machine a message may not be answered in time; its blocks are computed again.
    in_part = [float(count) for labels, count in handed if 'outcome="partial"' in labels]
    assert sum(in_part) < 0.02 * sum(arrived)
    assert len(arrived) + len(in_part) == len(handed), "a hand-off was refused or lost"
