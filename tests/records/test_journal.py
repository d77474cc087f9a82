"""The journal: what is on the disk counts, and a torn last line doesn't."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from maskwright.errors import InputError
from maskwright.records import journal as journals
from maskwright.records.journal import CHUNK, GroupCommit, Journal, line_of

LINES = [line_of({"n": number, "text": "é" * number}) for number in range(3)]


def written(path: Path) -> list[dict[str, object]]:
    journal = Journal(path)
    try:
        return list(journal.objects())
    finally:
        journal.close()


def test_a_file_cut_at_any_byte_has_its_whole_lines(tmp_path: Path) -> None:
    whole = b"".join(LINES)
    path = tmp_path / "j.jsonl"
    for cut in range(len(whole) + 1):
        path.write_bytes(whole[:cut])
        journal = Journal(path)
        kept = whole[:cut].count(b"\n")
        assert [line["n"] for line in journal.objects()] == list(range(kept))
        assert journal.torn == cut - len(b"".join(LINES[:kept]))
        journal.append(LINES[kept] if kept < 3 else b"")
        assert [line["n"] for line in journal.objects()] == list(range(min(kept + 1, 3)))
        journal.close()


@pytest.mark.parametrize("length", [CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK])
def test_a_long_torn_line_is_removed(tmp_path: Path, length: int) -> None:
    path = tmp_path / "j.jsonl"
    path.write_bytes(LINES[0] + b"\0" * length)
    assert written(path) == [{"n": 0, "text": ""}]
    assert path.read_bytes() == LINES[0]


def test_a_line_of_something_else_is_named(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    for other in (b"[1]\n", b"nothing\n"):
        path.write_bytes(LINES[0] + other)
        with pytest.raises(InputError, match=r"j\.jsonl:2: this is not a line of results"):
            written(path)


def test_only_one_process_writes(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    program = (
        "import sys; from pathlib import Path; from maskwright.records.journal import Journal\n"
        "Journal(Path(sys.argv[1]))"
    )

    def other() -> str:
        found = subprocess.run(
            [sys.executable, "-c", program, path], capture_output=True, text=True, check=False
        )
        return found.stderr

    journal = Journal(path)
    assert "another process is writing" in other()
    journal.close()
    journal.close()  # a second time is harmless
    assert other() == ""


def test_an_append_that_fails_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that is full in the middle of a line: the file ends where it did before."""
    path = tmp_path / "j.jsonl"
    journal = Journal(path)
    journal.append(LINES[0])
    write = os.write

    def full(descriptor: int, data: memoryview) -> int:
        if len(data) < len(LINES[1]) + len(LINES[2]):
            raise OSError(errno.ENOSPC, "no space left on device")
        return write(descriptor, data[:5])

    monkeypatch.setattr(journals.os, "write", full)
    with pytest.raises(OSError, match="no space"):
        journal.append(LINES[1] + LINES[2])
    monkeypatch.undo()
    assert path.read_bytes() == LINES[0]
    journal.append(LINES[1])
    assert path.read_bytes() == LINES[0] + LINES[1]
    journal.clear()
    journal.append(LINES[2])
    assert path.read_bytes() == LINES[2]
    journal.close()


def test_each_append_reaches_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = Journal(tmp_path / "j.jsonl")
    synchronised: list[int] = []
    monkeypatch.setattr(journals.os, "fsync", synchronised.append)
    journal.append(LINES[0] + LINES[1])
    journal.append(LINES[2])
    assert len(synchronised) == 2
    journal.close()


def test_a_line_is_one_line() -> None:
    for text in ("a\nb\r\u2028", "\ud800", "ä\0"):
        line = line_of({"text": text})
        assert line.count(b"\n") == 1
        assert json.loads(line.decode()) == {"text": text}


def test_lines_of_many_tasks_share_a_synchronisation(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j.jsonl")
    groups: list[int] = []
    append, held = journal.append, threading.Event()

    def counted(lines: bytes) -> None:
        held.wait()
        groups.append(lines.count(b"\n"))
        append(lines)

    journal.append = counted  # type: ignore[method-assign]

    async def run() -> None:
        commit = GroupCommit(journal)
        tasks = [asyncio.create_task(commit.append(b'{"n": %d}\n' % n)) for n in range(100)]
        await asyncio.sleep(0.05)
        assert not any(task.done() for task in tasks)  # nothing is done before it is on the disk
        tasks[3].cancel()
        held.set()
        await asyncio.gather(*tasks, return_exceptions=True)
        await commit.append(b'{"n": 100}\n')
        await commit.settle()

    asyncio.run(run())
    assert [line["n"] for line in journal.objects()] == list(range(101))
    assert sum(groups) == 101
    assert len(groups) <= 3
    journal.close()


def test_every_task_of_a_group_hears_of_its_failure(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j.jsonl")

    def full(lines: bytes) -> None:
        raise OSError("no space left")

    journal.append = full  # type: ignore[method-assign]

    async def run() -> list[BaseException | None]:
        commit = GroupCommit(journal)
        return await asyncio.gather(
            *(commit.append(b"{}\n") for _ in range(5)), return_exceptions=True
        )

    assert [str(error) for error in asyncio.run(run())] == ["no space left"] * 5
    with pytest.raises(StopIteration):
        next(journal.objects())
    journal.close()
