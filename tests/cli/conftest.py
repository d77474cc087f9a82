"""Runs the program as a shell would, in this process: importing torch again takes seconds."""

from __future__ import annotations

import io
import logging
import sys
from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

import pytest

from maskwright.cli import main


class Ran(NamedTuple):
    """What a command left behind."""

    returncode: int
    stdout: str
    stderr: str


Run: TypeAlias = Callable[..., Ran]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Iterator[Run]:
    """Run `maskwright` with these arguments; `stdin` is its input. The log is put back after."""
    root, own = logging.getLogger(), logging.getLogger("maskwright")
    before = (root.handlers.copy(), root.level, own.level)

    def maskwright(*arguments: object, stdin: str = "") -> Ran:
        monkeypatch.setattr(sys, "argv", ["maskwright", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        with pytest.raises(SystemExit) as ended:
            main()
        stdout, stderr = capfd.readouterr()
        return Ran(int(ended.value.code or 0), stdout, stderr)

    yield maskwright
    root.handlers[:] = before[0]
    root.setLevel(before[1])
    own.setLevel(before[2])
