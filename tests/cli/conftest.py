"""Runs the program as a shell would, in this process: importing torch again takes seconds."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import pytest

from maskwright.cli import main


@dataclass(frozen=True)
class Ran:
    """What a command left behind."""

    returncode: int
    stdout: str
    stderr: str


Run: TypeAlias = Callable[..., Ran]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Run `maskwright` with these arguments; `stdin` is its input."""

    def maskwright(*arguments: object, stdin: str = "") -> Ran:
        monkeypatch.setattr(sys, "argv", ["maskwright", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        with pytest.raises(SystemExit) as ended:
            main()
        stdout, stderr = capfd.readouterr()
        return Ran(int(ended.value.code or 0), stdout, stderr)

    return maskwright
