"""`--color` and `--quiet`, which every command has."""

from __future__ import annotations

import pty
import subprocess
import sys
from os import close, read

import pytest

from tests.cli.conftest import Run

INTEGER = '{"type": "integer"}'
PROGRAM = (sys.executable, "-m", "maskwright")


@pytest.mark.parametrize(
    ("choice", "variables", "expected"),
    [
        ((), {}, False),  # no terminal
        (("--color", "auto"), {}, False),
        (("--color", "always"), {}, True),
        (("--color", "always"), {"NO_COLOR": "1"}, True),
        (("--color", "never"), {}, False),
    ],
)
def test_colours_are_as_chosen(
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    choice: tuple[str, ...],
    variables: dict[str, str],
    expected: bool,
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    found = run("match", INTEGER, "--text", "x", *choice)
    assert ("\x1b[31m" in found.stdout) is expected


def on_a_terminal(*program: str) -> str:
    """What a program writes where standard output and standard error are a terminal."""
    mine, its = pty.openpty()
    with subprocess.Popen(program, stdin=subprocess.DEVNULL, stdout=its, stderr=its):
        close(its)
        written = b""
        try:
            while part := read(mine, 4096):
                written += part
        except OSError:  # the other side has been closed
            pass
    close(mine)
    return written.decode()


@pytest.mark.parametrize(("choice", "expected"), [("auto", True), ("never", False)])
def test_a_terminal_has_colours_unless_they_are_not_wanted(choice: str, expected: bool) -> None:
    shown = on_a_terminal(*PROGRAM, "match", INTEGER, "--text", "1", "--color", choice)
    assert ("\x1b[32mmatches" in shown) is expected
    assert "matches" in shown


def test_the_choice_of_one_run_does_not_outlast_it(run: Run) -> None:
    assert "\x1b[" in run("match", INTEGER, "--text", "x", "--color", "always").stdout
    assert "\x1b[" not in run("match", INTEGER, "--text", "x").stdout


@pytest.mark.parametrize("flag", ["--quiet", "-q"])
def test_quiet_leaves_remarks_out(run: Run, flag: str) -> None:
    loud, quiet = run("sample", "/a?/"), run("sample", "/a?/", flag)
    assert loud.stdout == quiet.stdout
    assert (loud.stderr, quiet.stderr) == ("seed 0; --seed gives other texts\n", "")


def test_quiet_leaves_errors_and_results(run: Run) -> None:
    found = run("check", "{", "--quiet")
    assert found.returncode == 2
    assert found.stderr.startswith("maskwright: ")
    assert (
        run("match", INTEGER, "--text", "x", "-q").stdout
        == run("match", INTEGER, "--text", "x").stdout
    )


def test_quiet_shows_no_progress_on_a_terminal() -> None:
    slow = "import time; from maskwright.cli.output import appearance, progress; "
    slow += "appearance.choose(appearance.Appearance(quiet={})); "
    slow += "line = progress.progress('working'); line.__enter__(); time.sleep(1.5)"
    assert "working" in on_a_terminal(sys.executable, "-c", slow.format(False))
    assert "working" not in on_a_terminal(sys.executable, "-c", slow.format(True))
