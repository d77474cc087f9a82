"""Where the user's cache folder is."""

from __future__ import annotations

from pathlib import Path

import pytest

from maskwright.user_cache import user_cache


@pytest.mark.parametrize(
    ("variable", "folder"),
    [
        ("/var/cache/me", "/var/cache/me/maskwright"),
        (None, "/me/.cache/maskwright"),
        ("", "/me/.cache/maskwright"),
        ("cache", "/me/.cache/maskwright"),  # relative: the specification ignores it
    ],
)
def test_the_folder(monkeypatch: pytest.MonkeyPatch, variable: str | None, folder: str) -> None:
    monkeypatch.setenv("HOME", "/me")
    if variable is None:
        monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    else:
        monkeypatch.setenv("XDG_CACHE_HOME", variable)
    assert user_cache() == Path(folder)


def test_a_user_without_a_home_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("no home")

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    assert user_cache() is None
