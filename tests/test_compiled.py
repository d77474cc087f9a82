"""Machine code is kept between processes, and never used where it is out of date."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from numba.core import config
from numba.core.dispatcher import Dispatcher

import maskwright
from maskwright import compiled as face
from maskwright.compiled import UNUSED, code_digest, compiled
from tests.source_tree import modules

SOURCES = Path(maskwright.__file__).parent

INNER = """
from typing import NamedTuple
import numpy as np
from maskwright.compiled import compiled

FACTOR = 2

class Pair(NamedTuple):
    first: int
    second: int

@compiled
def called(number):
    return number + 1

@compiled(inline="always")
def inlined(number):
    return number + 3

@compiled
def with_constant(number):
    return number * FACTOR
"""

OUTER = """
import sys
from toy.inner import Pair, called, inlined, with_constant
from maskwright.compiled import compiled

@compiled
def calls(number):
    return called(number)

@compiled
def inlines(number):
    return inlined(number)

@compiled
def has_constant(number):
    return with_constant(number)

@compiled
def reads(pair):
    return pair.first

functions = (calls, inlines, has_constant, reads)
print(calls(10), inlines(10), has_constant(10), reads(Pair(first=5, second=6)))
print(*(sum(each.stats.cache_hits.values()) for each in functions))
"""


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    package = tmp_path / "toy"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "inner.py").write_text(INNER)
    (package / "outer.py").write_text(OUTER)
    return tmp_path


def start(
    program: str, folder: Path, cache: Path, sources: Path = SOURCES.parent
) -> subprocess.Popen[str]:
    environment = {
        **os.environ,
        "XDG_CACHE_HOME": str(cache),
        "PYTHONPATH": os.pathsep.join((str(folder), str(sources))),
        "PYTHONDONTWRITEBYTECODE": "1",  # Python itself takes a quick edit for no edit
    }
    environment.pop("NUMBA_CACHE_DIR", None)
    return subprocess.Popen(
        [sys.executable, "-c", program],
        env=environment,
        cwd=folder,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def output(process: subprocess.Popen[str]) -> list[str]:
    out, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    return [*out.splitlines(), *errors.splitlines()]


def test_a_change_in_another_file_is_never_missed(toy: Path) -> None:
    cache = toy / "cache"
    first = "import toy.outer"
    assert output(start(first, toy, cache)) == ["11 13 20 5", "0 0 0 0"]
    assert output(start(first, toy, cache)) == ["11 13 20 5", "1 1 1 1"]
    inner = toy / "toy" / "inner.py"
    before = inner.stat()
    for old, new in (
        ("number + 1", "number + 4"),
        ("number + 3", "number + 7"),
        ("FACTOR = 2", "FACTOR = 5"),
        ("first: int\n    second: int", "second: int\n    first: int"),
    ):
        inner.write_text(inner.read_text().replace(old, new))
    os.utime(inner, ns=(before.st_atime_ns, before.st_mtime_ns))  # nor does its date matter
    assert output(start(first, toy, cache)) == ["14 17 50 5", "0 0 0 0"]
    assert output(start(first, toy, cache)) == ["14 17 50 5", "1 1 1 1"]
    inner.write_text("# Another line\n" + INNER)  # what the code was made from once is right again
    assert output(start(first, toy, cache)) == ["11 13 20 5", "1 1 1 1"]


def test_processes_that_start_together_do_not_disturb_each_other(toy: Path) -> None:
    cache = toy / "cache"
    processes = [start("import toy.outer", toy, cache) for _ in range(3)]
    for process in processes:
        assert output(process)[0] == "11 13 20 5"
    names = sorted(
        file.name.partition("-")[0] for file in (cache / "maskwright/compiled").iterdir()
    )
    functions = ("calls", "has_constant", "inlines", "reads")
    assert [name for name in names if "outer" in name] == [f"toy.outer.{n}" for n in functions]
    assert not [name for name in names if name.startswith("tmp")], "unfinished files are left"
    assert output(start("import toy.outer", toy, cache))[1] == "1 1 1 1"


def test_where_nothing_can_be_written_each_process_compiles(toy: Path) -> None:
    no_folder = toy / "file"
    no_folder.touch()
    program = "import logging; logging.basicConfig(level=logging.DEBUG); import toy.outer"
    lines = output(start(program, toy, no_folder))
    assert lines[:2] == ["11 13 20 5", "0 0 0 0"]
    assert any("DEBUG:maskwright.compiled:compiled code is not kept" in line for line in lines)
    quiet = output(start("import toy.outer", toy, no_folder))
    assert quiet == ["11 13 20 5", "0 0 0 0"]


# In this process


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    return tmp_path / "compiled"


def compile_and_run() -> tuple[int, Any]:
    """The hits of the cache, and what the function gives."""

    @compiled
    def doubled(number: int) -> int:
        return 2 * number

    result: Any = doubled(21)
    hits: Any = doubled
    return sum(hits.stats.cache_hits.values()), result


def test_numbas_folder_is_obeyed(folder: Path) -> None:
    assert compile_and_run() == (0, 42)
    assert [file.name.partition("-")[0] for file in folder.iterdir()] == [f"{__name__}.doubled"]
    assert compile_and_run() == (1, 42)


def cut(data: bytes) -> bytes:
    return data[: len(data) // 2]


def flip(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


@pytest.mark.parametrize("damage", [cut, flip, lambda _: b""])
def test_a_damaged_file_is_not_used(folder: Path, damage: Callable[[bytes], bytes]) -> None:
    compile_and_run()
    (file,) = folder.iterdir()
    whole = file.read_bytes()
    file.write_bytes(damage(whole))
    assert compile_and_run() == (0, 42)
    assert compile_and_run() == (1, 42)


def test_what_no_process_has_used_for_long_is_removed(folder: Path) -> None:
    compile_and_run()
    (file,) = folder.iterdir()
    long_ago = time.time() - UNUSED - 60
    os.utime(file, (long_ago, long_ago))
    assert compile_and_run() == (1, 42)
    assert file.stat().st_mtime > long_ago + 60, "loading a file marks it as used"
    for name, age in (("recent", UNUSED - 60), ("old", UNUSED + 60)):
        (folder / name).touch()
        os.utime(folder / name, (time.time() - age,) * 2)
    face._write(folder / "new", b"")
    assert {each.name for each in folder.iterdir()} == {file.name, "recent", "new"}


def test_what_cannot_be_followed_is_refused() -> None:
    number = 3

    @compiled
    def closure() -> int:
        return number

    @compiled
    def through_a_module() -> float:
        return maskwright.limits

    for wrong in (closure, through_a_module):
        with pytest.raises(TypeError, match="is compiled, so it can't"):
            code_digest(wrong)


def test_the_annotations_of_named_tuples_count() -> None:
    class Narrow(NamedTuple):
        numbers: npt.NDArray[np.int32]

    class Wide(NamedTuple):
        numbers: npt.NDArray[np.int64]

    assert face._fields(Narrow) != face._fields(Wide)
    assert face._fields(Narrow) != ()


class Colour(Enum):
    RED = 1


@compiled
def reads_an_enumeration() -> int:
    return Colour.RED.value


def test_the_members_of_our_classes_are_not_followed() -> None:
    with pytest.raises(TypeError, match="can't refer to Colour"):
        code_digest(reads_an_enumeration)


def dispatchers() -> Iterator[tuple[str, Any]]:
    for module in modules():
        if "compiled import compiled" in module.path.read_text():
            for name, value in vars(import_module(module.name)).items():
                if isinstance(value, Dispatcher):
                    yield f"{module.name}.{name}", value
