"""Grammar processes that are killed cost time, and nothing else.

Constrained streams with fixed seeds run at once, while processes that work on grammars
are killed at random moments. Asserted: every answer is whole and valid, and where the
metric `batch_invariant` promises equal bits it equals the answer of a server that nobody disturbed;
afterwards as many grammar processes run as before, and the server holds no block of keys and values
and no more open files than before.

By default FEW_STREAMS run and processes are killed KILLS times, which one busy core can bear; with
`--slow` there are STREAMS, and ten times as many kills.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import httpx
import jsonschema
import pytest

from tests.bounds import PATIENCE, wait_until
from tests.hostile.process import ServerProcess, has_grammar_processes, serving
from tests.hostile.shape import array, closed

STREAMS: Final = 32
FEW_STREAMS: Final = 8
KILLS: Final = 5
LONGEST_WAIT: Final = 0.25
"""Seconds between two kills, at most."""
RESTING: Final = 3
"""Processes of a server that has nothing to do, in its own session: the nursery, the process in
which grammars begin, and a shared one."""
MORE_FILES: Final = 8
"""Open files beyond those at the start: connections that are kept, or not yet collected."""

pytestmark = pytest.mark.skipif(
    not has_grammar_processes(), reason="the server has no --grammar-processes that could be killed"
)


@pytest.fixture(scope="module")
def undisturbed() -> Iterator[ServerProcess]:
    with serving("--max-running", str(STREAMS)) as server:
        yield server


@dataclass(frozen=True)
class Disturbed:
    """A server that has worked with all the processes that it starts, and how many files it had
    open when it rested then."""

    server: ServerProcess
    files: int


@pytest.fixture(scope="module")
def disturbed() -> Iterator[Disturbed]:
    with serving("--max-running", str(STREAMS)) as server:
        asyncio.run(answers(server, range(FEW_STREAMS)))
        wait_until(lambda: rests(server))
        yield Disturbed(server, open_files(server))


def schema(number: int) -> Any:
    """A schema of its own for each number, whose texts reach positions that nobody has seen."""
    kind = {"enum": [f"kind {number}", f"sort {number}", "other"]}
    word = {"type": "string", "pattern": f"^[a-z]{{1,{3 + number % 7}}}( [A-Z][a-z]{{0,9}})?$"}
    item = closed({"kind": kind, "count": {"type": "integer", "minimum": number}, "word": word})
    return closed(
        {
            f"title {number}": {"type": "string", "maxLength": 20 + number % 9},
            "items": array(item, minItems=2, maxItems=5, uniqueItems=True),
            "tags": array(word, minItems=1, maxItems=4),
        }
    )


def request(number: int) -> dict[str, Any]:
    return {
        "model": "demo",
        "messages": [{"role": "user", "content": f"Make up number {number}."}],
        "temperature": 1,
        "seed": number,
        "max_tokens": 300,
        "stream": True,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "made_up", "schema": schema(number)},
        },
    }


async def stream(client: httpx.AsyncClient, number: int) -> str:
    """The text of one answer, and its finish reason."""
    text, finish = "", None
    async with client.stream("POST", "/v1/chat/completions", json=request(number)) as response:
        if response.status_code != 200:
            raise AssertionError((await response.aread()).decode())
        async for line in response.aiter_lines():
            if not line.startswith("data: {"):
                continue
            event = json.loads(line.removeprefix("data: "))
            assert "error" not in event, event
            text += event["choices"][0]["delta"].get("content") or ""
            finish = event["choices"][0].get("finish_reason") or finish
    assert finish == "stop", (number, finish, text)
    return text


async def answers(
    server: ServerProcess, numbers: range, beside: Callable[[], Awaitable[None]] | None = None
) -> list[str]:
    """All the answers, streamed at once; `beside` runs until the last has come."""
    limits = httpx.Limits(max_connections=STREAMS)
    async with httpx.AsyncClient(base_url=server.url, timeout=PATIENCE, limits=limits) as client:
        disturbing = asyncio.create_task(beside()) if beside else None
        try:
            return await asyncio.gather(*(stream(client, number) for number in numbers))
        finally:
            if disturbing is not None:
                disturbing.cancel()
                with suppress(asyncio.CancelledError):
                    await disturbing


class Killer:
    """Kills processes of a server that work on grammars, at random moments."""

    def __init__(self, server: ServerProcess, kills: int, seed: int) -> None:
        self._server = server
        self._draw = random.Random(seed)
        self.left = kills

    async def run(self) -> None:
        """Kill until there are no kills left, or this is cancelled."""
        while self.left:
            await asyncio.sleep(self._draw.uniform(0, LONGEST_WAIT))
            workers = self._server.forked()
            if workers and self._kill(self._draw.choice(workers)):
                self.left -= 1

    async def run_with_nursery(self) -> None:
        """Kill the nursery, and then one process that it has forked, until there are no kills left;
        the next time when there is another nursery."""
        while self.left:
            await asyncio.sleep(self._draw.uniform(0, LONGEST_WAIT))
            nurseries, workers = self._server.nurseries(), self._server.forked()
            if nurseries and workers and self._kill(nurseries[0]):
                self._kill(self._draw.choice(workers))
                self.left -= 1

    @staticmethod
    def _kill(pid: int) -> bool:
        with suppress(ProcessLookupError):  # it has ended by itself
            os.kill(pid, signal.SIGKILL)
            return True
        return False


def check(number: int, text: str) -> None:
    jsonschema.validate(json.loads(text), schema(number), cls=jsonschema.Draft202012Validator)


def metric(server: ServerProcess, name: str) -> float:
    """The value of one line of the server's metrics."""
    for line in httpx.get(f"{server.url}/metrics", timeout=PATIENCE).text.splitlines():
        if line.startswith(f"maskwright_{name} "):
            return float(line.split()[-1])
    raise AssertionError(f"no metric {name}")


def open_files(server: ServerProcess) -> int:
    return len(list(Path(f"/proc/{server.process.pid}/fd").iterdir()))


def rests(server: ServerProcess) -> bool:
    """Whether the grammar processes are those of a server that has nothing to do: the nursery is
    there, and the ones of single grammars have ended. What forks them may be left: of the session
    that it begins, nobody else may be there, even if itself has ended."""
    try:
        sessions = {pid: os.getsid(pid) for pid in server.workers()}
    except ProcessLookupError:  # one has ended meanwhile
        return False
    here = [pid for pid, session in sessions.items() if session == server.process.pid]
    outside = sessions.keys() - set(here)
    leads = all(sessions[pid] == pid for pid in outside)
    return len(server.nurseries()) == 1 and len(here) == RESTING and len(outside) <= 1 and leads


@pytest.mark.parametrize(
    ("sessions", "resting"),
    [
        ({2: 1, 3: 1, 4: 1}, True),
        ({2: 1, 3: 1, 4: 1, 5: 5}, True),
        ({2: 1, 3: 1}, False),
        ({2: 1, 3: 1, 4: 1, 5: 5, 6: 5}, False),  # a heavy one beside what has forked it
        ({2: 1, 3: 1, 4: 1, 6: 5}, False),  # a heavy one that has outlived it
        ({2: 1, 3: 1, 4: 1, 5: 5, 6: 6}, False),
    ],
    ids=str,
)
def test_a_server_with_a_process_of_a_single_grammar_does_not_rest(
    monkeypatch: pytest.MonkeyPatch, sessions: dict[int, int], resting: bool
) -> None:
    server: Any = SimpleNamespace(
        process=SimpleNamespace(pid=1), workers=lambda: list(sessions), nurseries=lambda: [2]
    )
    monkeypatch.setattr(os, "getsid", sessions.__getitem__)
    assert rests(server) == resting


def disturb(
    undisturbed: ServerProcess,
    target: Disturbed,
    kills: int,
    seed: int,
    *,
    streams: int = FEW_STREAMS,
    nursery: bool = False,
) -> None:
    """Rounds of `streams` until so many processes have been killed, or so often the `nursery` with
    one of its own. Every round has schemas that the disturbed server has not seen."""
    disturbed = target.server
    equal_bits = metric(disturbed, "batch_invariant") == 1
    killer = Killer(disturbed, kills, seed)
    first = seed
    while killer.left:
        numbers = range(first, first + streams)
        expected = asyncio.run(answers(undisturbed, numbers))
        killing = killer.run_with_nursery if nursery else killer.run
        found = asyncio.run(answers(disturbed, numbers, killing))
        for number, text in zip(numbers, found, strict=True):
            check(number, text)
        if equal_bits:
            assert found == expected
        first += streams
    wait_until(lambda: metric(disturbed, 'kv_blocks{state="used"}') == 0)
    asyncio.run(answers(disturbed, range(first, first + 4)))
    wait_until(lambda: rests(disturbed))
    wait_until(lambda: open_files(disturbed) <= target.files + MORE_FILES)


def test_killed_processes_cost_no_answer(undisturbed: ServerProcess, disturbed: Disturbed) -> None:
    disturb(undisturbed, disturbed, KILLS, seed=10_000)


def test_a_killed_nursery_costs_no_answer(undisturbed: ServerProcess, disturbed: Disturbed) -> None:
    before = disturbed.server.nurseries()
    disturb(undisturbed, disturbed, 1, seed=15_000, nursery=True)
    after = disturbed.server.nurseries()
    assert len(after) == 1
    assert after != before


@pytest.mark.slow
def test_many_killed_processes_cost_no_answer(
    undisturbed: ServerProcess, disturbed: Disturbed
) -> None:
    begin = time.monotonic()
    disturb(undisturbed, disturbed, 10 * KILLS, seed=20_000, streams=STREAMS)
    assert time.monotonic() - begin < PATIENCE * 10
