from __future__ import annotations

import gc
import importlib
import importlib.metadata
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from maskwright.cli.program import COMMANDS, described
from tests.bounds import PATIENCE
from tests.cli.conftest import Run


@pytest.mark.parametrize("name", ["check", "serve", "bench serve", "bench"])
def test_help_of_a_command_is_printed_by_its_name(run: Run, name: str) -> None:
    found = run("help", *name.split())
    assert found == run(*name.split(), "--help")
    assert found.returncode == 0
    assert found.stdout.startswith(f"usage: maskwright {name} [OPTIONS]")


def test_help_without_a_command_is_that_of_the_program(run: Run) -> None:
    assert run("help") == run("--help")
    assert run("help", "chek").stderr.endswith("did you mean 'check'?\n")


def test_help_names_every_command(run: Run) -> None:
    shown = run("--help")
    assert shown.returncode == 0
    text = " ".join(shown.stdout.split())
    for name, command in COMMANDS.items():
        assert f" {name} {command.does}" in text


@pytest.mark.parametrize("name", COMMANDS)
def test_help_is_the_docstring_of_the_module(name: str) -> None:
    command = COMMANDS[name]
    module = importlib.import_module(f"{command.package}.cli.{command.module}")
    assert command.about == module.__doc__


@pytest.mark.parametrize(
    "arguments", [("nonsense",), ("check",), ("match", "{}"), ("generate", "{}"), ("--odd",)]
)
def test_misuse_is_exit_code_2_without_a_traceback(run: Run, arguments: tuple[str, ...]) -> None:
    found = run(*arguments)
    assert found.returncode == 2
    assert "Traceback" not in found.stderr
    assert found.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--body-bytes", "0"), "--body-bytes must be greater than 0"),
        (("--cors-origin", "a/b"), "--cors-origin 'a/b': browsers send"),
        (("--otel", "x"), "--otel x: an address"),
    ],
)
def test_settings_are_named_as_options(run: Run, arguments: tuple[str, ...], message: str) -> None:
    found = run("serve", *arguments)
    assert found.returncode == 2
    assert found.stderr.startswith(f"maskwright: {message}")


def test_no_garbage_is_looked_for_while_a_command_is_imported(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    enabled: dict[str, bool] = {}
    real = importlib.import_module

    def import_module(name: str) -> object:
        enabled[name] = gc.isenabled()
        return real(name)

    monkeypatch.setattr("maskwright.cli.program.importlib.import_module", import_module)
    assert run("check", '{"type": "integer"}').returncode == 0
    assert enabled["maskwright.cli.shape.check"] is False
    assert gc.isenabled()


def test_without_a_command_the_help_is_shown_as_a_mistake(run: Run) -> None:
    assert run() == (2, run("--help").stdout, "")


def test_a_misspelt_command_is_reported(run: Run) -> None:
    found = run("chek")
    assert found == (2, "", "maskwright: there is no command 'chek'; did you mean 'check'?\n")


@pytest.mark.parametrize("arguments", [["--help"], ["match", "no-such-shape", "x", "--json"]])
def test_a_reader_that_leaves_ends_the_program_quietly(arguments: list[str]) -> None:
    program = f"import sys; from maskwright.cli import main; sys.argv[1:] = {arguments}; main()"
    run = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert run.stdout is not None
    assert run.stderr is not None
    run.stdout.close()
    with run.stderr as errors:
        assert errors.read() == b""
    assert run.wait() == 141


def test_an_interrupt_ends_the_program_quietly(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("true")
    command = [sys.executable, "-m", "maskwright", "check", "--watch", str(tmp_path / "a.json")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
        assert program.stdout is not None
        assert b"can be used" in program.stdout.readline()
        program.send_signal(signal.SIGINT)
        _, errors = program.communicate(timeout=PATIENCE)
    assert (program.returncode, errors) == (130, b"")


def test_version(run: Run) -> None:
    found = run("--version")
    assert found == run("version")
    assert found.returncode == 0
    assert found.stdout == f"maskwright {importlib.metadata.version('maskwright')}\n"


def test_the_package_can_be_run() -> None:
    command = [sys.executable, "-m", "maskwright", "match", '{"type": "integer"}', "-", "--brief"]
    found = subprocess.run(command, input="12x", capture_output=True, text=True)
    assert (found.returncode, found.stderr) == (1, "")
    assert found.stdout.startswith("-:1:3: this doesn't match\n")


def test_descriptions_stand_beside_the_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    rows = {"a": "Short.", "longer": "Words that take more than one line here."}
    assert described(rows) == (
        "  a       Short.\n  longer  Words that take more than one\n          line here."
    )


def test_nothing_is_nothing() -> None:
    assert described({}) == ""


@pytest.mark.parametrize(
    ("closed", "printed", "code"),
    [("<&-", "the text ends too early", 3), (">&- </dev/null", "", 3), ("2>&- </dev/null", "", 3)],
)
def test_a_standard_stream_may_be_closed(closed: str, printed: str, code: int) -> None:
    """As under some supervisors; Python has None for such a stream."""
    program = "from maskwright.cli import main; main()"
    command = f"exec {sys.executable} -c '{program}' match /a+/ - {closed}"
    done = subprocess.run(
        command, shell=True, capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    assert (done.returncode, done.stderr) == (code, "")
    assert printed in done.stdout
