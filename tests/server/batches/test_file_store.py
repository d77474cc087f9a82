from __future__ import annotations

from pathlib import Path

import pytest

from maskwright.server.batches import stores
from maskwright.server.batches.stores import FileStore
from maskwright.server.errors import HttpError


def kept(store: FileStore, id: str, owner: str | None = None, text: str = "x") -> Path:
    path = store.new_part()
    path.write_text(text)
    store.adopt(id, path, filename="f", purpose="batch", owner=owner)
    return path


def test_files_are_there_after_a_restart(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    for id in ("file-b", "file-a"):
        kept(store, id)
    store.new_part().write_text("an upload that was cut off")
    again = FileStore(tmp_path)
    assert {file.id for file in again.of(None)} == {"file-a", "file-b"}
    assert list(tmp_path.glob("*.part")) == []
    assert again.path("file-a").read_text() == "x"
    again.delete("file-a")
    assert [file.id for file in FileStore(tmp_path).of(None)] == ["file-b"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file-b", "file-b.json"]


def test_a_kill_between_content_and_description(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(path: Path, data: bytes) -> None:
        raise KeyboardInterrupt

    source = tmp_path / "journal"
    source.write_text("results")
    store = FileStore(tmp_path / "files")
    monkeypatch.setattr(stores, "replace_file", killed)
    with pytest.raises(KeyboardInterrupt):
        store.adopt("file-x", source, filename="f", purpose="p", owner=None)
    monkeypatch.undo()
    again = FileStore(tmp_path / "files")
    assert again.of(None) == []
    for _ in range(2):
        assert again.adopt("file-x", source, filename="f", purpose="p", owner=None).bytes == 7
    assert again.path("file-x").read_text() == "results"


def test_nobody_sees_the_files_of_others(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    kept(store, "file-a", "alice")
    assert store.get("file-a", "alice").card()["id"] == "file-a"
    assert "owner" not in store.get("file-a", "alice").card()
    assert store.of("bob") == store.of(None) == []
    for id, owner in (("file-a", "bob"), ("file-a", None), ("../x", "alice")):
        with pytest.raises(HttpError) as caught:
            store.get(id, owner)
        assert caught.value.status == 404
