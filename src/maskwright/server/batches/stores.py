"""What is in the folder: files, each with a description beside it, without which it doesn't count;
and batches, each with a description, and journals of its results until it ends."""

from __future__ import annotations

import json
import os
import time
import uuid
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final, Literal, TypeAlias, get_args

from maskwright.records.journal import replace_file, sync_folder
from maskwright.server.errors import HttpError
from maskwright.server.json import Json

BatchStatus: TypeAlias = Literal[
    "validating",
    "failed",
    "in_progress",
    "finalizing",
    "completed",
    "expired",
    "cancelling",
    "cancelled",
]

ENDED: Final = frozenset({"failed", "completed", "expired", "cancelled"})
WINDOW: Final = "24h"
WINDOW_S: Final = 24 * 3600
"""Seconds in which a batch is completed, or else expires."""

TIMED: Final = tuple(status for status in get_args(BatchStatus) if status != "validating")
"""Statuses whose beginning a description tells."""


@dataclass(frozen=True, slots=True)
class StoredFile:
    """The description of a file. `owner`: the name of the key that has stored it; None for a server
    without keys. `created_at`: seconds since 1970."""

    id: str
    filename: str
    purpose: str
    bytes: int
    created_at: int
    owner: str | None = None

    def card(self) -> Json:
        """The description as clients get it."""
        card = asdict(self)
        del card["owner"]
        more = {"object": "file", "status": "processed", "status_details": None, "expires_at": None}
        return {**card, **more}


class FileStore:
    """Files by id, oldest first. Ids of clients are never part of a path before they are found to
    be known."""

    def __init__(self, folder: Path) -> None:
        """Read the folder, which is created, and remove what an upload has left that was cut
        off."""
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        for left in folder.glob("*.part"):
            left.unlink()
        found = [StoredFile(**json.loads(path.read_bytes())) for path in folder.glob("*.json")]
        self._files = {file.id: file for file in sorted(found, key=lambda file: file.created_at)}

    def new_part(self) -> Path:
        """A path for a file that is being written."""
        return self._folder / f"{uuid.uuid4().hex}.part"

    def new_id(self) -> str:
        return f"file-{uuid.uuid4().hex[:24]}"

    def adopt(
        self, id: str, path: Path, *, filename: str, purpose: str, owner: str | None
    ) -> StoredFile:
        """Move a complete file into the store. Repeated after a kill, it does what is missing."""
        if id in self._files:
            return self._files[id]
        content = self._folder / id
        if path.exists():
            with path.open("rb") as file:
                os.fsync(file.fileno())
            path.replace(content)
            sync_folder(self._folder)
        size = content.stat().st_size
        stored = StoredFile(id, filename, purpose, size, int(time.time()), owner)
        replace_file(self._folder / f"{id}.json", json.dumps(asdict(stored)).encode())
        self._files[id] = stored
        return stored

    def get(self, id: str, owner: str | None, param: str = "file_id") -> StoredFile:
        """Return the file that `param` of a request names. Raises HttpError for a file that there
        is not, or of another owner."""
        stored = self._files.get(id)
        if stored is None or stored.owner != owner:
            raise HttpError(404, f"there is no file {id!r}", code="file_not_found", param=param)
        return stored

    def path(self, id: str) -> Path:
        """Where the content of a known file is."""
        assert id in self._files
        return self._folder / id

    def of(self, owner: str | None) -> list[StoredFile]:
        return [file for file in self._files.values() if file.owner == owner]

    def delete(self, id: str) -> None:
        """Remove a known file: its description first, so that no description is without a file."""
        (self._folder / f"{id}.json").unlink()
        (self._folder / id).unlink()
        del self._files[id]


@dataclass(slots=True, eq=False)
class StoredBatch:
    """One batch. `owner`: the name of the key that has made it. `times`: by status, when it had it,
    in seconds since 1970. `total`, `answered`, `failed`: counts of requests; while the batch runs,
    they are counted anew after a restart. `outcome`: the status that it will end with, once its
    results are made files."""

    id: str
    endpoint: str
    input_file_id: str
    owner: str | None = None
    metadata: dict[str, str] | None = None
    created_at: int = 0
    status: BatchStatus = "validating"
    outcome: BatchStatus | None = None
    times: dict[str, int] = field(default_factory=dict[str, int])
    errors: list[Json] = field(default_factory=list[Json])
    output_file_id: str | None = None
    error_file_id: str | None = None
    total: int = 0
    answered: int = 0
    failed: int = 0

    @property
    def expires_at(self) -> int:
        return self.created_at + WINDOW_S

    def card(self) -> Json:
        """The description as clients get it."""
        errors = {"object": "list", "data": self.errors} if self.errors else None
        return {
            "id": self.id,
            "object": "batch",
            "endpoint": self.endpoint,
            "errors": errors,
            "input_file_id": self.input_file_id,
            "completion_window": WINDOW,
            "status": self.status,
            "output_file_id": self.output_file_id if self.status in ENDED else None,
            "error_file_id": self.error_file_id if self.status in ENDED else None,
            "created_at": self.created_at,
            "expires_at": self.expires_at,
            **{f"{status}_at": self.times.get(status) for status in TIMED},
            "request_counts": {
                "total": self.total,
                "completed": self.answered,
                "failed": self.failed,
            },
            "metadata": self.metadata,
        }


class BatchStore:
    """Batches by id, oldest first."""

    def __init__(self, folder: Path) -> None:
        """Read the folder, which is created."""
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        found = [
            StoredBatch(**json.loads(path.read_bytes())) for path in folder.glob("*/batch.json")
        ]
        found.sort(key=lambda batch: batch.created_at)
        self._batches = {batch.id: batch for batch in found}

    def create(
        self, endpoint: str, input_file_id: str, owner: str | None, metadata: dict[str, str] | None
    ) -> StoredBatch:
        """Add a batch, and return once it is on the disk."""
        batch = StoredBatch(
            f"batch_{uuid.uuid4().hex[:24]}",
            endpoint,
            input_file_id,
            owner,
            metadata,
            int(time.time()),
        )
        (self._folder / batch.id).mkdir()
        sync_folder(self._folder)
        self.save(batch)
        self._batches[batch.id] = batch
        return batch

    def get(self, id: str, owner: str | None) -> StoredBatch:
        """Raises HttpError for a batch that there is not, or of another owner."""
        batch = self._batches.get(id)
        if batch is None or batch.owner != owner:
            raise HttpError(
                404, f"there is no batch {id!r}", code="batch_not_found", param="batch_id"
            )
        return batch

    def of(self, owner: str | None) -> list[StoredBatch]:
        return [batch for batch in self._batches.values() if batch.owner == owner]

    def unfinished(self) -> list[StoredBatch]:
        return [batch for batch in self._batches.values() if batch.status not in ENDED]

    def uses(self, file_id: str) -> bool:
        """Whether a batch that has not ended reads a file."""
        return any(batch.input_file_id == file_id for batch in self.unfinished())

    def enter(self, batch: StoredBatch, status: BatchStatus) -> None:
        """Give a batch another status, and return once it is on the disk."""
        batch.status = status
        batch.times[status] = int(time.time())
        self.save(batch)

    def save(self, batch: StoredBatch) -> None:
        data = json.dumps(asdict(batch)).encode()
        replace_file(self._folder / batch.id / "batch.json", data)

    def journals(self, batch: StoredBatch) -> tuple[Path, Path]:
        """The files in which a running batch has its answers and its failures."""
        folder = self._folder / batch.id
        return folder / "output.jsonl", folder / "errors.jsonl"
