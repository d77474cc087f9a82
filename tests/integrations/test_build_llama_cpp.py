"""Building llama-cpp-python for its tests: what is said where that can't be, and what is kept."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tools import build_llama_cpp as tool


@pytest.fixture(autouse=True)
def commands(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[list[str]]:
    """The commands that are run. The one that builds leaves a wheel in the folder of its option."""
    ran: list[list[str]] = []

    def run(command: list[str], **options: Any) -> None:
        assert options["check"]
        ran.append(command)
        if "wheel" in command:
            assert "-DCMAKE_PROJECT_INCLUDE=" in options["env"]["CMAKE_ARGS"]
            folder = Path(command[command.index("--wheel-dir") + 1])
            (folder / "llama_cpp_python-1-py3-none-any.whl").write_text("made")

    monkeypatch.setattr(tool, "installed", lambda: None)
    monkeypatch.setattr(tool, "user_cache", lambda: tmp_path / "cache")
    monkeypatch.setattr(tool, "compiler", lambda: "c++")
    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr(sys, "argv", ["build_llama_cpp.py"])
    return ran


def test_a_wheel_is_built_once(commands: list[list[str]], tmp_path: Path) -> None:
    """Without pip's cache, which would give it to other projects."""
    assert tool.main() == 0
    build, install = commands
    assert "--no-cache-dir" in build
    assert f"llama_cpp_python=={tool.wanted()}" in build
    [wheel] = (tmp_path / "cache").rglob("*.whl")
    assert wheel.read_text() == "made"
    assert str(wheel) in install
    assert "gguf" in install
    assert tool.main() == 0
    assert commands[2:] == [install]


def test_without_a_compiler_nothing_is_built(
    commands: list[list[str]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tool, "compiler", lambda: None)
    assert tool.main() == 1
    assert commands == []
    assert "needs a C++ compiler" in capsys.readouterr().err


def test_a_build_that_fails_is_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def fail(command: list[str], **options: Any) -> None:
        raise subprocess.CalledProcessError(1, command)

    monkeypatch.setattr(subprocess, "run", fail)
    assert tool.main() == 1
    assert "could not be installed" in capsys.readouterr().err
    assert not list(tmp_path.rglob("*.whl"))


def test_what_is_installed_already_stays(
    commands: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tool, "installed", tool.wanted)
    assert tool.main() == 0
    assert commands == []
