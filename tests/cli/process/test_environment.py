"""What the command line writes into the environment, and when; and that nothing else does."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from maskwright.cli.process.environment import MKL_MODE, prepare_environment

PACKAGE = Path(__file__).resolve().parents[3] / "src" / "maskwright"
STARTED = """
import os, sys
from maskwright.cli import program
program.app = lambda **_: print(os.environ.get("MKL_CBWR"), "torch" in sys.modules)
program.main()
"""
"""The command line, with a look at the process in the place of a subcommand."""


def test_a_value_that_the_user_has_set_stays() -> None:
    environment = {"MKL_CBWR": "COMPATIBLE"}
    prepare_environment(environment)
    assert environment == {"MKL_CBWR": "COMPATIBLE"}
    environment = {"PATH": "/bin"}
    prepare_environment(environment)
    assert environment == {"PATH": "/bin", "MKL_CBWR": "AUTO,STRICT"}


@pytest.mark.parametrize(("given", "found"), [(None, MKL_MODE), ("AVX2,STRICT", "AVX2,STRICT")])
def test_the_program_prepares_it_before_torch_is_loaded(given: str | None, found: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "MKL_CBWR"}
    if given is not None:
        environment["MKL_CBWR"] = given
    ran = subprocess.run(
        [sys.executable, "-c", STARTED], capture_output=True, text=True, check=True, env=environment
    )
    assert ran.stdout.split() == [found, "False"]


def test_these_tests_run_as_the_program_does() -> None:
    """`tests/conftest.py` prepares the environment too; a value from outside stays."""
    assert "MKL_CBWR" in os.environ


def test_only_the_command_line_writes_the_environment() -> None:
    """So importing the library changes nothing in the process of its user, although it may read
    where that keeps its caches."""
    reading = re.compile(r"environ\.get\(|getenv\(")
    naming = re.compile("environ\\b|getenv|putenv|unsetenv")
    writing = {
        path.relative_to(PACKAGE)
        for path in PACKAGE.rglob("*.py")
        if naming.search(reading.sub("", path.read_text()))
    }
    assert writing == {Path("cli/process/environment.py")}
