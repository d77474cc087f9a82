"""What a group of replicas asks of each of them, wherever it runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class StartedReplica:
    """A server that is ready: its address without a path, and the process that it is."""

    url: str
    place: str


class Replica(Protocol):
    """A server that can be started again whenever it has ended. Requests, streams and hand-offs
    reach it by HTTP, so that all drivers are used alike once they have started it."""

    async def start(self) -> StartedReplica:
        """Start the server, and return where it is when it is ready. Raises InputError if it can't
        be started."""
        ...

    async def ended(self) -> str:
        """Wait until the server has ended, and return how it did."""
        ...

    async def end(self) -> None:
        """End the server if it runs."""
        ...
