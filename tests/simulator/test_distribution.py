"""The simulator is a distribution of its own: its wheel, its version, and Maskwright without it."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

from maskwright.cli import main
from maskwright.cli.program import COMMANDS, SIMULATOR
from maskwright.version import VERSION
from tests.source_tree import ROOT, modules, tracked

FOLDER = ROOT / "simulator"
OWN = [name for name, command in COMMANDS.items() if command.package == SIMULATOR]


def project(folder: Path) -> dict[str, Any]:
    return tomllib.loads((folder / "pyproject.toml").read_text())["project"]


def test_it_runs_the_maskwright_of_its_version() -> None:
    assert project(FOLDER)["version"] == VERSION
    assert project(FOLDER)["dependencies"] == [f"maskwright=={VERSION}"]


def test_the_wheel_holds_the_tree(tmp_path: Path) -> None:
    source = shutil.copytree(
        FOLDER, tmp_path / "source", ignore=shutil.ignore_patterns("*.egg-info", "build")
    )
    offline = ["--no-index", "--no-deps", "--no-build-isolation"]
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", *offline, "--wheel-dir", str(tmp_path), str(source)],
        check=True,
        capture_output=True,
    )
    (path,) = tmp_path.glob("maskwright_sim-*.whl")
    names = zipfile.ZipFile(path).namelist()
    held = {str(each.relative_to(FOLDER / "src")) for each in tracked("simulator/src")}
    assert {name for name in names if ".dist-info/" not in name} == held
    assert "maskwright_sim/py.typed" in held
    assert [name for name in names if name.endswith("/licenses/LICENSE")]


def test_nothing_of_maskwright_imports_it() -> None:
    importing = [
        module.name
        for module in modules()
        if (
            not module.name.startswith(SIMULATOR)
            and f"import {SIMULATOR}" in (text := module.path.read_text())
        )
        or f"from {SIMULATOR}" in text
    ]
    assert importing == []


@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize("given", ["--help", "scenario.toml"])
def test_without_it_its_commands_say_how_to_install_it(
    name: str, given: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, SIMULATOR, None)
    monkeypatch.setattr(sys, "argv", ["maskwright", name, given])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    stdout, stderr = capsys.readouterr()
    assert stdout == ""
    assert stderr == (
        "maskwright: this command is part of maskwright-sim, which isn't installed; in a clone of "
        "Maskwright's repository: pip install ./simulator\n"
    )


def test_without_it_a_shell_completes_all_other_commands(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["maskwright", "completion", "fish"])
    shown: list[str] = []
    for there in (True, False):
        if not there:
            monkeypatch.setitem(sys.modules, SIMULATOR, None)
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 0
        shown.append(capsys.readouterr().out)
    with_it, without = shown
    assert OWN == ["place", "simulate"]
    assert all(f" {name} " in with_it for name in OWN)
    assert not any(f" {name} " in without for name in OWN)
    assert " serve " in without
