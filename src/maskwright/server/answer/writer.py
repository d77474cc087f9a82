"""What an endpoint does with the answers to a request: one body, or a stream of events."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from maskwright.server.answer.choices import Answer, ChoiceDelta, Usage
from maskwright.server.json import Json


class AnswerWriter(Protocol):
    """Writes the answers to one request in the form of one endpoint, either whole or as a stream.
    Events are yielded encoded. A writer writes one stream."""

    def whole(self, answers: list[Answer], usage: Usage) -> Json:
        """Return the body of the answers."""
        ...

    def begin(self) -> Iterator[bytes]:
        """Yield the events before the first delta."""
        ...

    def parts(self, delta: ChoiceDelta) -> Iterator[bytes]:
        """Yield the events of a delta's parts."""
        ...

    def ended(self, delta: ChoiceDelta) -> Iterator[bytes]:
        """Yield the events of the end of a choice, whose last delta is `delta`."""
        ...

    def end(self, usage: Usage) -> Iterator[bytes]:
        """Yield the last events, after the end of all choices."""
        ...

    def failed(self, error: Json) -> Iterator[bytes]:
        """Yield the last events of a stream that fails with the body `error`."""
        ...
