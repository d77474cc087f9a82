"""`serve --ray`: what it needs, what replicas reserve, and a real cluster of two replicas."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import signal
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import jsonschema
import openai
import pytest

from maskwright.cli.fleet.ray_cluster import (
    RayResources,
    is_joined,
    passed_on,
    require_ray,
    resources_of,
)
from maskwright.errors import InputError
from tests.api.served_process import ServedProcess, served_process
from tests.api.shapes import array, record
from tests.bounds import PATIENCE, wait_until

PERSON = record({"name": {"type": "string", "maxLength": 12}, "age": {"type": "integer"}})
PEOPLE = record({"people": array(PERSON, minItems=4, maxItems=8)})
TOOL: dict[str, Any] = {"type": "function", "function": {"name": "add", "parameters": PEOPLE}}
PATTERN = "([A-Z][a-z]{2,8} is [1-9][0-9]?, ){6}that is all"
SHAPES: list[dict[str, Any]] = [
    {"response_format": {"type": "json_schema", "json_schema": {"name": "s", "schema": PEOPLE}}},
    {"tools": [TOOL], "tool_choice": "required"},
    {"extra_body": {"structured_outputs": {"regex": PATTERN}}, "n": 3},
    {},
]
REQUESTS = 24


def asked(seed: int) -> dict[str, Any]:
    """The request with this seed: a schema, a tool, three choices of a pattern, or free text; half
    of each are streamed."""
    return {
        "model": "demo",
        "messages": [{"role": "user", "content": f"Anna Berg, {seed}, lives in Oslo."}],
        "seed": seed,
        "temperature": 1,
        "max_tokens": 300,
        "stream": seed // len(SHAPES) % 2 == 0,
        **SHAPES[seed % len(SHAPES)],
    }


def texts_of(client: openai.OpenAI, seed: int, begun: threading.Event | None = None) -> list[str]:
    """What each choice of an answer says, or the arguments of its tool."""
    answer = client.chat.completions.create(**asked(seed))
    if isinstance(answer, openai.Stream):
        texts: dict[int, str] = {}
        ends: set[int] = set()
        for chunk in answer:
            for choice in chunk.choices:
                calls = choice.delta.tool_calls or []
                parts = [call.function.arguments or "" for call in calls if call.function]
                text = "".join(parts) + (choice.delta.content or "")
                texts[choice.index] = texts.get(choice.index, "") + text
                if choice.finish_reason is not None:
                    ends.add(choice.index)
            if begun is not None:
                begun.set()
        assert ends == texts.keys(), "a stream ended early"
        return [texts[index] for index in sorted(texts)]
    found: list[str] = []
    for choice in answer.choices:
        calls = choice.message.tool_calls or []
        arguments = [call.function.arguments for call in calls if call.type == "function"]
        found.append("".join(arguments) + (choice.message.content or ""))
    return found


def all_texts(url: str, begun: list[threading.Event] | None = None) -> list[list[str]]:
    with (
        openai.OpenAI(
            base_url=f"{url}/v1", api_key="none", max_retries=0, timeout=PATIENCE
        ) as client,
        ThreadPoolExecutor(12) as pool,
    ):
        events = begun or [None] * REQUESTS
        running = [pool.submit(texts_of, client, seed, event) for seed, event in enumerate(events)]
        return [one.result(2 * PATIENCE) for one in running]


def check(seed: int, texts: list[str]) -> None:
    kind = seed % len(SHAPES)
    assert len(texts) == (3 if kind == 2 else 1)
    for text in texts:
        if kind < 2:
            jsonschema.validate(json.loads(text), PEOPLE)
        elif kind == 2:
            assert re.fullmatch(PATTERN, text)


def processes_of(served: ServedProcess) -> dict[str, list[int]]:
    """The processes of each replica so far, by its name, as the log tells them."""
    found: dict[str, list[int]] = {}
    for name, number in re.findall(r"replica (w\d) is process (\d+)", served.logged()):
        found.setdefault(name, []).append(int(number))
    return found


def parents() -> dict[int, int]:
    """The parent of every process, by number."""
    found: dict[int, int] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            stat = (folder / "stat").read_text()
        except OSError:  # it has ended
            continue
        found[int(folder.name)] = int(stat.rpartition(") ")[2].split()[1])
    return found


def family_of(number: int) -> set[int]:
    """The process and all that it has started, directly or not."""
    above = parents()
    family = {number}
    while grown := {one for one, parent in above.items() if parent in family} - family:
        family |= grown
    return family


def killed_under_load(served: ServedProcess, victim: int) -> list[list[str]]:
    """The texts of all requests, while a process is killed when half of the first streams run."""
    begun = [threading.Event() for _ in range(REQUESTS)]
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(all_texts, served.url, begun)
        wait_until(lambda: sum(event.is_set() for event in begun) >= 4)
        os.kill(victim, signal.SIGKILL)
        return running.result(2 * PATIENCE)


@pytest.fixture
def short_folder() -> Iterator[str]:
    """A folder for Ray's files, whose sockets need short paths."""
    with tempfile.TemporaryDirectory(prefix="mw") as folder:
        yield folder


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_two_replicas_on_ray_answer_as_one_server(short_folder: str) -> None:
    """A real cluster on this machine. First a server is killed under load, then the actor of the
    other one."""
    if importlib.util.find_spec("ray") is None:
        pytest.skip("needs Ray: pip install 'maskwright[ray]'")
    with served_process() as served:
        expected = all_texts(served.url)
    for seed, texts in enumerate(expected):
        check(seed, texts)
    with served_process("--ray", "--replicas", "2", RAY_TMPDIR=short_folder) as served:
        assert all_texts(served.url) == expected
        first = processes_of(served)
        assert sorted(first) == ["w0", "w1"]
        page = httpx.get(f"{served.url}/metrics", timeout=PATIENCE).text
        for name in first:
            pattern = rf'maskwright_router_requests_total{{status="200",worker="{name}"}}'
            assert pattern in page, "both replicas have answered"

        assert killed_under_load(served, first["w0"][0]) == expected
        wait_until(lambda: len(processes_of(served)["w0"]) == 2)
        assert killed_under_load(served, parents()[first["w1"][0]]) == expected
        wait_until(lambda: len(processes_of(served)["w1"]) == 2)
        page = httpx.get(f"{served.url}/metrics", timeout=PATIENCE).text
        assert 'maskwright_router_continued_total{worker="w0"}' in page
        assert "maskwright_router_failed_total{" not in page
        assert all_texts(served.url) == expected

        family = family_of(served.process.pid)
        assert len(family) > 8, "Ray's services are processes of the command"
        assert served.end(signal.SIGTERM) == 0
        wait_until(lambda: not family & parents().keys())


def test_ray_that_is_not_installed_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> None:
        raise ModuleNotFoundError(name=name)

    monkeypatch.setattr(importlib, "import_module", absent)
    with pytest.raises(InputError, match=re.escape("pip install 'maskwright[ray]'")) as caught:
        require_ray()
    assert caught.value.param == "ray"


@pytest.mark.parametrize(
    ("device", "threads", "resources", "expected"),
    [
        ("cpu", None, RayResources(1, 0), "1 CPU"),
        ("cpu", 4, RayResources(4, 0), "4 CPU"),
        ("cuda", None, RayResources(1, 1), "1 CPU and 1 GPU"),
    ],
)
def test_a_replica_reserves_what_its_options_use(
    device: str, threads: int | None, resources: RayResources, expected: str
) -> None:
    assert resources_of(device, threads) == resources
    assert str(resources) == expected


def test_a_gpu_with_a_number_is_refused() -> None:
    with pytest.raises(InputError, match="Ray chooses the GPU") as caught:
        resources_of("cuda:1", None)
    assert caught.value.param == "device"


def test_an_existing_cluster_is_named_by_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    assert not is_joined()
    monkeypatch.setenv("RAY_ADDRESS", "10.0.0.1:6379")
    assert is_joined()


def test_servers_elsewhere_get_the_variables_of_maskwright(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MASKWRIGHT_HANDOFF_KEY", "secret")
    monkeypatch.setenv("SOMETHING_ELSE", "1")
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    variables = passed_on()
    assert variables["MASKWRIGHT_HANDOFF_KEY"] == "secret"
    assert all(name.startswith("MASKWRIGHT_") for name in variables)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert passed_on()["OMP_NUM_THREADS"] == "3"
