"""Runs tests of libraries of Node.js, whose packages are in the folder of this environment."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.clients.cases import ABSENT


def run_script(script: str, packages: list[str], url: str) -> str:
    """What a program of Node.js writes; skips the test where a package is not installed. The
    program is given as text, so that it finds the packages of the environment and not those of
    the folder in which it stands."""
    folder = Path(sys.prefix)
    absent = [name for name in packages if not (folder / "node_modules" / name).exists()]
    if absent or shutil.which("node") is None:
        pytest.skip(f"{', '.join(absent) or 'node'}: {ABSENT}")
    run = subprocess.run(
        ["node", "--input-type=module", "-"],
        input=script,
        cwd=folder,
        env={**os.environ, "MASKWRIGHT_BASE": url},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def run_tests(name: str, package: str, url: str) -> None:
    """Run the tests of a file of this folder; fails with their report if one of them fails."""
    report = run_script(Path(__file__).with_name(name).read_text(), [package], url)
    assert "# fail 0" in report
    assert "# pass 0" not in report
