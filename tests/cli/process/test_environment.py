"""What the command line writes into the environment, and when; and that nothing else does."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from maskwright.cli.process.environment import MKL_MODE, prepare_environment

PACKAGE = Path(__file__).resolve().parents[3] / "src" / "maskwright"
STARTED = """
import os, sys
from functools import partial
from pathlib import Path
from maskwright.cli import program
from maskwright.cli.process.environment import prepare_environment
program.prepare_environment = partial(prepare_environment, processors=Path("{processors}"))
program._run = lambda _: print(os.environ.get("MKL_CBWR"), "torch" in sys.modules) or 0
program.main()
"""
"""The command line on a processor of Intel's, with a look at the process in the place of a
subcommand."""


@pytest.fixture
def processors(tmp_path: Path) -> Callable[[str], Path]:
    """A file that names the vendor of the processors, as Linux writes it."""

    def write(vendor: str) -> Path:
        path = tmp_path / vendor
        path.write_text(f"processor\t: 0\nvendor_id\t: {vendor}\ncpu family\t: 6\n")
        return path

    return write


def prepared(given: dict[str, str], processors: Path) -> dict[str, str]:
    environment = dict(given)
    prepare_environment(environment, processors)
    return environment


def test_the_strict_mode_is_asked_for_on_intel_processors(
    processors: Callable[[str], Path], tmp_path: Path
) -> None:
    intel, other = processors("GenuineIntel"), processors("AuthenticAMD")
    assert prepared({"PATH": "/bin"}, intel) == {"PATH": "/bin", "MKL_CBWR": "AUTO,STRICT"}
    assert prepared({"PATH": "/bin"}, other) == {"PATH": "/bin"}
    assert prepared({"PATH": "/bin"}, tmp_path / "missing") == {"PATH": "/bin"}


def test_a_value_that_the_user_has_set_stays(processors: Callable[[str], Path]) -> None:
    assert prepared({"MKL_CBWR": "OFF"}, processors("GenuineIntel")) == {"MKL_CBWR": "OFF"}


@pytest.mark.parametrize("given", [None, "AVX2,STRICT"])
def test_the_program_prepares_it_before_torch_is_loaded(
    given: str | None, processors: Callable[[str], Path]
) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "MKL_CBWR"}
    if given is not None:
        environment["MKL_CBWR"] = given
    program = STARTED.format(processors=processors("GenuineIntel"))
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment
    )
    assert ran.stdout.split() == [given or MKL_MODE, "False"]


def test_only_the_command_line_writes_the_environment() -> None:
    """So importing the library changes nothing in the process of its user, although it may read
    where that keeps its caches, and give a process that it starts a copy of its own."""
    reading = re.compile(r"environ\.(get|items)\(|getenv\(|\*\*os\.environ\b")
    naming = re.compile("environ\\b|getenv|putenv|unsetenv")
    writing = {
        path.relative_to(PACKAGE)
        for path in PACKAGE.rglob("*.py")
        if naming.search(reading.sub("", path.read_text()))
    }
    assert writing == {Path("cli/process/environment.py")}
