"""The endpoints of batches, and what a server opens, starts and stops for files and batches."""

from __future__ import annotations

import fcntl
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any, Final, Literal, cast

from pydantic import WithJsonSchema
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp

from maskwright.engine import EngineConfig
from maskwright.errors import InputError
from maskwright.records.batch_lines import BatchEndpoint, BatchLine
from maskwright.server.batches.batch_worker import AppAnswer, BatchWorker, call_app
from maskwright.server.batches.file_routes import FileRoutes, page
from maskwright.server.batches.stores import ENDED, BatchStore, FileStore, StoredBatch
from maskwright.server.config import ServerConfig
from maskwright.server.errors import HttpError
from maskwright.server.exchange import owner_of
from maskwright.server.json import Json
from maskwright.server.request.body import read_as
from maskwright.server.request.model import ClosedModel, RawObject, invalid
from maskwright.server.route import Endpoint

MOST: Final = 100
DEFAULT: Final = 20
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


class BatchRoutes:
    """Create, list, describe and cancel batches. `body_bytes`: upper bound on the bytes of a
    request body."""

    def __init__(
        self, files: FileStore, batches: BatchStore, worker: BatchWorker, body_bytes: int
    ) -> None:
        self._files = files
        self._batches = batches
        self._worker = worker
        self._body_bytes = body_bytes

    async def create(self, http: Request) -> JSONResponse:
        asked = await read_as(http, self._body_bytes, BatchRequest.read)
        owner = owner_of(http.scope)
        file = self._files.get(asked.input_file_id, owner, "input_file_id")
        if file.purpose != "batch":
            raise InputError(f"the file {file.id} is not for a batch", param="input_file_id")
        batch = self._batches.create(asked.endpoint, file.id, owner, asked.labels())
        self._worker.begin(batch)
        return JSONResponse(batch.card())

    async def list(self, http: Request) -> JSONResponse:
        found = [batch.card() for batch in self._batches.of(owner_of(http.scope))]
        return JSONResponse(page(found[::-1], http.query_params, most=MOST, default=DEFAULT))

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
            self._worker.cancel(batch)
        return JSONResponse(batch.card())

    def _asked(self, http: Request) -> StoredBatch:
        """Return the batch of the path. Raises HttpError if the client has none with its id."""
        return self._batches.get(http.path_params["id"], owner_of(http.scope))


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


def batch_endpoints(prefix: str, batching: Batching | None) -> list[Endpoint]:
    """Return the endpoints of files and batches; without a folder, they say how to get one."""
    files = None if batching is None else batching.files
    batches = None if batching is None else batching.batches
    return [
        Endpoint(f"{prefix}{path}", handler or _off, [method])
        for method, path, handler in (
            ("POST", "/files", files and files.create),
            ("GET", "/files", files and files.list),
            ("GET", "/files/{id}", files and files.describe),
            ("DELETE", "/files/{id}", files and files.delete),
            ("GET", "/files/{id}/content", files and files.content),
            ("POST", "/batches", batches and batches.create),
            ("GET", "/batches", batches and batches.list),
            ("GET", "/batches/{id}", batches and batches.describe),
            ("POST", "/batches/{id}/cancel", batches and batches.cancel),
        )
    ]


async def _off(_: Request) -> Response:
    raise HttpError(
        404,
        "this server keeps no files; 'maskwright serve --batch-folder FOLDER' does",
        code="batches_off",
    )
