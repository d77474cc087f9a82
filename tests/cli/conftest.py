"""Runs the program as a shell would."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import TypeAlias

import pytest

Run: TypeAlias = Callable[..., "subprocess.CompletedProcess[str]"]

PROGRAM = [sys.executable, "-c", "from maskwright.cli import main; main()"]


@pytest.fixture
def run() -> Run:
    """Run `maskwright` with these arguments; `stdin` is its input."""

    def maskwright(*arguments: object, stdin: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*PROGRAM, *map(str, arguments)],
            input=stdin,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return maskwright
