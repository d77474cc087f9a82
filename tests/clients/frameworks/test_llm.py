"""Simon Willison's `llm`: the command with a schema and with tools, as its users run it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.clients.cases import ABSENT, MODEL, QUESTION, TEXT, Person

llm: Any = pytest.importorskip("llm", reason=ABSENT)

FUNCTION = "def get_weather(city: str) -> str:\n    return f'{city}: rain'\n"


@pytest.fixture
def folder(tmp_path: Path, url: str) -> Path:
    """The library's folder, in which its users name a server."""
    fields = {"model_id": "demo", "model_name": MODEL, "api_base": url, "supports_schema": True}
    lines = [f"{name}: {json.dumps(value)}" for name, value in fields.items()]
    text = "- " + "\n  ".join([*lines, "supports_tools: true"]) + "\n"
    (tmp_path / "extra-openai-models.yaml").write_text(text)
    return tmp_path


def run(folder: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "llm", "-m", "demo", "--key", "none", *arguments]
    variables = {**os.environ, "LLM_USER_PATH": str(folder)}
    ended = subprocess.run(command, capture_output=True, text=True, env=variables, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_plain_text(folder: Path) -> None:
    assert run(folder, "Hello!").strip()
    assert run(folder, "--no-stream", "Hello!").strip()


def test_a_schema(folder: Path) -> None:
    schema = json.dumps(Person.model_json_schema())
    Person.model_validate_json(run(folder, "--schema", schema, TEXT))


def test_the_librarys_short_form_of_a_schema(folder: Path) -> None:
    found = json.loads(run(folder, "--schema", "name, age int", "-o", "temperature", "0", TEXT))
    assert set(found) == {"name", "age"}
    assert type(found["age"]) is int


def test_a_tool_is_called_with_arguments_that_it_takes(folder: Path) -> None:
    """The library asks under `auto` until an answer is no call; the demo model may never stop."""
    options = ("--functions", FUNCTION, "--td", "--chain-limit", "3", "-o", "temperature", "0")
    command = [sys.executable, "-m", "llm", "-m", "demo", "--key", "none", *options, QUESTION]
    variables = {**os.environ, "LLM_USER_PATH": str(folder)}
    ended = subprocess.run(command, capture_output=True, text=True, env=variables, check=False)
    assert ended.returncode == 0 or "Chain limit" in ended.stderr, ended.stderr
    [called] = set(re.findall(r"Tool call: (\w+)", ended.stderr)) or {"get_weather"}
    assert called == "get_weather"
    assert "rain" in ended.stderr or ended.stdout.strip()
