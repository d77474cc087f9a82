"""What the documents show of clients runs as written, against the server, and prints what is shown.

A block whose library is not installed is skipped.
"""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.clients.cases import ABSENT
from tests.clients.node.scripts import run_script

DOCUMENTS = Path(__file__).resolve().parents[2] / "docs"
PAGES = ("clients.md", "tutorial.md", "guides/calling-tools.md")
SECTION = re.compile(r"^## (.+?)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
EXAMPLE = re.compile(r"```python\n(.*?)```\n\n```\n(.*?)```", re.DOTALL)
NODE = re.compile(r"```javascript\n(.*?)```\n\n```\n(.*?)```", re.DOTALL)
REQUEST = re.compile(r"curl -s (\S+) .*?-d '([^'…]*)'\n.*?```json\n(.*?)```", re.DOTALL)
FROM_FILE = """'"$(cat order.json)"'"""
"""What puts a file into the body of a request, in a shell."""
MOST_LINES = 16
SHOWN = "http://127.0.0.1:8000"
"""The address of the server in the documents."""
CHANGING = ("id", "created", "system_fingerprint")
"""Fields of an answer that differ from time to time, or from one installation to another."""

EXAMPLES = [
    pytest.param(program, shown, id=f"{page}: {heading}-{number}")
    for page in PAGES
    for heading, text in SECTION.findall((DOCUMENTS / page).read_text())
    for number, (program, shown) in enumerate(EXAMPLE.findall(text), 1)
]


@pytest.mark.parametrize(("program", "shown"), EXAMPLES)
def test_an_example_prints_what_is_shown(server: str, program: str, shown: str) -> None:
    libraries = set(re.findall(r"^(?:from|import) (\w+)", program, re.MULTILINE))
    if absent := sorted(name for name in libraries if importlib.util.find_spec(name) is None):
        pytest.skip(f"{', '.join(absent)}: {ABSENT}")
    assert SHOWN in program
    run = subprocess.run(
        [sys.executable, "-c", program.replace(SHOWN, server)],
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout == shown


@pytest.mark.parametrize(("program", "shown"), NODE.findall((DOCUMENTS / "clients.md").read_text()))
def test_an_example_of_javascript_prints_what_is_shown(
    server: str, program: str, shown: str
) -> None:
    imported = re.findall(r'from "((?:@[\w-]+/)?[\w-]+)', program)
    assert SHOWN in program
    assert program.count("\n") <= MOST_LINES
    assert run_script(program.replace(SHOWN, server), imported, server) == shown


@pytest.mark.parametrize("page", PAGES)
def test_every_block_is_an_example(page: str) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (DOCUMENTS / page).read_text(), re.DOTALL)
    examples = [each.values[0] for each in EXAMPLES if str(each.id).startswith(page)]
    assert blocks == examples
    assert blocks


def test_an_example_has_about_ten_lines() -> None:
    lines = {
        str(example.id): str(example.values[0]).count("\n")
        for example in EXAMPLES
        if str(example.id).startswith("clients.md")
    }
    assert lines
    assert {name: count for name, count in lines.items() if count > MOST_LINES} == {}


def without_changing(answer: dict[str, Any]) -> dict[str, Any]:
    """The fields of an answer that are equal each time."""
    kept = {name: value for name, value in answer.items() if name not in CHANGING}
    usage = {name: n for name, n in answer["usage"].items() if name != "prompt_tokens_details"}
    return {**kept, "usage": usage}  # the details tell what earlier requests left in the cache


def answered(server: str, address: str, body: str) -> dict[str, Any]:
    """What the server answers to a request that the documents send to `address`."""
    request = urllib.request.Request(
        address.replace(SHOWN, server), body.encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=200) as answer:
        return json.load(answer)


def test_the_first_request_has_the_answer_that_is_shown(server: str) -> None:
    [(address, body, shown)] = REQUEST.findall((DOCUMENTS / "tutorial.md").read_text())
    read = answered(server, address, body)
    assert without_changing(read) == without_changing(json.loads(shown))


def test_the_request_of_the_readme_has_the_message_that_is_shown(server: str) -> None:
    text = (DOCUMENTS.parent / "README.md").read_text()
    [schema] = re.findall(r"\*\*`order.json`\*\*:\n\n```json\n(.*?)```", text, re.DOTALL)
    [(address, body)] = re.findall(r"curl -s (\S+) .*?-d '(.*?)'\n```", text, re.DOTALL)
    [shown] = re.findall(r"message of the answer is `(.*?)`", text)
    assert body.count(FROM_FILE) == 1
    read = answered(server, address, body.replace(FROM_FILE, schema))
    assert read["choices"][0]["message"]["content"] == shown
