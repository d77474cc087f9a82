"""`setup.py` on two modules of its own: what is built, when, and with which compiler."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
SUFFIX: str = sysconfig.get_config_var("EXT_SUFFIX")

PROJECT = """
[project]
name = "maskwright"
version = "0"

[tool.setuptools.packages.find]
where = ["src"]
"""
HEAD = """
from maskwright.native cimport BUILT_FROM
from maskwright.native import require_built

require_built(__name__, BUILT_FROM)
"""
INNER = """
cdef extern from "inner.h":
    int one() noexcept nogil


cdef inline int factor() noexcept nogil:
    return 3 * one()
"""
OUTER = f"""{HEAD}
from maskwright.inner cimport factor


def tripled(const int[::1] numbers):
    return [factor() * number for number in numbers]
"""
OTHER = f"""{HEAD}
cdef extern from "other.h":
    int answer()


def value():
    return answer()
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    package = tmp_path / "src" / "maskwright"
    package.mkdir(parents=True)
    shutil.copy(ROOT / "setup.py", tmp_path)
    for name in ("native.pxd", "native.py"):
        shutil.copy(ROOT / "src" / "maskwright" / name, package)
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    for name, text in (
        ("__init__.py", ""),
        ("inner.pxd", INNER),
        ("inner.h", "static int one(void) { return 1; }\n"),
        ("outer.pyx", OUTER),
        ("other.pyx", OTHER),
        ("other.h", "static int answer(void) { return 42; }\n"),
    ):
        (package / name).write_text(text)
    return tmp_path


def build(tree: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "setup.py", "--quiet", "build_ext", "--inplace"],
        cwd=tree,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def asked(tree: Path, question: str = "tripled(array('i', [1, 2])), value()") -> str:
    """What the modules say, or the error at their import."""
    program = (
        "from array import array\n"
        "from maskwright.outer import tripled\n"
        "from maskwright.other import value\n"
        f"print({question})"
    )
    environment = {**os.environ, "PYTHONPATH": str(tree / "src")}
    run = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tree,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return run.stdout.strip() or run.stderr.strip().splitlines()[-1]


def built(tree: Path) -> dict[str, int]:
    """The modules that are there, with the time at which each was compiled."""
    return {
        path.name.partition(".")[0]: path.stat().st_mtime_ns
        for path in (tree / "src").rglob("*" + SUFFIX)
    }


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    stat = path.stat()
    path.write_text(text.replace(old, new))
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))  # nor does its time matter


@pytest.mark.slow
def test_what_changed_is_an_error_until_it_is_built_again(tree: Path) -> None:
    assert build(tree).returncode == 0
    assert asked(tree) == "[3, 6] 42"
    package, before = tree / "src" / "maskwright", built(tree)
    assert before.keys() == {"_cython", "outer", "other"}
    build(tree)
    assert built(tree) == before, "nothing has changed"
    shutil.rmtree(tree / "build")  # as pip removes its own after an editable installation
    build(tree)
    assert built(tree) == before, "nothing has changed"
    for name, old, new, stale, expected in (
        ("inner.pxd", "return 3", "return 5", "outer", "[5, 10] 42"),
        ("inner.h", "return 1", "return 2", "outer", "[10, 20] 42"),
        ("outer.pyx", "factor() * number", "factor() + number", "outer", "[11, 12] 42"),
        ("other.h", "42", "43", "other", "[11, 12] 43"),
    ):
        replace(package / name, old, new)
        assert asked(tree).endswith(
            f"StaleModuleError: maskwright.{stale} was built from other sources than are there "
            "now. Build it again: make build, or python setup.py build_ext --inplace"
        )
        assert build(tree).returncode == 0
        assert asked(tree) == expected
        after = built(tree)
        assert {each for each in after if after[each] != before[each]} == {stale}
        before = after


@pytest.mark.slow
def test_a_module_without_source_does_not_stay(tree: Path) -> None:
    build(tree)
    (tree / "src" / "maskwright" / "other.pyx").unlink()
    assert "StaleModuleError: maskwright.other" in asked(tree)
    build(tree)
    assert built(tree).keys() == {"_cython", "outer"}


@pytest.mark.slow
def test_an_index_out_of_bounds_is_found_in_a_checked_build(tree: Path) -> None:
    replace(
        tree / "src/maskwright/outer.pyx",
        "for number in numbers]",
        "for _ in numbers] + [numbers[9]]",
    )
    replace(tree / "src/maskwright/outer.pyx", "factor() * number", "factor()")
    assert build(tree, MASKWRIGHT_BUILD="checked").returncode == 0
    assert asked(tree).startswith("IndexError")


def test_an_unknown_build_names_the_known_ones(tree: Path) -> None:
    run = build(tree, MASKWRIGHT_BUILD="fast")
    assert run.returncode == 1
    assert "MASKWRIGHT_BUILD is 'fast'; it can be release, checked, sanitized" in run.stderr


def without_compilers(folder: Path) -> str:
    """A search path on which there is Python, but no compiler."""
    folder.mkdir()
    (folder / "python").symlink_to(sys.executable)
    return str(folder)


@pytest.mark.skipif(importlib.util.find_spec("ziglang") is not None, reason="ziglang is installed")
def test_without_a_compiler_it_says_what_to_install(tree: Path, tmp_path: Path) -> None:
    run = build(tree, PATH=without_compilers(tmp_path / "bin"))
    assert run.returncode == 1
    assert "pip install ziglang" in run.stderr


@pytest.mark.skipif(importlib.util.find_spec("ziglang") is None, reason="needs the wheel ziglang")
def test_zig_compiles_where_there_is_no_compiler(tree: Path, tmp_path: Path) -> None:
    run = build(tree, PATH=without_compilers(tmp_path / "bin"))
    assert run.returncode == 0, run.stderr
    assert asked(tree) == "[3, 6] 42"
