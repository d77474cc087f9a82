"""`maskwright status --watch`."""

from __future__ import annotations

import json
import subprocess
import sys

import httpx
import pytest

from tests.bounds import PATIENCE
from tests.pages.demo_server import demo_server


def watching(url: str, *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "maskwright", "status", "--url", url, "--watch"]
    return subprocess.Popen(
        [*command, "--seconds", "0.1", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_the_figures_are_asked_for_again_and_again() -> None:
    with demo_server() as served, watching(served.url, "--json") as program:
        try:
            assert program.stdout is not None
            counts = (json.loads(line)["figures"]["requests_finished"] for line in program.stdout)
            before = next(counts)
            body = {"prompt": "the cat", "max_tokens": 1}
            for count, _ in zip(counts, range(50), strict=False):
                if count > before:
                    break
                # An idle engine shows the figures of its last step.
                httpx.post(f"{served.url}/v1/completions", json=body, timeout=PATIENCE)
            else:
                pytest.fail("the figures don't change")
        finally:
            program.terminate()
            _, errors = program.communicate()
    assert errors == ""


def test_a_watch_ends_with_the_server() -> None:
    with demo_server() as served:
        program = watching(served.url)
        assert program.stdout is not None
        assert "running" in program.stdout.readline()
    _, errors = program.communicate()
    assert program.returncode == 3
    assert "no server answers" in errors
