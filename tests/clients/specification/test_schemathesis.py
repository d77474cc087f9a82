"""The server's own OpenAPI document: valid, and kept to under requests that are made from it."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.clients.cases import ABSENT

SETTINGS = Path(__file__).with_name("schemathesis.toml")
BOUND = 1500
"""Seconds for all requests; the ten thousand take three minutes on two idle processors."""

openapi_spec_validator: Any = pytest.importorskip("openapi_spec_validator", reason=ABSENT)


def test_the_document_is_valid(server: str) -> None:
    with urllib.request.urlopen(f"{server}/openapi.json") as response:
        openapi_spec_validator.validate(json.load(response))


@pytest.mark.timeout(BOUND)
def test_requests_made_from_the_document_are_answered_as_it_says(
    server: str, tmp_path: Path
) -> None:
    program = Path(sys.executable).with_name("schemathesis")
    command = [program, "--config-file", SETTINGS, "run", f"{server}/openapi.json", "--seed", "1"]
    run = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=BOUND
    )
    assert run.returncode == 0, run.stdout[-20_000:] + run.stderr
