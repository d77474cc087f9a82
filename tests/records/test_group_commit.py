from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from maskwright.records.group_commit import GroupCommit
from maskwright.records.journal import Journal


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
