"""The wheel holds what the tree holds: code, typing marker, kernels, grammars, schemas, model.

setuptools leaves out silently whatever no pattern in pyproject.toml names, so the wheel's names are
compared with the tracked files, not with a list kept by hand.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
EXT_SUFFIX: str = sysconfig.get_config_var("EXT_SUFFIX")
LINKED = ("kernels", "grammars", "schemas")


def tracked(*folders: str) -> list[str]:
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *folders],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return [name for name in listing.split("\0") if name and (ROOT / name).is_file()]


def extension_modules() -> set[str]:
    """Their files, below src/."""
    sources = [name for name in tracked("src") if name.endswith(".pyx")]
    names = [name.removeprefix("src/").removesuffix(".pyx") for name in sources]
    return {name + EXT_SUFFIX for name in [*names, "maskwright/_cython"]}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """Built from a copy, so that neither a stale build/ nor a parallel run can interfere. What is
    compiled already is not compiled again (`make smoke` installs a copy where nothing is)."""
    source = tmp_path_factory.mktemp("source")
    for name in tracked(
        "pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE", "src", *LINKED
    ):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, source / name)
    for name in LINKED:
        (source / "src" / "maskwright" / name).symlink_to(f"../../{name}")
    built = source / "build" / f"lib.{sysconfig.get_platform()}-{sys.implementation.cache_tag}"
    for name in extension_modules():
        (built / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / "src" / name, built / name)
    out = tmp_path_factory.mktemp("wheel")
    offline = ["--no-index", "--no-deps", "--no-build-isolation"]
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", *offline, "--wheel-dir", str(out), str(source)],
        check=True,
        capture_output=True,
        timeout=600,
    )
    (path,) = out.glob("maskwright-*.whl")
    return zipfile.ZipFile(path)


@pytest.mark.parametrize("name", LINKED)
def test_the_folder_is_linked_into_the_package(name: str) -> None:
    link = ROOT / "src" / "maskwright" / name
    assert link.is_symlink()
    assert str(link.readlink()) == f"../../{name}"
    assert not (link / "__init__.py").exists()
    assert (link / "README.md").is_file()


def test_the_wheel_holds_the_tree(wheel: zipfile.ZipFile) -> None:
    expected = {name.removeprefix("src/") for name in tracked("src") if name.count("/") > 1}
    expected |= {f"maskwright/{name}" for name in tracked(*LINKED)}
    expected = {name for name in expected if not name.endswith((".pyx", ".pxd", ".pxi", ".h"))}
    expected |= extension_modules()
    packed = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert packed == expected
    assert "maskwright/py.typed" in packed


def test_the_wheel_names_its_command_and_licence(wheel: zipfile.ZipFile) -> None:
    (info,) = {name.split("/")[0] for name in wheel.namelist() if ".dist-info/" in name}
    entry_points = wheel.read(f"{info}/entry_points.txt").decode()
    assert "maskwright = maskwright.cli:main" in entry_points
    assert f"{info}/licenses/LICENSE" in wheel.namelist()
