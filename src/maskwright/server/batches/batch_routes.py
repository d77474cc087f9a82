"""The endpoints of batches."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import WithJsonSchema
from starlette.requests import Request
from starlette.responses import JSONResponse

from maskwright.errors import InputError
from maskwright.records.batch_lines import BatchEndpoint
from maskwright.server.batches.batch_worker import BatchWorker
from maskwright.server.batches.pages import page
from maskwright.server.batches.stores import ENDED, BatchStore, FileStore, StoredBatch
from maskwright.server.exchange import owner_of
from maskwright.server.json import Json
from maskwright.server.request.body import read_as
from maskwright.server.request.model import ClosedModel, RawObject, invalid

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
            raise invalid("metadata", f"an object of at most {MOST_METADATA} members", given)
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
        file = self._files.get(asked.input_file_id, owner)
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
