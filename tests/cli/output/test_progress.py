"""The line about what a command is doing: on a terminal only, and gone after it."""

from __future__ import annotations

import io
import time
from contextlib import redirect_stderr

import pytest

from maskwright.cli.output import progress as module
from maskwright.cli.output.progress import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def waited_for(terminal: Terminal, text: str) -> bool:
    """Whether a text is written within some seconds."""
    end = time.monotonic() + 10
    while text not in terminal.getvalue() and time.monotonic() < end:
        time.sleep(0.005)
    return text in terminal.getvalue()


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(module, "MOMENT_S", 0.01)
    monkeypatch.setattr(module, "PERIOD_S", 0.01)


def test_what_is_done_is_shown_and_cleared() -> None:
    terminal = Terminal()
    with redirect_stderr(terminal), progress("loading") as tell:
        assert waited_for(terminal, "\rloading … 0 s\x1b[K")
        tell("round 2")
        assert waited_for(terminal, "\rround 2 … 0 s\x1b[K")
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_the_line_is_cleared_after_an_error() -> None:
    terminal = Terminal()

    def fail() -> None:
        with redirect_stderr(terminal), progress("loading"):
            assert waited_for(terminal, "loading")
            raise ValueError("wrong")

    with pytest.raises(ValueError, match="wrong"):
        fail()
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_what_takes_a_moment_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOMENT_S", 60)
    terminal = Terminal()
    with redirect_stderr(terminal), progress("loading"):
        pass
    assert terminal.getvalue() == ""


@pytest.mark.parametrize("stderr", [io.StringIO(), Terminal()])
def test_nothing_is_written_where_no_line_can_be_cleared(
    stderr: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "dumb" if stderr.isatty() else "xterm")
    with redirect_stderr(stderr), progress("loading") as tell:
        tell("more")
        time.sleep(0.05)  # longer than a moment, as set here
    assert stderr.getvalue() == ""
