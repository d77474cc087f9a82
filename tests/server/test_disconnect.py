from __future__ import annotations

from typing import Any, cast

import httpx
import pytest

from maskwright.server import create_app
from tests.bounds import PATIENCE, wait_until
from tests.live_server import ask_and_leave, leave_midway, live_server
from tests.server.scripted import HELLO, Script, ScriptedEngine

ENDLESS = Script(texts=["word "] * 1_000_000, pause=0.005)  # longer than any patience
SILENT = Script(texts=["never"], pause=1000)


@pytest.mark.parametrize("script", [ENDLESS, SILENT], ids=["talking", "silent"])
def test_64_clients_that_leave_at_random_moments_leave_nothing_behind(
    engine: ScriptedEngine, script: Script
) -> None:
    engine.script = script
    bodies: list[dict[str, Any]] = [
        {**HELLO, "stream": number % 2 == 0, "n": 1 + number % 3} for number in range(64)
    ]
    with live_server(create_app(cast(Any, engine))) as url:
        ask_and_leave(url, HELLO, lambda: engine.running)
        leave_midway(url, bodies, longest=0.5, seed=1)
        wait_until(lambda: not engine.running)
        engine.script = Script()
        answer = httpx.post(f"{url}/v1/chat/completions", json=HELLO, timeout=PATIENCE)
        assert answer.json()["choices"][0]["message"]["content"] == "Hello"


def test_a_client_that_stays_is_not_cut_off(engine: ScriptedEngine) -> None:
    engine.script = Script(texts=["a"] * 50, pause=0.002)
    with live_server(create_app(cast(Any, engine))) as url:
        leave_midway(url, [HELLO] * 8, longest=0.05, seed=2)
        for stream in (False, True):
            answer = httpx.post(
                f"{url}/v1/chat/completions", json={**HELLO, "stream": stream}, timeout=PATIENCE
            )
            assert answer.text.count('"a"') + answer.text.count("a" * 50) in (1, 50)
