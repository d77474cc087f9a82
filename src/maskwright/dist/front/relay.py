"""A stream passed through, and what another worker needs to go on with it."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any, Final, cast

from maskwright.dist.front.asked import Asked

RELAY: Final = "x-maskwright-relay"
"""The header with which a router asks a worker for records."""

RECORD: Final = b": maskwright "
"""The beginning of the comment of a stream that contains a record."""

END: Final = b"\n\n"

LEAST_TIMEOUT: Final = 1e-3
"""Seconds that another worker is given for a request whose time is over."""


class StreamRelay:
    """One stream on its way from a worker, or from several in turn, to a client. Clients get whole
    events: what a lost worker had sent of its last one is dropped."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self._rest = b""
        self._records: list[bytes] = []
        """Records that have not been read: they are, if the worker is lost."""
        self._head: dict[str, Any] | None = None
        self._deltas: list[object] = []
        self._events = 0
        self._clean_at = 0
        """Events when the present worker began."""
        self._began = time.monotonic()

    @property
    def can_go_on(self) -> bool:
        """Whether another worker can continue: the first one has sent the names and seeds, or the
        client has no event yet, so that another one may begin."""
        self._read_records()
        return self._head is not None or not self._events

    @property
    def advanced(self) -> bool:
        """Whether the present worker has sent an event."""
        return self._events > self._clean_at

    def begin(self, record: dict[str, Any]) -> None:
        """Take the record of a worker that has begun the answer, without events: what its names and
        seeds are, and its first deltas."""
        head = dict(record)
        self._deltas = list(head.pop("deltas"))
        self._head = head

    def read(self, chunk: bytes) -> bytes:
        """Take a piece of the stream, and return what the client gets of it."""
        *pieces, self._rest = (self._rest + chunk).split(END)
        passed: list[bytes] = []
        for piece in pieces:
            if piece.startswith(RECORD):
                self._records.append(piece)
                continue
            self._events += not piece.startswith(b":")
            passed.append(piece + END)
        return b"".join(passed)

    def rest(self) -> bytes:
        """Return what came after the last whole event, at the end of a stream that has ended
        properly."""
        rest, self._rest = self._rest, b""
        return rest

    def continued(self) -> bytes:
        """Return the body of the request for another worker. Only if it `can_go_on`."""
        self._read_records()
        self._rest, self._clean_at = b"", self._events
        own = self._asked.tree.get("maskwright")
        options = dict(cast(Mapping[str, object], own)) if isinstance(own, dict) else {}
        timeout = options.get("timeout")
        if isinstance(timeout, int | float):
            left = timeout - (time.monotonic() - self._began)
            options["timeout"] = max(left, LEAST_TIMEOUT)
        if self._head is not None:
            sent = {"deltas": self._deltas, "events": self._events}
            options["continuation"] = {**self._head, **sent}
        body = {**self._asked.tree, "maskwright": options} if options else self._asked.tree
        return json.dumps(body, separators=(",", ":")).encode()

    def _read_records(self) -> None:
        for piece in self._records:
            record = json.loads(piece.removeprefix(RECORD))
            if "delta" in record:
                self._deltas.append(record["delta"])
            else:
                self._head = record
        self._records.clear()
