"""The programs of the guides run as they stand, and print what is shown.

The blocks of Python of a page run one after the other, as in a session. A block that imports a
library that isn't installed is left out.
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest

from tests.source_tree import ROOT

GUIDES = sorted((ROOT / "docs" / "guides").glob("*.md"))
BLOCK = re.compile(r"^```python\n(.*?)^```(?:\n\n```\n(.*?)^```)?", re.MULTILINE | re.DOTALL)
IMPORT = re.compile(r"^\s*(?:from|import) (\w+)", re.MULTILINE)
SERVER = "http://127.0.0.1:8000"
"""Programs with this address ask a server: tests/clients/test_documentation.py runs them."""


def programs(page: Path) -> list[tuple[str, str]]:
    """Each program of a page that needs no server, and what is shown to be its output."""
    found = BLOCK.findall(page.read_text())
    return [(program, shown) for program, shown in found if SERVER not in program]


PAGES = [page for page in GUIDES if programs(page)]


def absent(program: str) -> list[str]:
    names = set(IMPORT.findall(program))
    return sorted(name for name in names if importlib.util.find_spec(name) is None)


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_the_programs_of_a_guide_print_what_is_shown(
    page: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names: dict[str, Any] = {"__name__": "guide"}
    for program, shown in programs(page):
        if not absent(program):
            exec(compile(program, str(page), "exec", dont_inherit=True), names)
            assert capsys.readouterr().out == shown


def test_there_are_programs() -> None:
    assert {page.stem for page in PAGES} >= {"other-libraries", "writing-a-grammar"}


def test_only_libraries_that_we_do_not_install_are_left_out() -> None:
    left_out = {name for page in PAGES for program, _ in programs(page) for name in absent(program)}
    assert left_out <= {"outlines", "vllm", "llguidance", "xgrammar"}
