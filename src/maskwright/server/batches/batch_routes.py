"""The endpoints of batches."""

from __future__ import annotations

from typing import Final, cast

from starlette.requests import Request
from starlette.responses import JSONResponse

from maskwright.errors import InputError
from maskwright.records.batch_lines import ENDPOINTS
from maskwright.server.batches.batch_store import ENDED, WINDOW, BatchStore, StoredBatch
from maskwright.server.batches.batch_worker import BatchWorker
from maskwright.server.batches.file_store import FileStore
from maskwright.server.batches.pages import page
from maskwright.server.exchange import owner_of
from maskwright.server.request.body import read_object
from maskwright.server.request.fields import Fields, invalid, missing

MOST: Final = 100
DEFAULT: Final = 20
MOST_METADATA: Final = 16
METADATA_NAME: Final = 64
METADATA_TEXT: Final = 512
"""Characters of a name and of a text, and the number of both, that OpenAI allows in `metadata`."""


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
        body = Fields(await read_object(http, self._body_bytes))
        body.only("input_file_id", "endpoint", "completion_window", "metadata")
        owner = owner_of(http.scope)
        for name in ("input_file_id", "endpoint", "completion_window"):
            if not body.has(name):
                raise missing(name)
        endpoint = cast(str, body.choice("endpoint", ENDPOINTS))
        body.choice("completion_window", (WINDOW,))
        file = self._files.get(body.string("input_file_id") or "", owner)
        if file.purpose != "batch":
            raise InputError(f"the file {file.id} is not for a batch", param="input_file_id")
        batch = self._batches.create(endpoint, file.id, owner, _metadata(body))
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


def _metadata(body: Fields) -> dict[str, str] | None:
    given = body.object("metadata")
    if given is None:
        return None
    if len(given.values) > MOST_METADATA:
        raise invalid("metadata", f"an object of at most {MOST_METADATA} members", given.values)
    told: dict[str, str] = {}
    for name, value in given.values.items():
        if len(name) > METADATA_NAME or not isinstance(value, str) or len(value) > METADATA_TEXT:
            raise invalid(given.at(name), f"a string of at most {METADATA_TEXT} characters", value)
        told[name] = value
    return told
