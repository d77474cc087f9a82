"""The endpoints of files."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Final

from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response

from maskwright.errors import InputError
from maskwright.server.batches.batch_store import BatchStore
from maskwright.server.batches.file_store import FileStore, StoredFile
from maskwright.server.batches.pages import page
from maskwright.server.batches.upload import read_upload
from maskwright.server.errors import HttpError
from maskwright.server.exchange import owner_of

PURPOSE: Final = "batch"
"""The one purpose for which clients may store files here."""
MOST: Final = 10_000


class FileRoutes:
    """Upload, list, describe, read and delete files. `file_bytes`: upper bound on the bytes of
    one."""

    def __init__(self, files: FileStore, batches: BatchStore, file_bytes: int) -> None:
        self._files = files
        self._batches = batches
        self._file_bytes = file_bytes

    async def create(self, http: Request) -> JSONResponse:
        into = self._files.new_part()
        try:
            form = await read_upload(http, into, self._file_bytes)
            for name in form.fields:
                if name != "purpose":
                    raise InputError(f"the field {name!r} is not supported", param=name)
            if form.fields.get("purpose") != PURPOSE:
                raise InputError(f"'purpose' is {PURPOSE!r}", param="purpose")
            if into.stat().st_size > self._file_bytes:
                message = f"the file is larger than {self._file_bytes} bytes"
                raise HttpError(413, message, code="file_too_large")
            name = PurePosixPath(form.filename.replace("\\", "/")).name or "file"
            stored = self._files.adopt(
                self._files.new_id(),
                into,
                filename=name,
                purpose=PURPOSE,
                owner=owner_of(http.scope),
            )
        finally:
            into.unlink(missing_ok=True)
        return JSONResponse(stored.card())

    async def list(self, http: Request) -> JSONResponse:
        query = http.query_params
        purpose, order = query.get("purpose"), query.get("order", "desc")
        if order not in ("asc", "desc"):
            raise InputError("'order' is asc or desc", param="order")
        found = [
            file.card()
            for file in self._files.of(owner_of(http.scope))
            if purpose in (None, file.purpose)
        ]
        listed = found if order == "asc" else found[::-1]
        return JSONResponse(page(listed, query, most=MOST, default=MOST))

    async def describe(self, http: Request) -> JSONResponse:
        return JSONResponse(self._asked(http).card())

    async def content(self, http: Request) -> Response:
        path = self._files.path(self._asked(http).id)
        return FileResponse(path, media_type="application/octet-stream")

    async def delete(self, http: Request) -> JSONResponse:
        id = self._asked(http).id
        if self._batches.uses(id):
            raise InputError(
                f"a batch that is not finished reads the file {id}; cancel it first",
                param="file_id",
                code="file_in_use",
            )
        self._files.delete(id)
        return JSONResponse({"id": id, "object": "file", "deleted": True})

    def _asked(self, http: Request) -> StoredFile:
        """Return the file of the path. Raises HttpError if the client has none with its id."""
        return self._files.get(http.path_params["id"], owner_of(http.scope))
