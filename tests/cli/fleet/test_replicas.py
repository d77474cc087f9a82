"""`serve --replicas`: one command, one address, several processes."""

from __future__ import annotations

import os
import re
import signal
import subprocess

import httpx
import pytest

from tests.api.served_process import PROGRAM, served_process
from tests.bounds import PATIENCE, wait_until

ASKED = {"messages": [{"role": "user", "content": "Hello"}], "max_tokens": 4, "seed": 1}


def test_replicas_are_replaced_and_end_with_the_command() -> None:
    with served_process("--replicas", "2", "--max-running", "8") as served:
        answer = httpx.post(f"{served.url}/v1/chat/completions", json=ASKED, timeout=PATIENCE)
        text = answer.json()["choices"][0]["message"]["content"]
        assert answer.status_code == 200

        def numbers() -> dict[str, list[int]]:
            replicas = re.findall(r"replica (w\d) is process (\d+)", served.logged())
            found: dict[str, list[int]] = {}
            for name, number in replicas:
                found.setdefault(name, []).append(int(number))
            return found

        assert sorted(numbers()) == ["w0", "w1"]
        os.kill(numbers()["w0"][0], signal.SIGKILL)
        again = httpx.post(f"{served.url}/v1/chat/completions", json=ASKED, timeout=PATIENCE)
        assert again.json()["choices"][0]["message"]["content"] == text
        wait_until(lambda: len(numbers()["w0"]) == 2)
        named = re.search(r"^w1 \S+ info: memory: ", served.logged(), re.MULTILINE)
        assert named, "the log of a replica has its name"
        assert served.end(signal.SIGTERM) == 0
        for number in (numbers()["w0"][1], numbers()["w1"][0]):
            with pytest.raises(ProcessLookupError):
                os.kill(number, 0)


def test_a_replica_that_can_not_start_ends_the_command() -> None:
    run = subprocess.run(
        [*PROGRAM, "serve", "--replicas", "2", "--port", "0", "--model", "/nowhere"],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert run.returncode == 2
    assert "a replica ended at its start" in run.stderr
    # Whichever of them looks for the folder first; the other one may be ended before it does.
    assert re.search(r"^w[01] maskwright: There is no directory /nowhere\.$", run.stderr, re.M)
