"""Which Python the newest releases are tried under, and what is installed there."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tools import newest_python
from tools.newest_python import asked, candidates, needed, newest


def python(folder: Path, name: str, answer: str) -> Path:
    """A program that answers as a Python does when it is asked for its version."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{answer}\n")
    path.chmod(0o755)
    return path


def test_the_newest_that_can_be_used_is_taken(tmp_path: Path) -> None:
    old = python(tmp_path, "python3.10", "echo 3 10 final")
    some = python(tmp_path, "python3.12", "echo 3 12 final")
    best = python(tmp_path, "python3.14", "echo 3 14 final")
    early = python(tmp_path, "python3.15", "echo 3 15 alpha")
    broken = python(tmp_path, "python3.16", "exit 1")
    assert newest([old, best, some, early, broken, tmp_path / "gone"]) == ((3, 14), best)
    assert newest([old, some]) == ((3, 12), some)
    assert newest([old, early, broken]) is None
    assert newest([]) is None


def test_this_python_is_one() -> None:
    version = (sys.version_info.major, sys.version_info.minor)
    assert asked(Path(sys.executable)) == version


def test_pythons_are_found_on_the_path_and_among_those_of_pyenv(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_path = tmp_path / "bin"
    of_pyenv = tmp_path / "pyenv" / "versions" / "3.13.0" / "bin"
    for folder in (on_path, of_pyenv):
        folder.mkdir(parents=True)
    names = ("python3", "python3.13", "python3.13-config", "python3-pip", "python2.7")
    for name in names:
        python(on_path, name, "")
        python(of_pyenv, name, "")
    monkeypatch.setenv("PATH", f"{on_path}:{tmp_path / 'missing'}:")
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    expected = {folder / name for folder in (on_path, of_pyenv) for name in names[:2]}
    assert set(candidates()) == expected


def test_all_but_torch_is_needed_first() -> None:
    names = {requirement.split(">")[0] for requirement in needed()}
    assert {"numpy", "tokenizers", "transformers"} <= names
    assert newest_python.TORCH not in names


def test_it_says_when_no_time_was_left_for_torch(capsys: pytest.CaptureFixture[str]) -> None:
    newest_python._install_torch(["no program"], -2.0)
    assert capsys.readouterr().out == "no time was left to install torch\n"
