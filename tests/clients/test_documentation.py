"""What docs/clients.md shows runs as written, against the server, and prints what is shown.

A block whose library is not installed is skipped.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.clients.cases import ABSENT

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "clients.md"
SECTION = re.compile(r"^## (.+?)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
EXAMPLE = re.compile(r"```python\n(.*?)```\n\n```\n(.*?)```", re.DOTALL)
SHOWN = "http://127.0.0.1:8000"
"""The address of the server in the document."""

EXAMPLES = [
    pytest.param(program, shown, id=f"{heading}-{number}")
    for heading, text in SECTION.findall(DOCUMENT.read_text())
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


def test_every_block_is_an_example() -> None:
    blocks = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)
    assert blocks == [example.values[0] for example in EXAMPLES]
    assert blocks


def test_an_example_has_about_ten_lines() -> None:
    lines = {str(example.id): str(example.values[0]).count("\n") for example in EXAMPLES}
    assert {name: count for name, count in lines.items() if count > 16} == {}
