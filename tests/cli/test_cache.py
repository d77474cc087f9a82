"""`maskwright cache`, in a cache of the test's own."""

from __future__ import annotations

import json
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest

from maskwright.cli import cache
from maskwright.vocab.array_cache import ArrayCache
from tests.cli.conftest import Run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache with a file of machine code, a table, and a file that isn't ours."""
    root = tmp_path / "maskwright"
    code = root / "compiled"
    code.mkdir(parents=True)
    payload = b"machine code"
    (code / "module.function-0").write_bytes(crc32(payload).to_bytes(4, "little") + payload)
    ArrayCache(root, "digest").arrays("costs", lambda: {"a": np.zeros(3)})
    (root / "notes.txt").write_text("mine")
    monkeypatch.setattr(cache, "USER_CACHE", root)
    monkeypatch.setattr(cache.compiled, "cache_folder", lambda: code)
    return root


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_it_is_listed(run: Run, folder: Path) -> None:
    found = run("cache", "list")
    assert found.returncode == 0
    assert "machine code: 1 files, 0.0 MiB, last used 0 days ago, in " in found.stdout
    rows = json.loads(run("cache", "list", "--json").stdout)["groups"]
    assert [(row["name"], row["files"]) for row in rows] == [
        ("machine code", 1),
        ("vocabulary tables", 1),
    ]
    assert rows[0]["bytes"] == 16
    assert files(folder) == ["costs", "module.function-0", "notes.txt"]


@pytest.mark.parametrize("name", ["module.function-0", "costs"])
def test_damage_is_found(run: Run, folder: Path, name: str) -> None:
    assert run("cache", "verify").returncode == 0
    [file] = folder.rglob(name)
    file.write_bytes(file.read_bytes()[:-1] + b"!")
    found = run("cache", "verify")
    assert found.returncode == 1
    assert f"damaged: {file}" in found.stdout
    rows = json.loads(run("cache", "verify", "--json").stdout)["groups"]
    assert [each for row in rows for each in row["damaged"]] == [str(file)]


def test_it_is_cleared_but_for_what_is_not_ours(run: Run, folder: Path) -> None:
    assert run("cache", "clear").returncode == 0
    assert files(folder) == ["notes.txt"]
    assert [path.name for path in folder.iterdir() if path.is_dir()] == ["compiled"]
    assert "machine code: 0 files" in run("cache", "list").stdout


def test_there_need_not_be_one(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "USER_CACHE", folder / "none")
    monkeypatch.setattr(cache.compiled, "cache_folder", lambda: None)
    assert "vocabulary tables: 0 files" in run("cache", "list").stdout
