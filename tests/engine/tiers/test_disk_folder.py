"""The folder on disk: damage, bounds, order, several servers at once, and what a restart finds."""

from __future__ import annotations

import multiprocessing
import os
import random
import time
from pathlib import Path
from typing import cast

import pytest

from maskwright.engine.tiers.disk_folder import (
    HEAD,
    USES,
    USES_AT,
    DiskFolder,
    pack_block,
    unpack_block,
)
from maskwright.engine.tiers.eviction_order import StorePolicy
from maskwright.errors import InputError

CONTENTS = bytes(range(100))
KEY, LONGER = bytes(range(32)), bytes(range(200))
SIZE = HEAD.size + len(CONTENTS)


def key(number: int) -> bytes:
    return number.to_bytes(32, "big")


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("??/*"))


def test_a_restart_finds_what_was_written(tmp_path: Path) -> None:
    first = DiskFolder(tmp_path / "kv", 1 << 20)
    assert first.write(key(1), CONTENTS)
    first.close()
    second = DiskFolder(tmp_path / "kv", 1 << 20)
    assert second.holds(key(1))
    assert not second.holds(key(2))
    assert second.read(key(1)) == CONTENTS
    assert second.bytes == SIZE == files(tmp_path / "kv")[0].stat().st_size


@pytest.mark.parametrize("damage", ["flip", "cut", "empty", "gone", "folder"])
def test_what_is_damaged_is_counted_and_can_be_written_again(tmp_path: Path, damage: str) -> None:
    folder = DiskFolder(tmp_path, 1 << 20)
    folder.write(key(1), CONTENTS)
    [path] = files(tmp_path)
    data = bytearray(path.read_bytes())
    data[-3] ^= 0x40
    match damage:
        case "flip":
            path.write_bytes(data)
        case "cut":
            os.truncate(path, SIZE - 1)
        case "empty":
            os.truncate(path, 0)
        case _:
            path.unlink()
            if damage == "folder":
                path.mkdir()
    assert folder.read(key(1)) is None
    counts = folder.counts
    assert (counts.damaged, counts.missing, counts.failed) == {
        "gone": (0, 1, 0),
        "folder": (0, 0, 1),
    }.get(damage, (1, 0, 0))
    if damage != "folder":
        assert not folder.holds(key(1))
        assert folder.write(key(1), CONTENTS)
        assert folder.read(key(1)) == CONTENTS


@pytest.mark.parametrize("policy", ["lru", "lfu"])
def test_the_bound_holds_and_the_order_is_that_of_uses_by_all(tmp_path: Path, policy: str) -> None:
    """A second server uses a block that the first one has written first."""
    one = DiskFolder(tmp_path, 3 * SIZE, cast(StorePolicy, policy))
    other = DiskFolder(tmp_path, 3 * SIZE, cast(StorePolicy, policy))
    for number in range(3):
        one.write(key(number), CONTENTS)
        time.sleep(0.01)  # the clock of files is coarse
    assert other.read(key(0)) == CONTENTS
    assert one.read(key(2)) == CONTENTS
    one.write(key(3), CONTENTS)
    assert [one.holds(key(n)) for n in range(4)] == [True, False, True, True]
    assert sum(path.stat().st_size for path in files(tmp_path)) == one.bytes == 3 * SIZE
    assert one.counts.evicted == 1
    if policy == "lfu":
        time.sleep(0.01)
        other.write(key(4), CONTENTS)
        assert not other.holds(key(3)), "used least often, although last"


def test_for_how_long_blocks_stay(tmp_path: Path) -> None:
    folder = DiskFolder(tmp_path / "lru", 2 * SIZE)
    for number in range(2):
        folder.write(key(number), CONTENTS)
        os.utime(folder._path(key(number).hex()), (time.time() - 50 + number,) * 2)
    place, folder = folder.place, DiskFolder(tmp_path / "lru", 2 * SIZE)
    assert (folder.place, folder.kept_seconds) == (place, None)
    folder.write(key(2), CONTENTS)
    assert not folder.holds(key(0))
    assert folder.kept_seconds is not None
    assert 49 < folder.kept_seconds < 70, "the block that went was used 50 s ago"
    by_uses = DiskFolder(tmp_path / "lfu", SIZE, "lfu")
    assert by_uses.place != folder.place
    for number in range(2):
        by_uses.write(key(number), CONTENTS)
    assert (by_uses.counts.evicted, by_uses.kept_seconds) == (1, None)


def test_what_does_not_fit_at_all_is_not_written(tmp_path: Path) -> None:
    folder = DiskFolder(tmp_path, SIZE - 1)
    assert not folder.write(key(1), CONTENTS)
    assert files(tmp_path) == []


def test_a_wrong_sum_is_put_right_at_the_next_start(tmp_path: Path) -> None:
    folder = DiskFolder(tmp_path, 1 << 20)
    folder.write(key(1), CONTENTS)
    (tmp_path / "lock").write_bytes(b"")
    assert folder.write(key(2), CONTENTS)
    assert folder.bytes == 2 * SIZE
    (tmp_path / "lock").write_bytes(bytes(range(8)))
    assert DiskFolder(tmp_path, 1 << 20).bytes == 2 * SIZE


def test_what_a_dead_writer_left_is_removed(tmp_path: Path) -> None:
    folder = DiskFolder(tmp_path, 1 << 20)
    folder.write(key(1), CONTENTS)
    [path] = files(tmp_path)
    for name, age in (("old.17", 100), ("young.18", 0)):
        left = path.with_name(name)
        left.write_bytes(b"x" * 10)
        os.utime(left, (time.time() - age,) * 2)
    again = DiskFolder(tmp_path, 1 << 20)
    assert [p.name for p in files(tmp_path)] == sorted([path.name, "young.18"])
    assert again.bytes == SIZE + 10


def test_a_file_system_that_refuses_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = DiskFolder(tmp_path, 1 << 20)

    def full(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    assert not folder.write(key(1), CONTENTS)
    assert (folder.counts.failed, folder.bytes, files(tmp_path)) == (1, 0, [])


def test_a_folder_that_cannot_be_one(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="can't hold blocks"):
        DiskFolder(tmp_path / "file", 1 << 20)


def use(folder: Path, seed: int, wrong: multiprocessing.Queue[str]) -> None:
    """One server among several: it writes and reads at random, and checks every block it gets."""
    rng, mine = random.Random(seed), DiskFolder(folder, 20 * SIZE, "lfu" if seed % 2 else "lru")
    for _ in range(300):
        number = rng.randrange(40)
        contents = bytes([number]) * len(CONTENTS)
        if rng.random() < 0.5:
            mine.write(key(number), contents)
        elif mine.holds(key(number)):
            got = mine.read(key(number))
            if got is not None and got != contents:
                wrong.put(f"block {number} has other contents")
        if mine.bytes > 20 * SIZE:
            wrong.put(f"{mine.bytes} bytes")
    if mine.counts.damaged:
        wrong.put(f"{mine.counts.damaged} blocks were read in part")


def test_servers_share_a_folder(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    wrong: multiprocessing.Queue[str] = context.Queue()
    processes = [context.Process(target=use, args=(tmp_path, seed, wrong)) for seed in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(30)
    assert [process.exitcode for process in processes] == [0, 0, 0]
    assert wrong.empty()
    whole = sum(path.stat().st_size for path in files(tmp_path))
    assert 0 < whole <= 20 * SIZE
    stored = int.from_bytes((tmp_path / "lock").read_bytes(), "little")
    assert stored == whole


def test_every_flipped_bit_and_every_cut_is_recognised() -> None:
    """But for the counter of uses, which changes no contents."""
    data = pack_block(KEY, LONGER)
    assert unpack_block(KEY, data) == LONGER
    counter = range(USES_AT, USES_AT + USES.size)
    for place in range(len(data)):
        for bit in (1, 0x80):
            damaged = bytearray(data)
            damaged[place] ^= bit
            expected = LONGER if place in counter else None
            assert unpack_block(KEY, bytes(damaged)) == expected, place
    for end in range(len(data)):
        assert unpack_block(KEY, data[:end]) is None
    assert unpack_block(KEY, data + b"\0") is None
    assert len(data) == HEAD.size + len(LONGER)


def test_a_file_under_another_key_is_not_taken() -> None:
    assert unpack_block(KEY[::-1], pack_block(KEY, LONGER)) is None
