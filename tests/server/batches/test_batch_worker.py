from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from maskwright.records.batch_lines import BatchLine
from maskwright.server.batches import batch_worker
from maskwright.server.batches.batch_worker import AppAnswer, BatchWorker
from maskwright.server.batches.stores import ENDED, WINDOW_S, BatchStore, FileStore, StoredBatch
from tests.bounds import PATIENCE

CHAT = "/v1/chat/completions"


class Folder:
    """A folder of batches, which a server opens, uses and leaves; and the server's answers."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.asked: Counter[str] = Counter()
        self.status = 200
        self.pause = 0.0
        self.open()

    def open(self) -> None:
        self.files = FileStore(self.folder / "files")
        self.batches = BatchStore(self.folder / "batches")

    def new(self, count: int, *, names: str = "r{}", endpoint: str = CHAT) -> StoredBatch:
        path = self.files.new_part()
        lines = [
            {"custom_id": names.format(n), "method": "POST", "url": CHAT, "body": {"n": n}}
            for n in range(count)
        ]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        id = self.files.new_id()
        self.files.adopt(id, path, filename="in", purpose="batch", owner=None)
        return self.batches.create(endpoint, id, None, None)

    async def answer(self, request: BatchLine, owner: str | None) -> AppAnswer:
        self.asked[request.custom_id] += 1
        await asyncio.sleep(self.pause)
        return AppAnswer(self.status, f"q-{request.custom_id}", 0.0, {"n": request.body["n"]})

    def serve(self, use: Callable[[BatchWorker], Awaitable[None]]) -> None:
        """Run a worker on the folder, as it is opened after a restart, while `use` runs."""

        async def run() -> None:
            self.open()
            worker = BatchWorker(
                self.files, self.batches, self.answer, concurrency=8, line_bytes=1000
            )
            worker.go_on()
            try:
                await use(worker)
            finally:
                await worker.stop()

        asyncio.run(run())

    def batch(self, made: StoredBatch) -> StoredBatch:
        return self.batches.get(made.id, None)

    async def ended(self, made: StoredBatch) -> StoredBatch:
        async with asyncio.timeout(PATIENCE):
            while self.batch(made).status not in ENDED:
                await asyncio.sleep(0.005)
        return self.batch(made)

    def lines(self, id: str | None) -> list[dict[str, Any]]:
        assert id is not None
        return [json.loads(line) for line in self.files.path(id).read_text().splitlines()]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    monkeypatch.setattr(batch_worker, "LEAST_WAIT_S", 0.005)
    return Folder(tmp_path)


def test_a_batch_from_its_input_to_its_files(folder: Folder) -> None:
    made = folder.new(30)

    async def use(_: BatchWorker) -> None:
        batch = await folder.ended(made)
        assert (batch.status, batch.total, batch.answered, batch.failed) == ("completed", 30, 30, 0)
        assert batch.error_file_id is None
        lines = folder.lines(batch.output_file_id)
        assert sorted(line["response"]["body"]["n"] for line in lines) == list(range(30))
        assert all(
            line["response"]["request_id"] == f"q-{line['custom_id']}" == f"q-r{number}"
            for line in lines
            for number in [line["response"]["body"]["n"]]
        )
        card = batch.card()
        assert card["request_counts"] == {"total": 30, "completed": 30, "failed": 0}
        assert all(isinstance(card[f"{s}_at"], int) for s in ("in_progress", "completed"))

    folder.serve(use)


def test_what_the_server_refuses_is_a_file_of_its_own(folder: Folder) -> None:
    made, folder.status = folder.new(3), 400

    async def use(_: BatchWorker) -> None:
        batch = await folder.ended(made)
        assert (batch.status, batch.answered, batch.failed) == ("completed", 0, 3)
        assert batch.output_file_id is None
        codes = [line["response"]["status_code"] for line in folder.lines(batch.error_file_id)]
        assert codes == [400, 400, 400]

    folder.serve(use)


def test_a_busy_server_is_waited_for(folder: Folder) -> None:
    made, folder.status = folder.new(3), 429

    async def use(_: BatchWorker) -> None:
        while folder.asked["r1"] < 3:
            await asyncio.sleep(0.005)
        folder.status = 503
        while folder.asked["r1"] < 6:
            await asyncio.sleep(0.005)
        folder.status = 200
        assert (await folder.ended(made)).answered == 3

    folder.serve(use)


def test_an_input_with_faults_fails_before_anything_is_asked(folder: Folder) -> None:
    made = folder.new(3, names="same")

    async def use(_: BatchWorker) -> None:
        batch = await folder.ended(made)
        assert batch.status == "failed"
        errors: Any = batch.card()["errors"]
        assert [error["line"] for error in errors["data"]] == [2, 3]
        assert not folder.asked

    folder.serve(use)


def test_restarts_lose_and_repeat_nothing(folder: Folder) -> None:
    """A kill may also leave a part of a line."""
    made, folder.pause, chance = folder.new(1000), 0.005, random.Random(5)

    async def for_a_while(_: BatchWorker) -> None:
        before = folder.asked.total()
        while folder.asked.total() < before + 20 and folder.batch(made).status not in ENDED:
            await asyncio.sleep(chance.uniform(0, 0.01))

    for restart in range(5):
        folder.serve(for_a_while)
        assert folder.batch(made).status == "in_progress", f"it has ended at restart {restart}"
        with folder.batches.journals(made)[0].open("ab") as torn:
            torn.write(b'{"id": "batch_req')
    done_before = folder.asked.total()
    assert done_before < 1000

    async def to_the_end(_: BatchWorker) -> None:
        batch = await folder.ended(made)
        assert (batch.answered, batch.failed) == (1000, 0)
        lines = folder.lines(batch.output_file_id)
        assert sorted(line["custom_id"] for line in lines) == sorted(f"r{n}" for n in range(1000))

    folder.serve(to_the_end)
    assert folder.asked.total() <= 1000 + 5 * 8


def test_a_batch_is_cancelled_and_keeps_what_it_has(folder: Folder) -> None:
    made, folder.pause = folder.new(200), 0.01

    async def use(worker: BatchWorker) -> None:
        while folder.batch(made).answered < 20:
            await asyncio.sleep(0.005)
        worker.cancel(folder.batch(made))
        assert folder.batch(made).card()["status"] == "cancelling"
        batch = await folder.ended(made)
        assert batch.status == "cancelled"
        assert 20 <= batch.answered < 200
        assert len(folder.lines(batch.output_file_id)) == batch.answered

    folder.serve(use)


@pytest.mark.parametrize("status", ["cancelling", "finalizing"])
def test_an_end_that_was_cut_off_is_made_up_for(folder: Folder, status: Any) -> None:
    """Killed after the status was written, and before the files were."""
    made, folder.pause = folder.new(40), 0.01

    async def use(_: BatchWorker) -> None:
        while folder.batch(made).answered < 10:
            await asyncio.sleep(0.005)

    folder.serve(use)
    batch = folder.batch(made)
    if status == "finalizing":
        batch.outcome, batch.output_file_id = "completed", folder.files.new_id()
    folder.batches.enter(batch, status)

    async def again(_: BatchWorker) -> None:
        batch = await folder.ended(made)
        assert batch.status == ("completed" if status == "finalizing" else "cancelled")
        assert len(folder.lines(batch.output_file_id)) >= 10

    folder.serve(again)


def test_what_comes_too_late_expires(folder: Folder) -> None:
    made = folder.new(50)
    made.created_at -= WINDOW_S - 1
    folder.batches.save(made)
    folder.pause = 0.3

    async def use(_: BatchWorker) -> None:
        batch = await folder.ended(made)
        assert batch.status == "expired"
        assert batch.answered + batch.failed == 50
        lines = folder.lines(batch.error_file_id)
        assert {line["error"]["code"] for line in lines} == {"batch_expired"}
        assert len(lines) == batch.failed > 0

    folder.serve(use)


def test_a_defect_fails_the_batch(folder: Folder) -> None:
    made = folder.new(5)

    async def broken(request: BatchLine, owner: str | None) -> AppAnswer:
        raise ZeroDivisionError

    folder.answer = broken  # type: ignore[method-assign]

    async def use(_: BatchWorker) -> None:
        batch = await folder.ended(made)
        assert (batch.status, batch.errors[0]["code"]) == ("failed", "internal_error")

    folder.serve(use)
