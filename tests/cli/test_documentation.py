"""What docs/command-line.md shows is what the program prints."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.source_tree import ROOT

DOCUMENT = ROOT / "docs" / "command-line.md"
CUT = "…"


def examples() -> list[tuple[str, list[str], int]]:
    """Each command of a `console` block, the lines shown below it, and its exit code."""
    found: list[tuple[str, list[str], int]] = []
    for block in re.findall(r"```console\n(.*?)```", DOCUMENT.read_text(), re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *lines = part.rstrip("\n").split("\n")
            code = 0
            if lines and (ended := re.fullmatch(r"\[exit code (\d+)\]", lines[-1])):
                code = int(ended[1])
                lines.pop()
            found.append((command, lines, code))
    return found


@pytest.mark.parametrize(
    ("command", "lines", "code"), examples(), ids=[command for command, _, _ in examples()]
)
def test_a_command_prints_what_is_shown(
    run: Run,
    command: str,
    lines: list[str],
    code: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    program, *arguments = shlex.split(command)
    assert program == "maskwright"
    found = run(*arguments)
    printed = (found.stdout + found.stderr).rstrip("\n").split("\n")
    if lines and lines[-1] == CUT:
        lines = lines[:-1]
        printed = printed[: len(lines)]
    assert printed == lines
    assert found.returncode == code


def files() -> dict[str, str]:
    """The files that the document shows: a block after a line that names one in bold."""
    pattern = r"\*\*`([\w.-]+)`\*\*:?\n\n```\w*\n(.*?)```"
    return dict(re.findall(pattern, DOCUMENT.read_text(), re.DOTALL))


FILES = files()


def test_there_are_files_and_examples() -> None:
    assert len(FILES) >= 2
    assert len(examples()) >= 3
