"""The endpoints of files and batches, and what a server opens, starts and stops for them.

A file comes in a form (`multipart/form-data`, RFC 7578). Starlette and python-multipart take it
apart, and write what is large to a temporary file as it comes.
"""

from __future__ import annotations

import asyncio
import fcntl
import shutil
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Final, Literal, cast

from pydantic import WithJsonSchema
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import parse_options_header
from starlette.applications import Starlette
from starlette.datastructures import FormData, Headers, QueryParams, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.types import ASGIApp

from maskwright.engine import EngineConfig
from maskwright.errors import InputError
from maskwright.immutable import Immutable
from maskwright.records.batch_lines import BatchEndpoint, BatchLine
from maskwright.server.batches.batch_worker import AppAnswer, BatchWorker, call_app
from maskwright.server.batches.stores import ENDED, BatchStore, FileStore, StoredBatch, StoredFile
from maskwright.server.config import ServerConfig
from maskwright.server.errors import HttpError
from maskwright.server.exchange import owner_of
from maskwright.server.json import Json
from maskwright.server.request.body import chunks_of, coding_of_body, read_as
from maskwright.server.request.model import ClosedModel, RawObject, invalid
from maskwright.server.route import Handler

FORM_BYTES: Final = 1 << 16
"""Bytes that a form may have beside its file."""
FIELD_BYTES: Final = 1024


class UploadedForm(Immutable):
    """A form with one file. `fields`: the other parts."""

    filename: str
    fields: dict[str, str]


class WholeForm(MultiPartParser):
    """Takes a form apart, and refuses one without an end, for which Starlette doesn't look."""

    def __init__(self, boundary: bytes, stream: AsyncGenerator[bytes]) -> None:
        # Names and fields are UTF-8 (RFC 7578, 5.1), whatever else the client's header says.
        quoted = boundary.replace(b"\\", b"\\\\").replace(b'"', b'\\"')
        kind = b'multipart/form-data; boundary="' + quoted + b'"'
        headers = Headers(raw=[(b"content-type", kind)])
        super().__init__(headers, self._to_end(stream), max_part_size=FORM_BYTES)
        self._is_empty, self._is_whole = True, False

    def on_end(self) -> None:
        self._is_whole = True

    async def _to_end(self, stream: AsyncGenerator[bytes]) -> AsyncGenerator[bytes]:
        async for chunk in stream:
            self._is_empty &= not chunk
            yield chunk
        if not self._is_whole:
            raise MultiPartException("it is empty" if self._is_empty else "it has no end")


async def read_upload(http: Request, into: Path, limit: int) -> UploadedForm:
    """Write the file of a form to `into`. Raises InputError for what is no such form, and HttpError
    for a file of more than `limit` bytes; then the caller removes `into`."""
    kind, parameters = parse_options_header(http.headers.get("content-type"))
    boundary = parameters.get(b"boundary")
    if kind != b"multipart/form-data" or not boundary:
        raise InputError(
            "send the file as a form: 'Content-Type: multipart/form-data' with a boundary",
            code="invalid_content_type",
        )
    coding_of_body(http, offered=())
    too_large = HttpError(413, f"the file is larger than {limit} bytes", code="file_too_large")
    try:
        form = await WholeForm(boundary, chunks_of(http, limit + FORM_BYTES, too_large)).parse()
    except (MultiPartException, FormParserError) as error:
        reason = f"it has no parts between lines of '--{boundary.decode(errors='replace')}'"
        if isinstance(error, MultiPartException) and error.__cause__ is None:
            reason = error.message
        raise InputError(f"the body is no form: {reason}", code="invalid_form") from None
    try:
        return await _taken(form, into)
    finally:
        await form.close()


async def _taken(form: FormData, into: Path) -> UploadedForm:
    """Write the one file of a form to `into`, and return its other fields. No name may come
    twice."""
    names = [name for name, _ in form.multi_items()]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InputError(f"the form has two fields {twice!r}", param=twice, code="invalid_form")
    file = form.get("file")
    if not isinstance(file, UploadFile):
        raise InputError("the form has no file in its field 'file'", param="file")
    fields: dict[str, str] = {}
    for name, value in form.items():
        if isinstance(value, str):
            fields[name] = value
            if len(value.encode()) > FIELD_BYTES:
                raise InputError(f"the field {name!r} is too long", param=name)
        elif name != "file":
            raise InputError(f"the field {name!r} is not supported", param=name)
    with into.open("wb") as out:
        await asyncio.to_thread(shutil.copyfileobj, file.file, out)
    return UploadedForm(file.filename or "", fields)


PURPOSE: Final = "batch"
"""The one purpose for which clients may store files here."""
MOST_FILES: Final = 10_000


class FileRoutes(Immutable):
    """Upload, list, describe, read and delete files. `file_bytes`: upper bound on the bytes of
    one."""

    files: FileStore
    batches: BatchStore
    file_bytes: int

    async def create(self, http: Request) -> JSONResponse:
        into = self.files.new_part()
        try:
            form = await read_upload(http, into, self.file_bytes)
            for name in form.fields:
                if name != "purpose":
                    raise InputError(f"the field {name!r} is not supported", param=name)
            if form.fields.get("purpose") != PURPOSE:
                raise InputError(f"'purpose' is {PURPOSE!r}", param="purpose")
            if into.stat().st_size > self.file_bytes:
                message = f"the file is larger than {self.file_bytes} bytes"
                raise HttpError(413, message, code="file_too_large")
            name = PurePosixPath(form.filename.replace("\\", "/")).name or "file"
            stored = self.files.adopt(
                self.files.new_id(),
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
            for file in self.files.of(owner_of(http.scope))
            if purpose in (None, file.purpose)
        ]
        listed = found if order == "asc" else found[::-1]
        return JSONResponse(page(listed, query, most=MOST_FILES, default=MOST_FILES))

    async def describe(self, http: Request) -> JSONResponse:
        return JSONResponse(self._asked(http).card())

    async def content(self, http: Request) -> Response:
        path = self.files.path(self._asked(http).id)
        return FileResponse(path, media_type="application/octet-stream")

    async def delete(self, http: Request) -> JSONResponse:
        id = self._asked(http).id
        if self.batches.uses(id):
            raise InputError(
                f"a batch that is not finished reads the file {id}; cancel it first",
                param="file_id",
                code="file_in_use",
            )
        self.files.delete(id)
        return JSONResponse({"id": id, "object": "file", "deleted": True})

    def _asked(self, http: Request) -> StoredFile:
        """Return the file of the path. Raises HttpError if the client has none with its id."""
        return self.files.get(http.path_params["id"], owner_of(http.scope))


def page(newest_first: Sequence[Json], query: QueryParams, *, most: int, default: int) -> Json:
    """The part of a list that a query names: up to `limit` objects after the one whose id is
    `after`. Raises InputError."""
    limit = _limit(query.get("limit"), most, default)
    after = query.get("after")
    begin = 0
    if after is not None:
        ids = [item["id"] for item in newest_first]
        if after not in ids:
            raise InputError(
                f"'after' is the id of an object of the list, not {after!r}", param="after"
            )
        begin = ids.index(after) + 1
    part = newest_first[begin : begin + limit]
    return {
        "object": "list",
        "data": list(part),
        "first_id": part[0]["id"] if part else "",
        "last_id": part[-1]["id"] if part else "",
        "has_more": begin + limit < len(newest_first),
    }


def _limit(text: str | None, most: int, default: int) -> int:
    if text is None:
        return default
    if not text.isascii() or not text.isdigit() or not 1 <= int(text[:9]) <= most:
        raise InputError(
            f"'limit' is an integer from 1 to {most}, not {text[:60]!r}", param="limit"
        )
    return int(text)


MOST_BATCHES: Final = 100
DEFAULT_BATCHES: Final = 20
MOST_METADATA: Final = 16
METADATA_NAME: Final = 64
METADATA_TEXT: Final = 512
"""Characters of a name and of a text, and the number of both, that OpenAI allows in `metadata`."""
METADATA: Final[Json] = {
    "type": "object",
    "maxProperties": MOST_METADATA,
    "propertyNames": {"maxLength": METADATA_NAME},
    "additionalProperties": {"type": "string", "maxLength": METADATA_TEXT},
}


class BatchRequest(ClosedModel):
    """A batch to begin."""

    input_file_id: str
    endpoint: BatchEndpoint
    completion_window: Literal["24h"]
    metadata: Annotated[RawObject, WithJsonSchema(METADATA)] | None = None

    def labels(self) -> dict[str, str] | None:
        """Return what the client has to say of the batch, within the bounds."""
        given = self.metadata
        if given is not None and len(given) > MOST_METADATA:
            raise InputError(
                f"metadata must have at most {MOST_METADATA} members, not {len(given)}",
                param="metadata",
            )
        for name, value in (given or {}).items():
            is_short = isinstance(value, str) and len(value) <= METADATA_TEXT
            if len(name) > METADATA_NAME or not is_short:
                wanted = f"a string of at most {METADATA_TEXT} characters"
                raise invalid(f"metadata.{name}", wanted, value)
        return None if given is None else dict(given)


class BatchRoutes(Immutable):
    """Create, list, describe and cancel batches. `body_bytes`: upper bound on the bytes of a
    request body."""

    files: FileStore
    batches: BatchStore
    worker: BatchWorker
    body_bytes: int

    async def create(self, http: Request) -> JSONResponse:
        asked = await read_as(http, self.body_bytes, BatchRequest.read)
        owner = owner_of(http.scope)
        file = self.files.get(asked.input_file_id, owner, "input_file_id")
        if file.purpose != "batch":
            raise InputError(f"the file {file.id} is not for a batch", param="input_file_id")
        batch = self.batches.create(asked.endpoint, file.id, owner, asked.labels())
        self.worker.begin(batch)
        return JSONResponse(batch.card())

    async def list(self, http: Request) -> JSONResponse:
        found = [batch.card() for batch in self.batches.of(owner_of(http.scope))]
        return JSONResponse(
            page(found[::-1], http.query_params, most=MOST_BATCHES, default=DEFAULT_BATCHES)
        )

    async def describe(self, http: Request) -> JSONResponse:
        return JSONResponse(self._asked(http).card())

    async def cancel(self, http: Request) -> JSONResponse:
        batch = self._asked(http)
        if batch.status in ENDED or batch.status == "finalizing":
            raise InputError(
                f"the batch {batch.id} is {batch.status} and can't be cancelled",
                param="batch_id",
                code="batch_ended",
            )
        if batch.status != "cancelling":
            self.worker.cancel(batch)
        return JSONResponse(batch.card())

    def _asked(self, http: Request) -> StoredBatch:
        """Return the batch of the path. Raises HttpError if the client has none with its id."""
        return self.batches.get(http.path_params["id"], owner_of(http.scope))


MOST_AT_A_TIME: Final = 64
"""Requests of batches that are under way at a time, at most."""

SERVICE: Final = "batch"
"""The class of service of requests that name none, if the engine has such a class."""


class Batching:
    """Opens the folder, whose batches go on as soon as the server starts."""

    def __init__(self, folder: Path, config: ServerConfig, engine: EngineConfig) -> None:
        """Raises InputError if the folder can't be used, or another server uses it."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = (folder / "lock").open("w")
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._lock.close()
            raise InputError(f"another server uses {folder}", param="batch_folder") from None
        except OSError as error:
            reason = error.strerror
            if isinstance(error, FileExistsError):
                reason = "it is a file; name a folder, which is made if there is none"
            message = f"can't use {folder}: {reason}"
            raise InputError(message, param="batch_folder") from None
        self._app: ASGIApp | None = None
        self._keys = config.keys
        self._has_class = any(item.name == SERVICE for item in engine.classes)
        stored, batches = FileStore(folder / "files"), BatchStore(folder / "batches")
        self._worker = BatchWorker(
            stored,
            batches,
            self._ask,
            concurrency=min(MOST_AT_A_TIME, engine.max_running),
            line_bytes=config.body_bytes,
        )
        self.files = FileRoutes(stored, batches, config.file_bytes)
        self.batches = BatchRoutes(stored, batches, self._worker, config.body_bytes)

    @asynccontextmanager
    async def lifespan(self, app: Starlette) -> AsyncGenerator[None]:
        """Go on with all batches while the server runs. `app` answers their requests."""
        self._app = app
        self._worker.go_on()
        try:
            yield
        finally:
            await self._worker.stop()
            self._lock.close()

    async def _ask(self, request: BatchLine, owner: str | None) -> AppAnswer:
        assert self._app is not None, "the server has not started"
        body = with_service(request.body) if self._may_use_class(owner) else request.body
        return await call_app(self._app, request.url, body, owner)

    def _may_use_class(self, owner: str | None) -> bool:
        keys = () if self._keys is None else self._keys.keys
        classes = next((key.classes for key in keys if key.name == owner), ())
        return self._has_class and (not classes or SERVICE in classes)


def with_service(body: dict[str, object]) -> dict[str, object]:
    """A request in the class of service of batches, unless it names a class itself."""
    own = body.get("maskwright")
    if own is None:
        return {**body, "maskwright": {"service": SERVICE}}
    if isinstance(own, dict):
        return {**body, "maskwright": {"service": SERVICE, **cast(dict[str, Any], own)}}
    return body


def batch_endpoints(batching: Batching | None) -> list[tuple[str, str, Handler]]:
    """Return what answers each method of each path; without a folder, that says how to get one."""
    files = None if batching is None else batching.files
    batches = None if batching is None else batching.batches
    return [
        ("POST", "/files", files.create if files else _off),
        ("GET", "/files", files.list if files else _off),
        ("GET", "/files/{id}", files.describe if files else _off),
        ("DELETE", "/files/{id}", files.delete if files else _off),
        ("GET", "/files/{id}/content", files.content if files else _off),
        ("POST", "/batches", batches.create if batches else _off),
        ("GET", "/batches", batches.list if batches else _off),
        ("GET", "/batches/{id}", batches.describe if batches else _off),
        ("POST", "/batches/{id}/cancel", batches.cancel if batches else _off),
    ]


async def _off(_: Request) -> Response:
    raise HttpError(
        404,
        "this server keeps no files; 'maskwright serve --batch-folder FOLDER' does",
        code="batches_off",
    )
