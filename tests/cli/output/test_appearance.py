"""`--color` and `--quiet`, which every command has."""

from __future__ import annotations

import pty
import subprocess
import sys
from os import close, read
from threading import Event

import pytest

from maskwright.cli.output import progress
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
    shown = on_a_terminal(*PROGRAM, "match", INTEGER, "--text", "1", "--color", choice, "-q")
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


@pytest.mark.parametrize("columns", [40, 60, 200])
def test_excerpts_are_cut_to_the_terminal(monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    """And the caret stands under the fault, wherever in the line that is."""
    monkeypatch.setenv("COLUMNS", str(columns))
    for before in (0, 30, 100, 300):
        text = f'["{"a" * before}", x{", 1" * 100}]'
        shown = on_a_terminal(
            *PROGRAM,
            "match",
            '{"type": "array"}',
            "--text",
            text,
            "--brief",
            "--color",
            "never",
            "-q",
        )
        _, excerpt, caret, *_ = shown.splitlines()
        assert len(excerpt) <= columns
        assert excerpt[caret.index("^")] == "x"


@pytest.mark.parametrize(
    ("command", "line"),
    [
        (("sample", "{slow}"), "looking for a text"),
        (("diff", "{slow}", "{slow}"), "comparing the shapes"),
        (("match", "{slow}", "--text", "x"), "looking for reasons"),
        (("convert", "{slow}", "--to", "gbnf"), "converting"),
        (("draw", "{slow}"), "drawing"),
        (("check", "{slow}"), "looking for mistakes"),
        (("trace", "{slow}", "--text", "1"), "following the text"),
    ],
)
def test_whatever_may_take_long_says_what_it_does(
    run: Run, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...], line: str
) -> None:
    """Each step of a command begins with a line of its own, which is shown once it takes longer."""
    begun: list[str] = []

    class Line:
        def __init__(self, doing: str) -> None:
            begun.append(doing)
            self.done = Event()

        def paint(self) -> None: ...

        def tell(self, doing: str) -> None: ...

    monkeypatch.setattr(progress, "shows_progress", lambda: True)
    monkeypatch.setattr(progress, "_Line", Line)
    run(*(argument.replace("{slow}", INTEGER) for argument in command))
    assert line in begun
