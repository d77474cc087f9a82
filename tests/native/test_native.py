"""A module that was built from other sources than are there now refuses to be imported."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from maskwright import native
from maskwright.native import StaleModuleError, require_built
from tests.source_tree import PACKAGE, tracked


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(native, "_PACKAGE", tmp_path)
    (tmp_path / "native.pxd").touch()
    (tmp_path / "a.pyx").write_text("first")
    (tmp_path / "a.pxd").write_text("second")
    return tmp_path


BUILT_FROM = f"{sha256(b'secondfirst').hexdigest()[:32]} a.pxd a.pyx".encode()


def test_the_sources_that_it_was_built_from(package: Path) -> None:
    require_built("a", BUILT_FROM)


@pytest.mark.parametrize("name", ["a.pyx", "a.pxd"])
def test_a_source_that_changed_since(package: Path, name: str) -> None:
    (package / name).write_text("third")
    with pytest.raises(StaleModuleError, match=r"^a was built from other sources.*make build"):
        require_built("a", BUILT_FROM)


@pytest.mark.parametrize("name", ["a.pyx", "a.pxd"])
def test_a_source_that_is_gone(package: Path, name: str) -> None:
    (package / name).unlink()
    with pytest.raises(StaleModuleError):
        require_built("a", BUILT_FROM)


def test_an_installed_package_has_no_sources(package: Path) -> None:
    for source in package.iterdir():
        source.unlink()
    require_built("a", BUILT_FROM)


def test_each_module_asks() -> None:
    modules = tracked("src/*.pyx")
    assert PACKAGE / "vocab" / "trie.pyx" in modules
    silent = [
        each for each in modules if "require_built(__name__, BUILT_FROM)" not in each.read_text()
    ]
    assert silent == []
