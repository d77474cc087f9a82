from __future__ import annotations

import importlib
import importlib.metadata
import subprocess
import sys

import pytest

from maskwright.cli.program import COMMANDS
from tests.cli.conftest import Run


def test_help_names_every_command(run: Run) -> None:
    shown = run("--help")
    assert shown.returncode == 0
    for name, told in COMMANDS.items():
        assert name in shown.stdout
        assert told.split(",")[0] in shown.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_the_literal_says_what_the_module_says(name: str) -> None:
    module = importlib.import_module(f"maskwright.cli.{name}")
    assert (module.__doc__ or "").splitlines()[0] == COMMANDS[name]


@pytest.mark.parametrize(
    "arguments", [("nonsense",), ("check",), ("check", "{}"), ("generate", "{}"), ("--odd",)]
)
def test_misuse_is_exit_code_2_without_a_traceback(run: Run, arguments: tuple[str, ...]) -> None:
    found = run(*arguments)
    assert found.returncode == 2
    assert "Traceback" not in found.stderr
    assert found.stderr


def test_check_starts_without_torch_and_the_server() -> None:
    script = (
        "import sys, maskwright.cli.check\n"
        "print([name for name in ('torch', 'transformers', 'fastapi') if name in sys.modules])"
    )
    found = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "[]"


def test_version(run: Run) -> None:
    found = run("--version")
    assert found.returncode == 0
    assert found.stdout == f"maskwright {importlib.metadata.version('maskwright')}\n"


def test_the_package_can_be_run() -> None:
    command = [sys.executable, "-m", "maskwright", "check", '{"type": "integer"}', "-"]
    found = subprocess.run(command, input="12x", capture_output=True, text=True)
    assert (found.returncode, found.stderr) == (1, "")
    assert found.stdout.startswith("-:1:3: this doesn't match\n")
