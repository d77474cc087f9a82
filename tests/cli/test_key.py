from __future__ import annotations

import re
from pathlib import Path

import pytest

from maskwright.engine.schedule.service import CLASSES
from maskwright.server.access import ApiKey, KeyRing, read_keys
from tests.cli.conftest import Run


def test_entries_can_be_added_to_a_file_that_the_server_reads(run: Run, tmp_path: Path) -> None:
    first = run("key", "alice")
    second = run(
        *("key", "bob", "--requests-per-minute", "60", "--tokens-per-minute", "1000"),
        *("--tokens-per-day", "50000", "--service", "agent", "--service", "batch"),
    )
    file = tmp_path / "keys.toml"
    file.write_text(first.stdout + second.stdout)
    keys = read_keys(file)
    assert keys[0] == ApiKey("alice", keys[0].sha256)
    assert keys[1] == ApiKey("bob", keys[1].sha256, 60, 1000, 50_000, ("agent", "batch"))
    ring = KeyRing(keys)
    for key, printed in zip(keys, (first, second), strict=True):
        text = printed.stderr.split()[-1]
        assert ring.find(text) is key
        assert text not in printed.stdout
        assert re.fullmatch(r"mw-[\w-]{43}", text)


def test_every_key_is_another_one(run: Run) -> None:
    assert len({run("key", "alice").stderr for _ in range(20)}) == 20


def test_every_class_of_service_can_be_given(run: Run, tmp_path: Path) -> None:
    names = tuple(each.name for each in CLASSES)
    made = run("key", "alice", *(part for name in names for part in ("--service", name)))
    (tmp_path / "keys.toml").write_text(made.stdout)
    assert read_keys(tmp_path / "keys.toml")[0].classes == names


@pytest.mark.parametrize(
    "arguments",
    [
        ("a b",),
        ("a" * 65,),
        ("a", "--tokens-per-day", "0"),
        ("a", "--rpm", "1"),
        ("a", "--service", "agnet"),
    ],
)
def test_a_mistake_is_one_line(run: Run, arguments: tuple[str, ...]) -> None:
    found = run("key", *arguments)
    assert found.returncode == 2
    assert len(found.stderr.splitlines()) == 1
    assert not found.stdout
