"""The files in the folder: each with a description beside it, without which it doesn't count."""

from __future__ import annotations

import json
import os
import time
import uuid
from dataclasses import asdict, dataclass
from pathlib import Path

from maskwright.records.journal import sync_folder
from maskwright.records.replaced_file import replace_file
from maskwright.server.errors import HttpError
from maskwright.server.json import Json


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
        told = asdict(self)
        del told["owner"]
        more = {"object": "file", "status": "processed", "status_details": None, "expires_at": None}
        return {**told, **more}


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

    def get(self, id: str, owner: str | None) -> StoredFile:
        """Raises HttpError for a file that there is not, or of another owner."""
        stored = self._files.get(id)
        if stored is None or stored.owner != owner:
            raise HttpError(404, f"there is no file {id!r}", code="file_not_found", param="file_id")
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
