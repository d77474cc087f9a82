"""The programs of the README, the guides and the references run as they stand, and print what is
shown.

The blocks of Python of a page run one after the other, as in a session. A block that imports a
library that isn't installed is left out.
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest
from transformers import AutoTokenizer

import maskwright
from maskwright.models import DEMO_PATH
from tests.source_tree import ROOT

GUIDES = sorted((ROOT / "docs" / "guides").glob("*.md"))
BLOCK = re.compile(r"^```python\n(.*?)^```(?:\n\n```\n(.*?)^```)?", re.MULTILINE | re.DOTALL)
IMPORT = re.compile(r"^\s*(?:from|import) (\w+)", re.MULTILINE)
SERVER = "http://127.0.0.1:8000"
"""Programs with this address ask a server: tests/clients/test_documentation.py runs them."""
TOOL = {"type": "function", "function": {"name": "now", "parameters": {"type": "object"}}}
GIVEN: dict[str, dict[str, Any]] = {
    "grammars": {"document": "one two three"},
    "json-schema": {"schema": {"type": "integer"}, "maskwright": maskwright},
    "tags-and-tools": {
        "tag": {"type": "structural_tag", "format": {"type": "any_text"}},
        "tools": [TOOL],
    },
}
"""What the calls on a page of reference are given; it shows their options and no whole program."""


def programs(page: Path) -> list[tuple[str, str]]:
    """Each program of a page that needs no server, and what is shown to be its output."""
    found = BLOCK.findall(page.read_text())
    return [(program, shown) for program, shown in found if SERVER not in program]


PAGES = [page for page in (ROOT / "README.md", *GUIDES) if programs(page)]


def absent(program: str) -> list[str]:
    names = set(IMPORT.findall(program))
    return sorted(name for name in names if importlib.util.find_spec(name) is None)


def run(program: str, page: Path, names: dict[str, Any]) -> None:
    exec(compile(program, str(page), "exec", dont_inherit=True), names)


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_the_programs_of_a_page_print_what_is_shown(
    page: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names: dict[str, Any] = {"__name__": "page"}
    for program, shown in programs(page):
        if not absent(program):
            run(program, page, names)
            assert capsys.readouterr().out == shown


@pytest.mark.parametrize("name", GIVEN)
def test_the_calls_of_a_reference_take_their_options(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("query.lark").write_text('start: "a" | "b"')
    vocab = maskwright.Vocabulary.from_tokenizer(AutoTokenizer.from_pretrained(DEMO_PATH))
    page = ROOT / "docs" / f"{name}.md"
    [(program, _)] = programs(page)
    names = {"vocab": vocab, **GIVEN[name]}
    run(program, page, names)
    assert isinstance(names["grammar"], maskwright.Grammar)


def test_there_are_programs() -> None:
    assert {page.stem for page in PAGES} >= {"README", "other-libraries", "writing-a-grammar"}


def test_only_libraries_that_we_do_not_install_are_left_out() -> None:
    left_out = {name for page in PAGES for program, _ in programs(page) for name in absent(program)}
    assert left_out <= {"outlines", "vllm", "llguidance", "xgrammar"}
